// SPDX-License-Identifier: MIT
// How good is a forecasting method? It is asked again and again along a series, sees only the past each time, and is compared with
// what came. Here are also the plain methods that any other has to beat.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/moments.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

// ---- forecasters take the past and room for the steps ahead; they return false when they have no forecast

/// The last value stays (persistence).
inline bool forecast_naive(std::span<double const> past, std::span<double> next) noexcept {
    if (past.empty()) return false;
    std::fill(next.begin(), next.end(), past.back());
    return true;
}
/// The line through the first value and the last goes on.
inline bool forecast_drift(std::span<double const> past, std::span<double> next) noexcept {
    if (past.size() < 2) return false;
    double const step = (past.back() - past.front()) / static_cast<double>(past.size() - 1);
    for (std::size_t h = 0; h < next.size(); ++h) next[h] = past.back() + static_cast<double>(h + 1) * step;
    return true;
}
/// The mean of all.
inline bool forecast_mean(std::span<double const> past, std::span<double> next) noexcept {
    if (past.empty()) return false;
    std::fill(next.begin(), next.end(), *moments::of(past).mean());
    return true;
}

// ---- the evaluation

struct origin_request {
    std::size_t horizon = 1; ///< steps ahead, at least 1
    std::size_t first = 2; ///< values before the first forecast, at least 2
    std::size_t step = 1; ///< values from one forecast to the next, at least 1
    std::size_t window = 0; ///< the forecaster sees no more than the last so many; 0: all the past
};

/// The score of the forecasts of one number of steps ahead.
struct horizon_score {
    std::size_t n = 0; ///< forecasts whose value has come
    std::size_t missing = 0; ///< other times, when the forecaster had no forecast, or none that is finite
    double mae = 0, rmse = 0; ///< NaN where n is 0, as what follows
    double bias = 0; ///< mean error, value less forecast: above 0 when forecasts are too low
    double naive_mae = 0; ///< of persistence at the same times
    no_answer skill_why = no_answer::none; ///< constant: the values did not move
    double skill = 0; ///< 0 … 1, max(0, 1 - mae / naive_mae); NaN without an answer
    no_answer mase_why = no_answer::none; ///< constant: at some time the past had not moved at all
    double mase = 0; ///< mean of the absolute errors, each over the one-step error of persistence within its past; NaN without an answer
};

struct origin_answer {
    no_answer why = no_answer::none;
    std::vector<horizon_score> horizons; ///< 1 step ahead first
    std::size_t origins = 0; ///< times at which a forecast was asked for
    std::vector<double> errors; ///< value less forecast: of each time in turn all horizons; NaN where either is missing
    explicit operator bool() const noexcept { return why == no_answer::none; }

    /// The known errors of one number of steps ahead (1 is the first), in the order of time. conformal.hpp makes intervals from them.
    std::vector<double> errors_at(std::size_t ahead) const {
        std::vector<double> some;
        if (ahead == 0 || ahead > horizons.size()) return some;
        for (std::size_t i = ahead - 1; i < errors.size(); i += horizons.size())
            if (!std::isnan(errors[i])) some.push_back(errors[i]);
        return some;
    }
};

namespace detail {

inline horizon_score score(std::span<double const> errors, std::span<double const> naive, std::span<double const> scales) noexcept {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    horizon_score score;
    double largest = 0;
    for (std::size_t i = 0; i < errors.size(); ++i)
        if (!std::isnan(errors[i])) ++score.n, largest = std::max({largest, std::abs(errors[i]), naive[i]});
        else score.missing += !std::isnan(naive[i]);
    if (score.n == 0) {
        score.mae = score.rmse = score.bias = score.naive_mae = score.skill = score.mase = nan;
        score.skill_why = score.mase_why = no_answer::too_short;
        return score;
    }
    int unit = 0; // a power of two, so that sums of squares neither vanish nor overflow
    (void)std::frexp(largest, &unit);
    double sizes = 0, squares = 0, sum = 0, naive_sizes = 0, ratios = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (std::isnan(errors[i])) continue;
        double const e = std::ldexp(errors[i], -unit);
        sizes += std::abs(e), squares += e * e, sum += e, naive_sizes += std::ldexp(naive[i], -unit);
        if (scales[i] > 0) ratios += std::abs(errors[i]) / scales[i];
        else score.mase_why = no_answer::constant;
    }
    auto const n = static_cast<double>(score.n);
    score.mae = std::ldexp(sizes / n, unit), score.rmse = std::ldexp(std::sqrt(squares / n), unit), score.bias = std::ldexp(sum / n, unit);
    score.naive_mae = std::ldexp(naive_sizes / n, unit);
    if (naive_sizes > 0) score.skill = std::max(0.0, 1 - sizes / naive_sizes);
    else score.skill = nan, score.skill_why = no_answer::constant;
    if (score.mase_why == no_answer::none && !std::isfinite(ratios)) score.mase_why = no_answer::not_finite;
    score.mase = score.mase_why == no_answer::none ? ratios / n : nan;
    return score;
}

} // namespace detail

/// `forecaster(past, next)`: fills `next` from `past` alone, and returns false when it has no forecast. It is never given a later
/// value, and each error is of a forecast made before its value.
template <class Forecaster>
origin_answer rolling_origin(std::span<double const> values, origin_request const& asked, Forecaster&& forecaster) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    origin_answer answer;
    auto const none = [&](no_answer why) { return answer.why = why, answer; };
    auto const n = values.size(), ahead = asked.horizon;
    if (ahead == 0 || asked.first < 2 || asked.step == 0) return none(no_answer::bad_request);
    if (!all_finite(values)) return none(no_answer::not_finite);
    if (n <= asked.first) return none(no_answer::too_short);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    if (!std::isfinite(*most - *least)) return none(no_answer::not_finite);

    answer.origins = (n - asked.first - 1) / asked.step + 1;
    answer.errors.assign(answer.origins * ahead, nan);
    std::vector<double> naive(answer.errors.size(), nan), scales(answer.origins), next(ahead), past;
    past.reserve(n);
    double scale = 0; // mean size of the changes so far: of all the past, whatever the forecaster sees of it
    std::size_t seen = 1;
    for (std::size_t origin = 0; origin < answer.origins; ++origin) {
        auto const now = asked.first + origin * asked.step; // values that are past
        for (; seen < now; ++seen) scale += (std::abs(values[seen] - values[seen - 1]) - scale) / static_cast<double>(seen);
        scales[origin] = scale;
        // a copy: no later value lies behind it
        if (asked.window == 0) past.insert(past.end(), values.begin() + static_cast<std::ptrdiff_t>(past.size()), values.begin() + static_cast<std::ptrdiff_t>(now));
        else past.assign(values.begin() + static_cast<std::ptrdiff_t>(now - std::min(asked.window, now)), values.begin() + static_cast<std::ptrdiff_t>(now));
        std::fill(next.begin(), next.end(), nan);
        bool const told = forecaster(std::span<double const>{past}, std::span<double>{next});
        for (std::size_t h = 0; h < ahead && now + h < n; ++h) {
            naive[origin * ahead + h] = std::abs(values[now + h] - values[now - 1]);
            double const e = values[now + h] - next[h];
            if (told && std::isfinite(e)) answer.errors[origin * ahead + h] = e;
        }
    }
    std::vector<double> own(answer.origins), of_naive(answer.origins);
    for (std::size_t h = 0; h < ahead; ++h) {
        for (std::size_t i = 0; i < answer.origins; ++i) own[i] = answer.errors[i * ahead + h], of_naive[i] = naive[i * ahead + h];
        answer.horizons.push_back(detail::score(own, of_naive, scales));
    }
    return answer;
}

} // namespace sb::stats
