// SPDX-License-Identifier: MIT
// The augmented Dickey-Fuller test of every window of a series, each for a small part of what the test alone would take.
//
// How it works: all regressions of a window need only the products of its columns, and a step adds one row to them and takes one
// away. Nothing is ever subtracted, for that costs digits whenever a large value leaves: the products are the sum of two parts,
// of the rows since a border, to which each row is added as it comes, and of the rows before it that are still in the window,
// which were added up beforehand from the border backwards (by blocks, so that few such sums are kept). When the last row before
// the border leaves, all is derived anew from the values. One elimination then serves every number of lags, one more the
// regression that is chosen. Where a pivot or a choice is too close to call, the window goes to adf(), which knows what to do.
#pragma once
#include <sb/stats/adf.hpp>
#include <sb/stats/gram.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sb::stats {

/// The answers are those of adf() for the same values but for rounding: the same number of lags, the same reasons for none.
class adf_window {
public:
    explicit adf_window(std::size_t window, adf_request const& asked = {}, gram_unit const& with = gram_unit::chosen())
        : window_{window}, asked_{asked}, with_{with}, terms_{static_cast<std::size_t>(terms_of(asked.with))} {
        auto const limit = detail::lags_of(window, asked);
        lags_ = limit.lags;
        if (limit.why != no_answer::none || window < lags_ + 2 || window - 1 - lags_ <= terms_ + 1 + lags_) return;
        rows_ = window - 1 - lags_;
        shape_ = gram_shape{terms_ + lags_ + 2};
        while (block_ * block_ < rows_) ++block_;
        if ((rows_ / block_ + block_) * shape_.size() > most_numbers) return;
        judge_ = detail::lag_judge{asked.choice, terms_, rows_};
        inverse_rows_ = 1 / static_cast<double>(rows_);
        row_.resize(std::max(block_, lags_) * shape_.stride), inverse_.resize(shape_.stride), error_.resize(shape_.stride), explained_.resize(lags_ + 1);
        for (auto* each : {&newer_, &work_, &small_}) each->resize(shape_.size());
        within_.resize(block_ * shape_.size()), blocks_.resize(((rows_ + block_ - 1) / block_ + 1) * shape_.size());
        for (std::size_t lag = 0; lag <= lags_; ++lag) critical_.push_back(dickey_fuller_critical(asked.with, static_cast<double>(window - 1 - lag)));
        quick_ = true;
    }

    /// The answer for the window that this value completes; none while there are too few values.
    std::optional<adf_answer> push(double x) {
        if (window_ == 0) return std::nullopt;
        if (values_.size() == 2 * window_) forget();
        values_.push_back(x);
        if (values_.size() < window_) return std::nullopt;
        first_ = values_.size() - window_;
        adf_answer found;
        if (quick_ && take_in() && answer(found)) return found;
        return adf(std::span{values_}.last(window_), asked_, room_);
    }

private:
    static constexpr double most_error = 3e4; // in roundings of a pivot; beyond it adf() is asked
    // of the slope, and of what it rises in a window, what is left of a series that adf() sees as a line, or nearly
    static constexpr double straight = 1e-3, straight_level = 1e-6;
    static constexpr double far = 0x1p100; // from the scale, a value that all is derived anew for
    static constexpr std::size_t most_numbers = std::size_t{1} << 24; // kept in sums beforehand

    void forget() noexcept {
        values_.erase(values_.begin(), values_.end() - static_cast<std::ptrdiff_t>(window_ - 1));
        derived_ = false;
    }
    /// False where the newest window cannot be held.
    bool take_in() {
        if (derived_ && ++gone_ < rows_) {
            auto const at = values_.size() - 2;
            put(at);
            if (std::abs(differences_[at]) < far && std::abs(levels_[at]) < far) {
                fill_row(at, row_.data());
                with_.add(newer_.data(), row_.data(), 1, shape_);
                if (gone_ % block_ == 0) enter(gone_ / block_);
                return true;
            }
        }
        return derived_ = derive();
    }

    /// From the values, with the border behind the newest.
    bool derive() {
        values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0, gone_ = 0;
        if (!find_scale()) return false;
        differences_.resize(2 * window_), levels_.resize(2 * window_);
        for (std::size_t i = 0; i + 1 < window_; ++i) put(i);
        auto const last = (rows_ - 1) / block_;
        auto const size = shape_.size();
        std::fill(newer_.begin(), newer_.end(), 0.0);
        std::fill_n(blocks_.begin() + static_cast<std::ptrdiff_t>((last + 1) * size), size, 0.0);
        for (auto block = last; block > 0; --block) {
            double* const sum = blocks_.data() + block * size;
            std::copy_n(sum + size, size, sum);
            double* to = row_.data();
            for (auto row = std::min(rows_, (block + 1) * block_); row-- > block * block_; to += shape_.stride) fill_row(lags_ + row, to);
            with_.add(sum, row_.data(), std::min(rows_ - block * block_, block_), shape_);
        }
        enter(0);
        return true;
    }
    /// What the trend explains anyway is taken off beforehand, as far as a few values tell it: where one is far from all others it
    /// does not decide. False where the values cannot be held.
    bool find_scale() noexcept {
        auto const n = window_, half = n / 2;
        auto const middle_of = [](double a, double b, double c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); };
        auto const rise = [&](std::size_t from) { return (values_[from + half] - values_[from]) / static_cast<double>(half); };
        unit_ = level_unit_ = 1, origin_ = slope_ = 0;
        if (terms_ > 0) {
            slope_ = middle_of(rise(0), rise(n / 4), rise(n - 1 - half));
            origin_ = middle_of(level(half), level(n - n / 4 - 1), level(n - 1)); // these are in most windows to come
        }
        double largest = 0, farthest = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            double const step = std::abs(difference(i)), off = std::abs(level(i));
            if (!std::isfinite(step) || !std::isfinite(off)) return false;
            largest = std::max(largest, step), farthest = std::max(farthest, off);
        }
        if (!(largest > straight * std::abs(slope_)) || farthest == 0) return false;
        int level_scale = 0;
        (void)std::frexp(largest, &scale_), (void)std::frexp(farthest, &level_scale);
        if (std::max(std::abs(scale_), std::abs(level_scale)) > 1000) return false; // no factor holds that
        unit_ = std::ldexp(1.0, -scale_), level_unit_ = std::ldexp(1.0, -level_scale);
        auto const least = [&](double root) { return std::max(detail::gram_tiny, root * root * static_cast<double>(rows_)); };
        least_ = least(straight * slope_ * unit_);
        least_level_ = terms_ < 2 ? 0 : least(straight_level * slope_ * static_cast<double>(n) * level_unit_);
        return true;
    }
    double difference(std::size_t at) const noexcept { return (values_[at + 1] - values_[at] - slope_) * unit_; }
    double level(std::size_t at) const noexcept {
        double const off = values_[at] - origin_;
        return (terms_ < 2 ? off : std::fma(-slope_, static_cast<double>(at) - static_cast<double>(window_ / 2), off)) * level_unit_;
    }
    void put(std::size_t at) noexcept { differences_[at] = difference(at), levels_[at] = level(at); }
    /// Sums from each row of a block to the border.
    void enter(std::size_t block) noexcept {
        auto const size = shape_.size();
        double const* sum = blocks_.data() + (block + 1) * size;
        auto const begin = block * block_;
        for (auto row = std::min(rows_, begin + block_); row-- > begin;) {
            double* const with = within_.data() + (row - begin) * size;
            std::copy_n(sum, size, with);
            fill_row(lags_ + row, row_.data());
            with_.add(with, row_.data(), 1, shape_);
            sum = with;
        }
    }
    /// Trend, level, earlier differences from the last one back, the difference itself.
    void fill_row(std::size_t at, double* to) const noexcept {
        to = fill_trend(at, to);
        *to++ = levels_[at];
        for (std::size_t lag = 1; lag <= lags_; ++lag) *to++ = differences_[at - lag];
        *to = differences_[at];
    }
    /// The same with the level behind so many differences.
    void fill_small_row(std::size_t at, std::size_t lags, double* to) const noexcept {
        to = fill_trend(at, to);
        for (std::size_t lag = 1; lag <= lags; ++lag) *to++ = differences_[at - lag];
        *to++ = levels_[at];
        *to = differences_[at];
    }
    double* fill_trend(std::size_t at, double* to) const noexcept {
        double const time = (static_cast<double>(at) - static_cast<double>(window_)) * inverse_rows_;
        if (terms_ > 0) *to++ = 1;
        if (terms_ > 1) *to++ = time;
        if (terms_ > 2) *to++ = time * time;
        return to;
    }

    bool answer(adf_answer& found) noexcept {
        auto lag = lags_;
        auto const last = terms_ + lags_ + 1;
        double const* const older = within_.data() + gone_ % block_ * shape_.size();
        if (asked_.choice != lag_choice::fixed) {
            with_.sum(work_.data(), older, newer_.data(), shape_);
            if (!solve(work_, shape_, terms_)) return false;
            // what each column explains; the level's, which no choice of lags needs, is the first
            for (std::size_t c = terms_; c < last; ++c) {
                double const part = work_[c * shape_.stride + last];
                explained_[c - terms_] = part * part * inverse_[c];
            }
            auto const chosen = judge_(explained_.data(), lags_, work_[last * shape_.stride + last], scale_);
            if (!chosen.sure) return false;
            lag = chosen.lag, found.criterion = chosen.criterion;
        }
        // the level last, so that what it explains beyond all others is seen
        gram_shape const shape{terms_ + lag + 2};
        auto const level = terms_ + lag;
        for (std::size_t i = 0; i < level + 2; ++i) {
            auto const total = [&](std::size_t a, std::size_t b) { return older[a * shape_.stride + b] + newer_[a * shape_.stride + b]; };
            auto const from = i < terms_ ? i : i < level ? i + 1 : i == level ? terms_ : last;
            double* const row = small_.data() + i * shape.stride;
            for (auto j = i; j < level; ++j) row[j] = total(from, j < terms_ ? j : j + 1);
            if (i <= level) row[level] = i < terms_ ? total(from, terms_) : total(terms_, from);
            row[level + 1] = total(from, last);
        }
        double* to = row_.data(); // rows that fewer lags leave
        for (auto at = first_ + lag; at < first_ + lags_; ++at, to += shape.stride) fill_small_row(at, lag, to);
        with_.add(small_.data(), row_.data(), lags_ - lag, shape);
        if (!solve(small_, shape, level)) return false;
        double const freedom = static_cast<double>(window_ - 1 - lag - (terms_ + lag) - 1);
        auto const own = level * shape.stride + level;
        found.statistic = small_[own + 1] / (std::sqrt(small_[own]) * std::sqrt(small_[own + shape.stride + 1] / freedom));
        found.p = dickey_fuller_p(found.statistic, asked_.with);
        found.lag = static_cast<int>(lag), found.n = window_, found.used = window_ - 1 - lag, found.critical = critical_[lag];
        return true;
    }
    bool solve(std::vector<double>& gram, gram_shape shape, std::size_t level) noexcept {
        return gram[level * shape.stride + level] > least_level_ && with_.eliminate(gram.data(), inverse_.data(), error_.data(), shape, most_error, least_);
    }

    std::size_t window_;
    adf_request asked_;
    gram_unit with_;
    std::size_t terms_, lags_ = 0, rows_ = 0, block_ = 1; // rows of a regression with all lags; of a block
    gram_shape shape_;
    detail::lag_judge judge_{lag_choice::aic, 0, 1};
    bool quick_ = false, derived_ = false;
    std::size_t first_ = 0, gone_ = 0; // where the window begins; rows before the border that have left
    int scale_ = 0;
    double origin_ = 0, slope_ = 0, unit_ = 1, level_unit_ = 1, least_ = 0, least_level_ = 0, inverse_rows_ = 1;
    std::vector<double> values_, differences_, levels_; // side by side
    std::vector<double> row_, inverse_, error_, explained_, newer_, within_, blocks_, work_, small_;
    std::vector<std::array<double, 3>> critical_; // by lag
    adf_room room_;
};

/// One answer a window of so many values, in their order, into `out` as far as it reaches; the number of windows.
inline std::size_t rolling_adf(std::span<double const> values, std::size_t window, adf_request const& asked, std::span<adf_answer> out) {
    if (window == 0 || values.size() < window) return 0;
    adf_window moving{window, asked};
    auto const windows = values.size() - window + 1;
    auto const taken = std::min(windows, out.size());
    for (std::size_t i = 0; i < window - 1 + taken; ++i)
        if (auto answer = moving.push(values[i])) out[i + 1 - window] = *answer;
    return windows;
}
inline std::vector<adf_answer> rolling_adf(std::span<double const> values, std::size_t window, adf_request const& asked = {}) {
    std::vector<adf_answer> answers(window == 0 || values.size() < window ? 0 : values.size() - window + 1);
    (void)rolling_adf(values, window, asked, answers);
    return answers;
}

} // namespace sb::stats
