// SPDX-License-Identifier: MIT
// The augmented Dickey-Fuller test: has a series a unit root, that is, does it wander instead of coming back?
//
// How it works: differences are regressed on the level before them, on the trend, and on a number of earlier differences. Of
// all numbers of these the best is chosen over the rows that the largest leaves, and the last regression takes all rows that
// it can. One matrix of products serves every number: its triangle holds, column by column, what each further difference
// explains. The level is taken from its middle and time is scaled first, so that little is lost; the last regression then
// takes its figures from residuals, improved once. Where a pivot or a choice is too close to call, reflections decide
// (orthogonal.hpp). Nothing here believes a fit that leaves no more than rounding.
#pragma once
#include <sb/stats/adf_lags.hpp>
#include <sb/stats/answer.hpp>
#include <sb/stats/dot.hpp>
#include <sb/stats/mackinnon.hpp>
#include <sb/stats/orthogonal.hpp>
#include <sb/stats/sums.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

struct adf_answer : unit_root_answer {
    int lag = 0;
    double criterion = 0; ///< of the choice: the least AIC or BIC, or the absolute t value
};

/// Memory that a caller lends, so that calls after the first allocate nothing.
struct adf_room {
    std::vector<double> level, differences, ones, time, products, steps, triangle, matrix, residuals, coefficients;
};

namespace detail {

class adf_test {
public:
    adf_test(std::span<double const> values, adf_request const& asked, adf_room& room, vector_unit const& with) noexcept
        : values_{values}, asked_{asked}, room_{room}, with_{with}, terms_{static_cast<std::size_t>(terms_of(asked.with))} {}

    adf_answer run() {
        adf_answer found;
        found.n = values_.size();
        found.why = answer(found);
        if (found.why != no_answer::none) found.statistic = found.p = found.criterion = std::numeric_limits<double>::quiet_NaN();
        return found;
    }

private:
    static constexpr double shaky = 1e-6; // of its column, a pivot that normal equations are not trusted with
    static constexpr double uneven = 1e-4; // of the largest, the smallest sum of squares that one step at a time is trusted with

    no_answer answer(adf_answer& found) {
        auto const n = values_.size();
        if (n == 0) return no_answer::too_short;
        auto const last = values_[n - 1];
        auto const earlier = reach_of(values_.first(std::max<std::size_t>(n - 1, 1))); // of what may be a level
        if (!earlier.finite || !std::isfinite(last)) return no_answer::not_finite;
        double const least = std::min(earlier.least, last), most = std::max(earlier.most, last);
        if (least == most) return no_answer::constant;
        auto const [limited, lags] = lags_of(n, asked_);
        if (limited != no_answer::none) return limited;
        if (auto const bad = take_differences(earlier, most - least); bad != no_answer::none) return bad;
        if (rows(lags) <= terms_ + 1 + lags) return no_answer::no_freedom;
        auto lag = lags;
        if (asked_.choice != lag_choice::fixed)
            if (auto const bad = choose(lags, lag, found.criterion); bad != no_answer::none) return bad;
        if (auto const bad = regress(lag, found.statistic); bad != no_answer::none) return bad;
        found.lag = static_cast<int>(lag), found.used = rows(lag);
        found.p = dickey_fuller_p(found.statistic, asked_.with);
        found.critical = dickey_fuller_critical(asked_.with, static_cast<double>(found.used));
        return no_answer::none;
    }

    std::size_t rows(std::size_t lags) const noexcept { return values_.size() - 1 - lags; }

    /// Both scaled by powers of two, which costs no digit; the statistic does not know units. No difference is larger than the
    /// range, nor all of them so many times smaller.
    no_answer take_differences(reach const& earlier, double range) {
        auto const n = values_.size();
        room_.level.resize(n - 1), room_.differences.resize(n - 1);
        double const middle = terms_ > 0 ? values_[n / 2] : 0;
        double const farthest = std::max(std::abs(earlier.least - middle), std::abs(earlier.most - middle));
        if (!std::isfinite(range) || !std::isfinite(farthest)) return no_answer::not_finite;
        if (farthest == 0) return no_answer::collinear; // only the last value is another
        (void)std::frexp(range, &scale_);
        int level_scale = 0;
        (void)std::frexp(farthest, &level_scale);
        step_ = std::ldexp(1.0, std::clamp(scale_ - level_scale, -1074, 1023)); // of the level, when one is taken in its own unit
        double const factor = std::ldexp(1.0, -scale_), level_factor = std::ldexp(1.0, -level_scale);
        double const* const x = values_.data();
        double *const level = room_.level.data(), *const difference = room_.differences.data();
        std::size_t i = 0;
        if (std::isnormal(factor) && std::isnormal(level_factor)) {
            for (; i + 2 < n; i += 2) {
                auto const here = load_pair(x + i);
                store_pair(difference + i, (load_pair(x + i + 1) - here) * factor), store_pair(level + i, (here - middle) * level_factor);
            }
            for (; i + 1 < n; ++i) difference[i] = (x[i + 1] - x[i]) * factor, level[i] = (x[i] - middle) * level_factor;
        } else // no factor holds that
            for (; i + 1 < n; ++i) difference[i] = std::ldexp(x[i + 1] - x[i], -scale_), level[i] = std::ldexp(x[i] - middle, -level_scale);
        return no_answer::none;
    }

    // ---- columns over the rows that so many lags leave: trend, level, differences 1 … lags before, the difference itself

    double const* level(std::size_t lags) const noexcept { return room_.level.data() + lags; }
    double const* difference(std::size_t lags, std::size_t before) const noexcept { return room_.differences.data() + lags - before; }
    double const* term(std::size_t lags, std::size_t which) const noexcept { return which == 0 ? room_.ones.data() : room_.time.data() + (which - 1) * rows(lags); }
    void lay_out_time(std::size_t lags) {
        auto const count = rows(lags);
        if (room_.ones.size() < count) room_.ones.resize(count, 1.0); // and so they stay
        if (terms_ < 2) return;
        room_.time.resize((terms_ - 1) * count);
        double const middle = static_cast<double>(count - 1) / 2, half = std::max(middle, 1.0);
        for (std::size_t i = 0; i < count; ++i) {
            double const t = (static_cast<double>(i) - middle) / half;
            room_.time[i] = t;
            if (terms_ > 2) room_.time[count + i] = t * t - 1.0 / 3;
        }
    }
    double const* column(std::size_t lags, std::size_t which) const noexcept {
        if (which < terms_) return term(lags, which);
        if (which == terms_) return level(lags);
        return difference(lags, which <= terms_ + lags ? which - terms_ : 0);
    }

    /// The lower triangle of the products of all columns, the difference itself last. False where steps back in time have taken
    /// the digits of what was left.
    bool multiply(std::size_t lags) {
        lay_out_time(lags);
        auto const count = rows(lags), columns = terms_ + lags + 2;
        room_.products.resize(columns * columns);
        auto const at = [&](std::size_t row, std::size_t col) -> double& { return room_.products[row * columns + col]; };
        for (std::size_t row = 0; row <= terms_; ++row)
            for (std::size_t col = 0; col <= row; ++col) at(row, col) = with_.dot(column(lags, row), column(lags, col), count);
        auto const row_of = [&](std::size_t before) { return before == 0 ? columns - 1 : terms_ + before; };
        // one step back in time drops one product and takes in another
        auto const among = [&](std::size_t a, std::size_t b) -> double& { // a <= b
            return a == 0 ? at(columns - 1, b == 0 ? columns - 1 : terms_ + b) : at(terms_ + b, terms_ + a);
        };
        auto const* const d = room_.differences.data();
        auto const last = lags + count - 1;
        room_.coefficients.resize(std::max(room_.coefficients.size(), lags + 1));
        with_.dots_back(difference(lags, 0), difference(lags, 0), count, room_.coefficients.data(), lags + 1);
        for (std::size_t b = 0; b <= lags; ++b) among(0, b) = room_.coefficients[b];
        // what enters and what leaves, the latest first
        room_.steps.resize(2 * (lags + 2));
        double *const entering = room_.steps.data(), *const leaving = entering + lags + 2;
        for (std::size_t b = 0; b < lags; ++b) entering[b] = d[lags - 1 - b], leaving[b] = d[last - b];
        for (std::size_t b = 0; b < lags; ++b) {
            double const *const from = b == 0 ? nullptr : &among(1, b), in = entering[b], out = leaving[b];
            double* const to = &among(1, b + 1);
            to[0] = among(0, b) + entering[0] * in - leaving[0] * out;
            std::size_t a = 1;
            for (; a + 1 <= b; a += 2) store_pair(to + a, load_pair(from + a - 1) + load_pair(entering + a) * in - load_pair(leaving + a) * out);
            for (; a <= b; ++a) to[a] = from[a - 1] + entering[a] * in - leaving[a] * out;
        }
        // with the trend: a window's sum, and what a step in time adds to it
        for (std::size_t col = 0; col < terms_; ++col) {
            at(columns - 1, col) = with_.dot(difference(lags, 0), column(lags, col), count);
            double const* const t = column(lags, col);
            double const spacing = col == 1 && count > 1 ? t[1] - t[0] : 0;
            for (std::size_t b = 0; b < lags; ++b) {
                double& next = at(row_of(b + 1), col);
                if (col == 2) next = with_.dot(difference(lags, b + 1), t, count);
                else next = at(row_of(b), col) + (t[0] - spacing) * d[lags - 1 - b] - t[count - 1] * d[last - b] + spacing * (col == 1 ? at(row_of(b + 1), 0) : 0);
            }
        }
        // with the level: it is an earlier one and the steps since
        double shifted = with_.dot(difference(lags, 0), level(lags), count);
        auto const* const z = room_.level.data();
        at(columns - 1, terms_) = shifted;
        for (std::size_t b = 1; b <= lags; ++b) {
            shifted += z[lags - b] * d[lags - b] - z[last + 1 - b] * d[last + 1 - b];
            at(row_of(b), terms_) = shifted + step_ * sum_from({&among(1, b), b}, 0);
        }
        double least = among(0, 0), most = least;
        for (std::size_t a = 1; a <= lags; ++a) least = std::min(least, among(a, a)), most = std::max(most, among(a, a));
        return least > uneven * most;
    }
    /// The matrix itself, with the level behind the differences for the last regression.
    std::size_t lay_out(std::size_t lags, bool level_last) {
        lay_out_time(lags);
        auto const count = rows(lags), columns = terms_ + lags + 2;
        room_.matrix.resize(count * columns);
        for (std::size_t c = 0; c < columns; ++c) {
            auto from = c;
            if (level_last && c >= terms_ && c + 1 < columns) from = c + 2 == columns ? terms_ : c + 1;
            std::copy_n(column(lags, from), count, room_.matrix.data() + c * count);
        }
        return columns;
    }

    // ---- how many lags

    no_answer choose(std::size_t lags, std::size_t& best, double& criterion) {
        auto const count = rows(lags), columns = terms_ + lags + 2, fit = terms_ + lags + 1;
        lag_judge const judge{asked_.choice, terms_, count};
        lag_judge::verdict chosen;
        explained_.resize(fit);
        if (multiply(lags) && decompose_all(columns)) {
            double const whole = room_.products[columns * columns - 1];
            double rest = whole;
            for (std::size_t c = 0; c < fit; ++c) {
                double const part = room_.triangle[(columns - 1) * columns + c];
                explained_[c] = part * part;
                rest -= explained_[c];
            }
            if (rest > shaky * whole) chosen = judge(explained_.data() + terms_, lags, rest, scale_);
        }
        if (!chosen.sure) {
            lay_out(lags, false);
            auto const lost = triangulate(room_.matrix, count, columns, with_);
            if (lost < fit) return no_answer::collinear;
            if (lost == fit) return no_answer::perfect_fit;
            for (std::size_t c = 0; c < fit; ++c) explained_[c] = room_.matrix[fit * count + c] * room_.matrix[fit * count + c];
            double const rest = room_.matrix[fit * count + fit];
            chosen = judge(explained_.data() + terms_, lags, rest * rest, scale_);
        }
        best = chosen.lag, criterion = chosen.criterion;
        return no_answer::none;
    }
    /// The difference itself too: its row of the triangle says what each column explains. Two rows at once, for each number of a row
    /// waits for the one before. False where a column is nearly one of those before it.
    bool decompose_all(std::size_t columns) {
        room_.triangle.resize(columns * columns);
        double *const triangle = room_.triangle.data(), *const products = room_.products.data();
        auto const invert = [&](std::size_t row, double rest) {
            if (!(rest > shaky * products[row * columns + row])) return false;
            triangle[row * columns + row] = 1 / std::sqrt(rest);
            return true;
        };
        for (std::size_t row = 0; row < columns; row += 2) {
            bool const pair = row + 1 < columns;
            double *const a = triangle + row * columns, *const b = pair ? a + columns : a; // the last may be alone
            double const *const of_a = products + row * columns, *const of_b = pair ? of_a + columns : of_a;
            double rest_a = of_a[row], rest_b = pair ? of_b[row + 1] : 0;
            for (std::size_t col = 0; col < row; ++col) {
                double const* const other = triangle + col * columns;
                double sum_a = of_a[col], sum_b = of_b[col];
                for (std::size_t i = 0; i < col; ++i) sum_a -= a[i] * other[i], sum_b -= b[i] * other[i];
                a[col] = sum_a * other[col], b[col] = sum_b * other[col];
                rest_a -= a[col] * a[col], rest_b -= b[col] * b[col];
            }
            if (!pair) return true; // the difference itself
            if (!invert(row, rest_a)) return false;
            double sum = of_b[row];
            for (std::size_t i = 0; i < row; ++i) sum -= b[i] * a[i];
            b[row] = sum * a[row];
            if (row + 2 < columns && !invert(row + 1, rest_b - b[row] * b[row])) return false;
        }
        return true;
    }

    // ---- the last regression

    no_answer regress(std::size_t lags, double& statistic) {
        auto const count = rows(lags), others = terms_ + lags;
        if (multiply(lags) && improve(lags, statistic)) return no_answer::none;
        auto const columns = lay_out(lags, true);
        auto const lost = triangulate(room_.matrix, count, columns, with_);
        if (lost < others + 1) return no_answer::collinear;
        if (lost == others + 1) return no_answer::perfect_fit;
        double const slope = room_.matrix[(others + 1) * count + others], rest = room_.matrix[(others + 1) * count + others + 1];
        auto const sign = room_.matrix[others * count + others] < 0 ? -1.0 : 1.0;
        statistic = sign * slope / (std::abs(rest) / std::sqrt(static_cast<double>(count - others - 1)));
        return no_answer::none;
    }
    /// Level and difference, both less what the other columns explain of them: what is left of the one explains what is left of
    /// the other. False where that cannot be trusted.
    bool improve(std::size_t lags, double& statistic) {
        auto const count = rows(lags), others = terms_ + lags, stride = others + 2;
        room_.triangle.resize(stride * stride);
        // the triangle of the other columns alone: the level's row and column are passed over
        auto const source = [&](std::size_t i) { return i < terms_ ? i : i + 1; };
        for (std::size_t row = 0; row < others; ++row) {
            double* const here = room_.triangle.data() + row * stride;
            double const* const product = room_.products.data() + source(row) * stride;
            double rest = product[source(row)];
            for (std::size_t col = 0; col < row; ++col) {
                double const* const other = room_.triangle.data() + col * stride;
                double sum = product[source(col)];
                for (std::size_t i = 0; i < col; ++i) sum -= here[i] * other[i];
                here[col] = sum * other[col];
                rest -= here[col] * here[col];
            }
            if (!(rest > shaky * product[source(row)])) return false;
            here[row] = 1 / std::sqrt(rest);
        }
        room_.residuals.resize(2 * count);
        double* const level_left = room_.residuals.data();
        double* const left = level_left + count;
        std::copy_n(level(lags), count, level_left), std::copy_n(difference(lags, 0), count, left);
        for (double* const target : {level_left, left})
            for (int pass = 0; pass < 2; ++pass) {
                room_.coefficients.resize(others);
                auto& c = room_.coefficients;
                for (std::size_t i = 0; i < terms_; ++i) c[i] = with_.dot(term(lags, i), target, count);
                if (lags > 0) with_.dots_back(target, difference(lags, 1), count, c.data() + terms_, lags);
                for (std::size_t i = 0; i < others; ++i) {
                    for (std::size_t j = 0; j < i; ++j) c[i] -= room_.triangle[i * stride + j] * c[j];
                    c[i] *= room_.triangle[i * stride + i];
                }
                for (std::size_t i = others; i-- > 0;) {
                    for (std::size_t j = i + 1; j < others; ++j) c[i] -= room_.triangle[j * stride + i] * c[j];
                    c[i] *= room_.triangle[i * stride + i];
                }
                for (std::size_t i = 0; i < others; ++i) with_.add_scaled(target, -c[i], column(lags, source(i)), count);
            }
        double const own = with_.dot(level_left, level_left, count), whole = room_.products[terms_ * stride + terms_];
        if (!(own > shaky * whole)) return false;
        double const shared = with_.dot(level_left, left, count), slope = shared / own;
        with_.add_scaled(left, -slope, level_left, count);
        double const rest = with_.dot(left, left, count), squares = room_.products[stride * stride - 1];
        if (!(rest > shaky * squares)) return false;
        statistic = slope * std::sqrt(own / (rest / static_cast<double>(count - others - 1)));
        return true;
    }

    std::span<double const> values_;
    adf_request asked_;
    adf_room& room_;
    vector_unit const& with_;
    std::size_t terms_;
    int scale_ = 0;
    double step_ = 1;
    std::vector<double>& explained_ = room_.coefficients;
};

} // namespace detail

/// The null hypothesis is a unit root; a low statistic speaks against it.
inline adf_answer adf(std::span<double const> values, adf_request const& asked, adf_room& room) {
    return detail::adf_test{values, asked, room, vector_unit::chosen()}.run();
}
inline adf_answer adf(std::span<double const> values, adf_request const& asked = {}) {
    adf_room room;
    return adf(values, asked, room);
}

} // namespace sb::stats
