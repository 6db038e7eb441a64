// SPDX-License-Identifier: MIT
// Exponential smoothing: a level that follows the values, with or without a trend that may fade, and its forecasts.
//
// How it works: the parameters with the least squared one-step errors maximise the likelihood of the models ETS(A,N,N), (A,A,N) and
// (A,Ad,N) (Hyndman et al. 2008), and the forecasts have those models' variances. The uncertainty of the estimates is added (from the
// derivatives of the errors), and Student's t replaces the normal distribution, because short series tell little.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/forecast.hpp>
#include <sb/stats/smoothing_search.hpp>
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

namespace sb::stats {

enum class smoothing_model : std::uint8_t {
    level, ///< simple exponential smoothing, ETS(A,N,N)
    trend, ///< Holt's, ETS(A,A,N)
    damped_trend ///< ETS(A,Ad,N)
};

inline char const* name_of(smoothing_model model) noexcept {
    switch (model) {
    case smoothing_model::level: return "level";
    case smoothing_model::trend: return "trend";
    case smoothing_model::damped_trend: return "damped trend";
    }
    return "";
}

/// Parameters may be given; the others are estimated, φ between 0.8 and 0.995.
struct smoothing_request {
    smoothing_model model = smoothing_model::level;
    std::optional<double> alpha{}; ///< 0 … 1, what of an error the level takes over
    std::optional<double> beta{}; ///< 0 … alpha, what of an error the trend takes over; other programs give beta / alpha
    std::optional<double> phi{}; ///< above 0, at most 1: what of a trend is left a step later
};

struct smoothing_answer {
    no_answer why = no_answer::none;
    smoothing_model model = smoothing_model::level;
    double alpha = 0, beta = 0, phi = 1; ///< without a trend beta is 0; undamped phi is 1
    double first_level = 0, first_trend = 0; ///< before the first value
    double level = 0, trend = 0; ///< after the last
    double sse = 0; ///< squared one-step errors; may overflow or vanish where sigma does not
    double sigma = 0; ///< of a one-step error: sse by degrees of freedom
    double log_likelihood = 0;
    double aicc = 0; ///< counts the variance too; infinite when there are too few values for it
    std::size_t n = 0;
    double freedom = 0; ///< of sigma: values less what was estimated of them
    std::array<double, 9> unsure{}; ///< by estimation, of level, trend, and phi times trend: their covariance over sigma squared
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

inline smoothing_answer no_smoothing(no_answer why, smoothing_model model, std::size_t n) noexcept {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    smoothing_answer answer;
    answer.why = why, answer.model = model, answer.n = n;
    answer.alpha = answer.beta = answer.phi = answer.first_level = answer.first_trend = answer.level = answer.trend = nan;
    answer.sse = answer.sigma = answer.log_likelihood = answer.aicc = nan;
    return answer;
}
inline bool is_bad(smoothing_request const& asked) noexcept {
    bool const trended = asked.model != smoothing_model::level, damped = asked.model == smoothing_model::damped_trend;
    if ((asked.beta && !trended) || (asked.phi && !damped)) return true;
    if (asked.alpha && !(*asked.alpha >= 0 && *asked.alpha <= 1)) return true;
    if (asked.beta && !(*asked.beta >= 0 && *asked.beta <= asked.alpha.value_or(1))) return true;
    return asked.phi && !(*asked.phi > 0 && *asked.phi <= 1);
}

} // namespace detail

/// Constant values, and values that a model follows without error, have no answer: there is no error to measure the next one by.
inline smoothing_answer smooth(std::span<double const> values, smoothing_request const& asked, smoothing_room& room) {
    constexpr double eps = std::numeric_limits<double>::epsilon();
    auto const n = values.size();
    auto const none = [&](no_answer why) { return detail::no_smoothing(why, asked.model, n); };
    if (detail::is_bad(asked)) return none(no_answer::bad_request);
    if (n == 0) return none(no_answer::too_short);
    double least = values[0], most = least;
    for (double const x : values) {
        if (!std::isfinite(x)) return none(no_answer::not_finite);
        least = std::min(least, x), most = std::max(most, x);
    }
    if (least == most) return none(no_answer::constant);
    if (!std::isfinite(most - least)) return none(no_answer::not_finite);

    bool const trended = asked.model != smoothing_model::level, damped = asked.model == smoothing_model::damped_trend;
    detail::smoothing_filter::parameters low{}, high{1, 0, 0};
    if (trended) high[1] = 1, low[2] = high[2] = 1;
    if (damped) low[2] = 0.8, high[2] = 0.995;
    if (asked.alpha == 0.0) high[1] = 0; // no error moves anything
    if (asked.beta) low[1] = high[1] = low[0] = *asked.beta;
    if (asked.alpha) low[0] = high[0] = *asked.alpha;
    if (asked.phi) low[2] = high[2] = *asked.phi;
    std::size_t const starts = trended ? 2 : 1;
    std::size_t estimated = starts;
    for (std::size_t i = 0; i < 3; ++i) estimated += low[i] < high[i];
    if (n < estimated) return none(no_answer::too_short);
    if (n == estimated) return none(no_answer::no_freedom);

    int scale = 0; // a power of two, which costs no digit
    (void)std::frexp(most - least, &scale);
    double const middle = values[n / 2];
    room.values.resize(n);
    for (std::size_t i = 0; i < n; ++i) room.values[i] = std::ldexp(values[i] - middle, -scale);
    detail::smoothing_filter filter{room, starts, asked.beta.has_value()};
    detail::smoothing_search search{filter, low, high};
    auto const at = search.run();
    (void)filter.sum_of_squares(at); // for its start
    auto const inside = search.inside(at);
    double const sum = filter.run(at, inside), count = static_cast<double>(n);
    double const rounding = eps * (count + 4 * std::ldexp(std::max(std::abs(least), std::abs(most)), -scale)); // of the filter, of the values
    if (sum <= rounding * rounding * count) return none(no_answer::perfect_fit);

    smoothing_answer answer;
    answer.model = asked.model, answer.n = n;
    answer.alpha = at[0], answer.beta = filter.beta(at);
    if (damped) answer.phi = at[2];
    answer.first_level = std::ldexp(filter.first_level(), scale) + middle, answer.first_trend = std::ldexp(filter.first_trend(), scale);
    answer.level = std::ldexp(filter.level(), scale) + middle, answer.trend = std::ldexp(filter.trend(), scale);
    answer.freedom = count - static_cast<double>(estimated);
    answer.sse = std::ldexp(sum, 2 * scale), answer.sigma = std::ldexp(std::sqrt(sum / answer.freedom), scale);
    answer.log_likelihood = -count / 2 * (std::log(2 * std::numbers::pi * sum / count) + 1 + 2 * scale * std::numbers::ln2);
    double const terms = static_cast<double>(estimated) + 1;
    answer.aicc = count > terms + 1 ? 2 * terms - 2 * answer.log_likelihood + 2 * terms * (terms + 1) / (count - terms - 1) : std::numeric_limits<double>::infinity();
    answer.unsure = filter.unsure(inside);
    for (double& e : room.errors) e = std::ldexp(e, scale);
    return answer;
}
inline smoothing_answer smooth(std::span<double const> values, smoothing_request const& asked = {}) {
    smoothing_room room;
    return smooth(values, asked, room);
}

/// The one of the three models with the least AICc; room.errors are that one's. With fewer than five values there is none, and
/// the answer is the first that has one. Values that any of them follows without error have no answer.
inline smoothing_answer smooth_best(std::span<double const> values, smoothing_room& room) {
    auto best = smooth(values, {}, room);
    std::swap(room.errors, room.best_errors);
    for (auto const model : {smoothing_model::trend, smoothing_model::damped_trend}) {
        auto const next = smooth(values, {model, {}, {}, {}}, room);
        if (next.why == no_answer::perfect_fit) return next;
        if (!next || !(next.aicc < best.aicc)) continue;
        best = next;
        std::swap(room.errors, room.best_errors);
    }
    std::swap(room.errors, room.best_errors);
    return best;
}
inline smoothing_answer smooth_best(std::span<double const> values) {
    smoothing_room room;
    return smooth_best(values, room);
}

/// Whether the parameters count as known, as in the models' formulas, or as estimated from few values.
enum class parameters_are : std::uint8_t { estimated, known };

/// Forecasts as many steps ahead as `to` has room for, with intervals by Student's t; NaN if the fit has no answer.
inline void forecast(smoothing_answer const& by, std::span<forecast_point> to, double confidence = 0.95, parameters_are parameters = parameters_are::estimated) noexcept {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (!by || !(confidence > 0 && confidence < 1)) return std::fill(to.begin(), to.end(), forecast_point{nan, nan, nan, nan});
    double const t = student_t_quantile((1 - confidence) / 2, by.freedom);
    double steps = 0, changes = 0, power = 1; // φ + … + φ^h, its derivative, and φ^(h - 1)
    double squares = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
        double const own = by.alpha + by.beta * steps; // what an error so many steps before the last foretold moves that by
        squares += i == 0 ? 1 : own * own;
        changes += static_cast<double>(i + 1) * power, power *= by.phi, steps += power;
        double const of[3] = {1, steps, changes};
        double unsure = 0;
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = 0; b < 3; ++b) unsure += of[a] * by.unsure[3 * a + b] * of[b];
        if (parameters == parameters_are::known) unsure = 0;
        double const mean = by.level + steps * by.trend, error = by.sigma * std::sqrt(squares + unsure);
        to[i] = {mean, error, mean - t * error, mean + t * error};
    }
}

} // namespace sb::stats
