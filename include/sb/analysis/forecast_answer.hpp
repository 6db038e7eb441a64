// SPDX-License-Identifier: MIT
// The next values of a series as a record, with the score of such forecasts on the end of the series itself.
#pragma once
#include <sb/analysis/test_answer.hpp>
#include <sb/analysis/test_question.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/stats/answer.hpp>
#include <sb/stats/arima_choice.hpp>
#include <sb/stats/forecast.hpp>
#include <sb/stats/rolling_origin.hpp>
#include <sb/stats/smoothing.hpp>
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sb::analysis {

namespace detail {

inline constexpr std::size_t fewest_for_arima = 20; ///< below, a smoothed level or trend has less to go wrong
/// How many values at the end are forecast again, each from those before it. Fewer in a long series, where each takes long.
inline std::size_t most_judged(std::size_t n) noexcept { return n <= 1000 ? 30 : std::max<std::size_t>(30'000 / n, 1); }

class forecaster {
public:
    explicit forecaster(std::string_view model) : asked_{model} {}

    /// Fits the model asked for and writes its forecasts to `to`.
    stats::no_answer operator()(std::span<double const> values, std::span<stats::forecast_point> to, double confidence) {
        if (asked_ == "arima" || (asked_ == "auto" && values.size() >= fewest_for_arima)) {
            auto const chosen = stats::choose_arima(values, {}, arima_);
            if (!chosen.best) return chosen.best.why;
            auto const& order = chosen.best.order;
            model_ = cat("arima(", order.p, ",", order.d, ",", order.q, ")", order.d > 0 && chosen.best.has_constant ? " with drift" : ""), aicc_ = chosen.best.aicc;
            return stats::forecast(chosen, to, confidence);
        }
        auto const smoothed = stats::smooth_best(values, smoothing_);
        if (!smoothed) return smoothed.why;
        model_ = cat("smoothed ", stats::name_of(smoothed.model)), aicc_ = smoothed.aicc;
        stats::forecast(smoothed, to, confidence);
        return stats::no_answer::none;
    }
    std::string const& model() const noexcept { return model_; }
    double aicc() const noexcept { return aicc_; }

private:
    std::string asked_, model_;
    double aicc_ = 0;
    stats::arima_choice_room arima_;
    stats::smoothing_room smoothing_;
};

} // namespace detail

inline test_record forecast_of(std::vector<double> const& values, test_question const& asked) {
    auto r = begun("forecast", values.size());
    detail::forecaster with{asked.model};
    std::vector<stats::forecast_point> next(static_cast<std::size_t>(asked.steps));
    if (auto const why = with(values, next, asked.confidence); why != stats::no_answer::none) {
        r.reason = stats::name_of(why);
        return r;
    }
    r.statistic = next.front().mean;
    r.besides["model"] = with.model(), r.besides["aicc"] = finite_or_null(with.aicc()), r.besides["confidence"] = asked.confidence;
    array steps;
    for (auto const& each : next) steps.push_back(object{{"mean", finite_or_null(each.mean)}, {"lo", finite_or_null(each.lo)}, {"hi", finite_or_null(each.hi)}});
    r.besides["steps"] = std::move(steps);
    // the score of one step ahead at the end of the series; each forecast knows only the values before it
    stats::origin_request past;
    past.first = std::max<std::size_t>(values.size() / 2, values.size() - std::min(values.size(), detail::most_judged(values.size())));
    past.first = std::max<std::size_t>(past.first, 2);
    auto const score = stats::rolling_origin(values, past, [&](std::span<double const> before, std::span<double> to) {
        stats::forecast_point one[1];
        if (with(before, one, asked.confidence) != stats::no_answer::none) return false;
        to[0] = one[0].mean;
        return true;
    });
    auto const* const ahead = score && !score.horizons.empty() ? &score.horizons.front() : nullptr;
    auto const known = [&](double x) { return ahead && ahead->n > 0 ? finite_or_null(x) : value(); };
    r.besides["judged"] = static_cast<std::int64_t>(ahead ? ahead->n : 0);
    r.besides["mae"] = known(ahead ? ahead->mae : 0), r.besides["skill"] = known(ahead ? ahead->skill : 0), r.besides["mase"] = known(ahead ? ahead->mase : 0);
    return r;
}

} // namespace sb::analysis
