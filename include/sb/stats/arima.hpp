// SPDX-License-Identifier: MIT
// Autoregression, integration, moving average, with regressors: fitted by the exact likelihood, and what is to come.
//
// How it works: series and regressors are differenced d times and brought to size 1 by a power of two; regressors, the constant
// among them, are made orthogonal first. Coefficients and the innovations' variance follow from the two polynomials, so only
// these are searched (arma_search.hpp). The criteria count them all. Models of different d see different data, so nothing here
// compares them.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/arma_search.hpp>
#include <sb/stats/forecast.hpp>
#include <sb/stats/normal.hpp>
#include <sb/stats/orthogonal.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

namespace sb::stats {

/// Autoregressive terms, differences, terms of the moving average; at most arma_most_terms, 2, arma_most_terms.
struct arima_order {
    std::size_t p = 0, d = 0, q = 0;
};

/// Whether the differenced series has a mean of its own: by itself it has one where d = 0.
enum class arima_constant : std::uint8_t { by_order, without, with };

struct arima_request {
    arima_order order{1, 0, 0};
    arima_constant constant = arima_constant::by_order;
    std::span<std::span<double const> const> regressors{}; ///< each as long as the series
    arma_effort effort{};
};

struct arima_answer {
    no_answer why = no_answer::none;
    arima_order order;
    std::array<double, arma_most_terms> ar{}, ma{}; ///< x(t) = ar[0] x(t-1) + … + e(t) + ma[0] e(t-1) + …
    bool has_constant = false;
    double constant = 0; ///< the mean of the differenced series less what regressors make: with d = 0 its level, with d = 1 its slope
    std::vector<double> coefficients; ///< of the regressors
    double deviation = 0; ///< of the innovations
    double llf = 0, aic = 0, aicc = 0, bic = 0; ///< of the differenced series
    std::size_t n = 0, used = 0, parameters = 0; ///< values, those left by differencing, and what was estimated, the deviation too
    explicit operator bool() const noexcept { return why == no_answer::none; }

    /// What a forecast starts from: see arma_likelihood::last(), in units of the deviation; and the last value without
    /// regressors, with its last difference.
    struct {
        std::array<std::array<double, arma_most_terms + 1>, arma_most_terms> u{};
        std::array<double, 2> level{};
    } end;
};

struct arima_room {
    arma_search_room search;
    std::vector<double> series, columns, triangle;
    std::vector<double> shifts, scales, solved;
};

namespace detail {

class arima_fit {
public:
    arima_fit(std::span<double const> values, arima_request const& asked, arima_room& room) noexcept : values_{values}, asked_{asked}, room_{room} {}

    arima_answer run() {
        arima_answer found;
        found.order = asked_.order, found.n = values_.size();
        found.has_constant = asked_.constant == arima_constant::with || (asked_.constant == arima_constant::by_order && asked_.order.d == 0);
        found.why = answer(found);
        if (found.why != no_answer::none) found.llf = found.aic = found.aicc = found.bic = found.deviation = std::numeric_limits<double>::quiet_NaN();
        return found;
    }

private:
    static constexpr double eps = std::numeric_limits<double>::epsilon();

    no_answer answer(arima_answer& found) {
        auto const [p, d, q] = asked_.order;
        if (p > arma_most_terms || q > arma_most_terms || d > 2) return no_answer::bad_request;
        auto const n = values_.size();
        for (auto const& each : asked_.regressors)
            if (each.size() != n) return no_answer::bad_request;
        columns_ = asked_.regressors.size() + (found.has_constant ? 1 : 0);
        found.parameters = p + q + columns_ + 1;
        if (!all_finite(values_)) return no_answer::not_finite;
        for (auto const& each : asked_.regressors)
            if (!all_finite(each)) return no_answer::not_finite;
        if (n < d + found.parameters + 2) return no_answer::too_short; // fewer, and the corrected criterion has no value either
        used_ = found.used = n - d;
        if (auto const why = lay_series(); why != no_answer::none) return why;
        if (auto const why = lay_columns(found.has_constant); why != no_answer::none) return why;
        lay_rows();
        arma_search search{room_.search.data, used_, columns_, asked_.effort, room_.search};
        auto const place = search.best(p, q);
        if (!std::isfinite(place.value)) return no_answer::perfect_fit;
        arma_likelihood likelihood = search.of(p, q);
        return tell(likelihood, place, found);
    }

    /// A column, differenced; false where that is too much for a double.
    bool difference(std::span<double const> from, double* to) const noexcept {
        for (std::size_t t = 0; t < used_; ++t) {
            if (asked_.order.d == 0) to[t] = from[t];
            else if (asked_.order.d == 1) to[t] = from[t + 1] - from[t];
            else to[t] = (from[t + 2] - from[t + 1]) - (from[t + 1] - from[t]);
        }
        return all_finite({to, used_});
    }
    no_answer lay_series() {
        auto& series = room_.series;
        series.resize(used_);
        if (!difference(values_, series.data())) return no_answer::not_finite;
        auto const [least, most] = std::minmax_element(values_.begin(), values_.end());
        if (*least == *most) return no_answer::constant;
        auto const [low, high] = std::minmax_element(series.begin(), series.end());
        double const largest = std::max(std::abs(*least), std::abs(*most)), range = *high - *low;
        // of what a difference loses by the rounding of its terms; the least double where they are less than normal
        rounding_ = std::max(largest * eps, std::numeric_limits<double>::denorm_min()) * (asked_.order.d == 0 ? 1.0 : 4.0);
        if (!std::isfinite(range)) return no_answer::not_finite;
        if (range <= 4 * rounding_) return asked_.order.d == 0 ? no_answer::constant : no_answer::perfect_fit;
        return no_answer::none;
    }
    /// Regressors, differenced, off their means if there is a constant, of size 1; then made orthogonal to each other.
    no_answer lay_columns(bool with_constant) {
        auto const k = columns_, first = k - asked_.regressors.size();
        room_.columns.resize(k * used_), room_.shifts.assign(k + 1, 0), room_.scales.assign(k + 1, 0);
        for (std::size_t c = first; c < k; ++c)
            if (!difference(asked_.regressors[c - first], room_.columns.data() + c * used_)) return no_answer::not_finite;
        if (with_constant) std::fill_n(room_.columns.begin(), used_, 1.0);
        for (std::size_t c = first; c <= k; ++c) {
            std::span<double> const of{c < k ? room_.columns.data() + c * used_ : room_.series.data(), used_};
            if (with_constant) room_.shifts[c] = of[used_ / 2];
            double largest = 0;
            for (double const x : of) largest = std::max(largest, std::abs(x - room_.shifts[c]));
            if (!std::isfinite(largest)) return no_answer::not_finite;
            int scale = 0;
            (void)std::frexp(largest, &scale);
            for (double& x : of) x = std::ldexp(x - room_.shifts[c], -scale);
            room_.scales[c] = scale;
        }
        room_.triangle = room_.columns;
        if (triangulate(room_.triangle, used_, k) < k) return no_answer::collinear;
        double const size = std::sqrt(static_cast<double>(used_));
        for (std::size_t c = 0; c < k; ++c)
            for (std::size_t r = 0; r <= c; ++r) room_.triangle[c * used_ + r] /= size;
        for (std::size_t t = 0; t < used_; ++t)
            for (std::size_t c = 0; c < k; ++c) {
                double sum = room_.columns[c * used_ + t];
                for (std::size_t r = 0; r < c; ++r) sum -= room_.columns[r * used_ + t] * room_.triangle[c * used_ + r];
                room_.columns[c * used_ + t] = sum / room_.triangle[c * used_ + c];
            }
        return no_answer::none;
    }
    void lay_rows() {
        auto& data = room_.search.data;
        data.resize(used_ * (columns_ + 1));
        for (std::size_t t = 0; t < used_; ++t) {
            for (std::size_t c = 0; c < columns_; ++c) data[t * (columns_ + 1) + c] = room_.columns[c * used_ + t];
            data[t * (columns_ + 1) + columns_] = room_.series[t];
        }
    }

    no_answer tell(arma_likelihood& likelihood, arma_place const& place, arima_answer& found) {
        auto const [p, d, q] = asked_.order;
        auto const n = static_cast<double>(used_), parameters = static_cast<double>(found.parameters);
        (void)likelihood.value({place.x.data(), p + q});
        double const squares = likelihood.squares(), deviation = std::sqrt(squares / n);
        int const scale = static_cast<int>(room_.scales[columns_]);
        if (!(deviation > 4 * std::ldexp(rounding_, -scale))) return no_answer::perfect_fit;
        found.deviation = std::ldexp(deviation, scale);
        found.llf = -0.5 * (n * std::log(squares / n) + likelihood.log_determinant() + n * (1 + std::log(2 * std::numbers::pi))) - n * scale * std::numbers::ln2;
        found.aic = 2 * parameters - 2 * found.llf;
        found.aicc = found.aic + 2 * parameters * (parameters + 1) / (n - parameters - 1);
        found.bic = parameters * std::log(n) - 2 * found.llf;
        for (std::size_t j = 0; j < p; ++j) found.ar[j] = likelihood.phi(j + 1);
        for (std::size_t j = 0; j < q; ++j) found.ma[j] = likelihood.theta(j + 1);
        for (std::size_t back = 0; back < std::max(p, q); ++back)
            for (std::size_t s = 0; s <= q; ++s) found.end.u[back][s] = s < q ? likelihood.last(back, s) : likelihood.last(back, s) / deviation;
        // coefficients of the columns as they were given
        auto const k = columns_, first = k - asked_.regressors.size();
        auto& b = room_.solved;
        b.assign(k, 0);
        for (std::size_t c = k; c-- > 0;) {
            double sum = likelihood.coefficient(c);
            for (std::size_t later = c + 1; later < k; ++later) sum -= room_.triangle[later * used_ + c] * b[later];
            b[c] = sum / room_.triangle[c * used_ + c];
        }
        if (found.has_constant) found.constant = std::ldexp(b[0], scale);
        for (std::size_t c = first; c < k; ++c) {
            found.coefficients.push_back(std::ldexp(b[c], scale - static_cast<int>(room_.scales[c])));
            if (found.has_constant) found.constant -= found.coefficients.back() * room_.shifts[c];
        }
        if (found.has_constant) found.constant += room_.shifts[k];
        auto const without = [&](std::size_t t) {
            double x = values_[t];
            for (std::size_t c = 0; c < found.coefficients.size(); ++c) x -= found.coefficients[c] * asked_.regressors[c][t];
            return x;
        };
        found.end.level[0] = without(found.n - 1);
        if (d == 2) found.end.level[1] = found.end.level[0] - without(found.n - 2);
        return no_answer::none;
    }

    std::span<double const> values_;
    arima_request const& asked_;
    arima_room& room_;
    std::size_t columns_ = 0, used_ = 0;
    double rounding_ = 0;
};

} // namespace detail

/// The likeliest model of this order that the search finds.
inline arima_answer arima(std::span<double const> values, arima_request const& asked, arima_room& room) { return detail::arima_fit{values, asked, room}.run(); }
inline arima_answer arima(std::span<double const> values, arima_request const& asked = {}) {
    arima_room room;
    return arima(values, asked, room);
}

/// The log likelihood of a centred or differenced series at given coefficients. None if they are not stationary and
/// invertible (a moving average may be on the boundary), where there are too many, or where values are not finite.
inline std::optional<double> arma_log_likelihood(std::span<double const> values, std::span<double const> ar, std::span<double const> ma, double deviation) {
    if (ar.size() > arma_most_terms || ma.size() > arma_most_terms || !(deviation > 0) || !std::isfinite(deviation)) return std::nullopt;
    if (!all_finite(values) || !all_finite(ar) || !all_finite(ma)) return std::nullopt;
    lag_polynomial autoregression, average;
    autoregression.order = ar.size(), average.order = ma.size();
    double shrink = 1;
    std::copy(ar.begin(), ar.end(), autoregression.c.begin() + 1);
    for (std::size_t j = 0; j < ma.size(); ++j) average.c[j + 1] = -ma[j] * (shrink *= 1 - 1e-4);
    std::array<double, arma_most_terms> x{}, unused{};
    if (!autoregression.to_coordinates(x.data(), arma_likelihood::apart) || !average.to_coordinates(unused.data())) return std::nullopt;
    arma_room room;
    arma_likelihood likelihood{values.size(), 0, ar.size(), ma.size(), room};
    for (std::size_t t = 0; t < values.size(); ++t) *likelihood.row(t) = values[t] / deviation;
    if (values.empty()) return 0;
    if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0; })) *likelihood.row(0) = 1e-100; // what is left of nothing has no logarithm
    if (!std::isfinite(likelihood.value({x.data(), ar.size()}, ma))) return std::nullopt;
    auto const n = static_cast<double>(values.size());
    return -0.5 * (likelihood.squares() + likelihood.log_determinant() + n * std::log(2 * std::numbers::pi)) - n * std::log(deviation);
}

/// As many steps as `to` takes, after the last value. Intervals are of a normal distribution: they hold what innovations do to
/// come, and how far the series' state is not known, but not that coefficients and order are estimates, so they are short where
/// values are few; those of a choice (arima_choice.hpp) allow for it. A model with regressors needs as many values of each, in their order. Gives bad_request where these are missing, or
/// `confidence` is not between 0 and 1.
inline no_answer forecast(arima_answer const& model, std::span<forecast_point> to, double confidence = 0.95, std::span<std::span<double const> const> regressors = {}) noexcept {
    if (!model) return model.why;
    auto const [p, d, q] = model.order;
    if (!(confidence > 0 && confidence < 1) || regressors.size() != model.coefficients.size()) return no_answer::bad_request;
    for (auto const& each : regressors)
        if (each.size() < to.size()) return no_answer::bad_request;
    for (auto const& each : regressors)
        if (!all_finite(each.first(to.size()))) return no_answer::not_finite;
    double const wide = normal_quantile((1 - confidence) / 2);
    // each direction in which the state is not known, then what is expected, then the effect of one innovation
    auto const effects = q + 2;
    std::array<std::array<double, arma_most_terms>, arma_most_terms + 2> u{}; // the newest first
    std::array<std::array<double, 2>, arma_most_terms + 2> sums{}; // of the series, and of its differences
    for (std::size_t s = 0; s <= q; ++s)
        for (std::size_t back = 0; back < arma_most_terms; ++back) u[s][back] = model.end.u[back][s];
    double spread = 0; // of the innovations, in units of theirs
    double level = model.end.level[0], slope = model.end.level[1];
    for (std::size_t h = 0; h < to.size(); ++h) {
        std::array<double, arma_most_terms + 2> step{};
        for (std::size_t s = 0; s < effects; ++s) {
            double next = s == q + 1 && h == 0 ? 1 : 0;
            for (std::size_t j = 0; j < p; ++j) next += model.ar[j] * u[s][j];
            step[s] = next;
            for (std::size_t j = 0; j < q; ++j) step[s] += model.ma[j] * u[s][j];
            std::copy_backward(u[s].begin(), u[s].end() - 1, u[s].end());
            u[s][0] = next;
            if (s == q) continue;
            if (d == 2) step[s] = sums[s][1] += step[s];
            if (d > 0) step[s] = sums[s][0] += step[s];
        }
        spread += step[q + 1] * step[q + 1];
        double squares = spread;
        for (std::size_t s = 0; s < q; ++s) squares += step[s] * step[s];
        double mean = step[q] * model.deviation + model.constant;
        if (d == 2) mean = slope += mean;
        if (d > 0) mean = level += mean;
        for (std::size_t c = 0; c < regressors.size(); ++c) mean += model.coefficients[c] * regressors[c][h];
        double const error = std::sqrt(squares) * model.deviation;
        to[h] = {mean, error, mean - wide * error, mean + wide * error};
    }
    return no_answer::none;
}

} // namespace sb::stats
