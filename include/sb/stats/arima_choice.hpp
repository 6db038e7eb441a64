// SPDX-License-Identifier: MIT
// Which ARIMA order a series is given: differences by tests, terms by the corrected criterion of Akaike.
//
// How it works: a series is differenced while KPSS says that it does not keep its level and Dickey and Fuller do not say that it
// comes back to one; where one of the two has no answer, the other decides. All models compared then have the same d, for with
// another they would be of other data.
//
// A model chosen among many fits its own past better than what comes. A forecast from a choice
// therefore takes the innovations to be as large as the prediction error of Akaike (1969) says of the largest model that was in
// the running, and Student's t with what freedom that one leaves.
#pragma once
#include <sb/stats/adf.hpp>
#include <sb/stats/arima.hpp>
#include <sb/stats/kpss.hpp>
#include <sb/stats/least_squares.hpp>
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace sb::stats {

struct arma_terms {
    std::size_t p = 0, q = 0;
};

struct arima_choice_request {
    std::span<arma_terms const> candidates{}; ///< none: all up to two of each; with one difference by_order also each with a slope
    int d = -1; ///< differences; -1: by the tests, at most 2
    double level = 0.05; ///< of the tests
    arima_constant constant = arima_constant::by_order;
    std::span<std::span<double const> const> regressors{}; ///< the tests are of what these leave
    arma_effort effort{};
};

struct arima_choice {
    arima_answer best; ///< its `why` where there is none: the first candidate's
    std::size_t d = 0, tried = 0, answered = 0; ///< differences, models, and those with an answer
    std::size_t most_coefficients = 0; ///< of one that might have been chosen: its criterion is within ten of the least (Burnham and Anderson 2002)
    explicit operator bool() const noexcept { return static_cast<bool>(best); }
};

struct arima_choice_room {
    arima_room fit;
    adf_room dickey_fuller;
    std::vector<double> series, room;
};

/// How often these are differenced, at most twice.
inline std::size_t differences_needed(std::span<double const> values, double level, arima_choice_room& room) {
    auto& x = room.series;
    x.assign(values.begin(), values.end());
    for (std::size_t d = 0; d < 2; ++d) {
        auto const stays = kpss(x, {trend::constant, long_run_lags::automatic, 0}, room.room);
        auto const returns = adf(x, {trend::constant, lag_choice::aic, -1}, room.dickey_fuller);
        if (!stays && !returns) return d;
        if (stays && stays.p > level) return d;
        if (returns && returns.p <= level) return d;
        for (std::size_t t = 0; t + 1 < x.size(); ++t) x[t] = x[t + 1] - x[t];
        x.pop_back();
    }
    return 2;
}

/// The likeliest model of the order that is chosen.
inline arima_choice choose_arima(std::span<double const> values, arima_choice_request const& asked, arima_choice_room& room) {
    static constexpr arma_terms small[]{{0, 0}, {0, 1}, {1, 0}, {0, 2}, {1, 1}, {2, 0}, {1, 2}, {2, 1}, {2, 2}};
    std::span<arma_terms const> const candidates = asked.candidates.empty() ? std::span<arma_terms const>{small} : asked.candidates;
    arima_choice choice;
    choice.best.n = values.size();
    if (asked.d > 2 || !(asked.level > 0 && asked.level < 1)) return choice.best.why = no_answer::bad_request, choice;
    if (asked.d >= 0) choice.d = static_cast<std::size_t>(asked.d);
    else if (asked.regressors.empty()) choice.d = differences_needed(values, asked.level, room);
    else if (auto const left = least_squares(asked.regressors, values); left) choice.d = differences_needed(left.residuals, asked.level, room);
    arima_request one;
    one.regressors = asked.regressors, one.effort = asked.effort;
    struct rival {
        double aicc;
        std::size_t coefficients;
    };
    std::vector<rival> rivals;
    auto const consider = [&](arima_constant constant) {
        one.constant = constant;
        for (auto const& each : candidates) {
            one.order = {each.p, choice.d, each.q};
            auto model = arima(values, one, room.fit);
            if (++choice.tried; model) ++choice.answered, rivals.push_back({model.aicc, model.parameters - 1}); // but for the deviation
            bool const first = choice.tried == 1, better = model && (!choice.best || model.aicc < choice.best.aicc - 1e-7); // a tie is the earlier one's
            if (first || better) choice.best = std::move(model);
        }
    };
    consider(asked.constant);
    if (asked.constant == arima_constant::by_order && asked.candidates.empty() && choice.d == 1) consider(arima_constant::with);
    for (auto const& each : rivals)
        if (each.aicc <= choice.best.aicc + 10) choice.most_coefficients = std::max(choice.most_coefficients, each.coefficients);
    return choice;
}
inline arima_choice choose_arima(std::span<double const> values, arima_choice_request const& asked = {}) {
    arima_choice_room room;
    return choose_arima(values, asked, room);
}

/// As of the model that was chosen (arima.hpp), with errors and intervals that allow for the choice and for what was estimated:
/// of 20 values of noise, of a regression or of a walk 94 to 97 % of the next ones lie within 95 %, and not 84 to 88; far steps of a walk
/// less often, for that it is one is shown by many values only. docs/explanation/convergence.md has more.
inline no_answer forecast(arima_choice const& chosen, std::span<forecast_point> to, double confidence = 0.95, std::span<std::span<double const> const> regressors = {}) noexcept {
    if (auto const why = forecast(chosen.best, to, confidence, regressors); why != no_answer::none) return why;
    auto const n = static_cast<double>(chosen.best.used), k = static_cast<double>(chosen.most_coefficients), freedom = n - k; // at least 3: see arima()
    double const wider = std::sqrt((n + k) / freedom), t = student_t_quantile((1 - confidence) / 2, freedom);
    for (auto& each : to) {
        each.error *= wider;
        each.lo = each.mean - t * each.error, each.hi = each.mean + t * each.error;
    }
    return no_answer::none;
}

} // namespace sb::stats
