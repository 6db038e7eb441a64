// SPDX-License-Identifier: MIT
// Intervals around a forecast from the errors of earlier forecasts, whatever their distribution.
//
// How it works: if the order of n earlier errors and the next one tells nothing, each of them is equally likely to be the k-th
// smallest. So with a chance of at least `level` the next is no larger than the ceil((n + 1) level)-th of the earlier ones (Vovk et
// al. 2005; Lei et al. 2018). With too few errors there is no such one, and no finite interval. Where errors drift, the level is
// moved after each hit and miss, so that in the long run the intervals hold the share asked for (Gibbs and Candès 2021).
#pragma once
#include <sb/stats/answer.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

/// What to add to a forecast. Without an answer the bounds are infinite.
struct conformal_answer {
    no_answer why = no_answer::none;
    double lo = -std::numeric_limits<double>::infinity(), hi = std::numeric_limits<double>::infinity(); ///< lo <= hi, but where hi < lo nothing is held
    double holds = 0; ///< of exchangeable errors the next lies within with at least this chance, >= the level asked for
    std::size_t n = 0; ///< errors that it stands on
    explicit operator bool() const noexcept { return why == no_answer::none; }
    bool covers(double error) const noexcept { return lo <= error && error <= hi; }
};

/// Absolute errors make an interval of equal sides. Signed errors leave out the same share on each side: a bias moves the interval,
/// but twice as many errors are needed.
enum class conformal_sides : std::uint8_t { same, each };

/// The fewest errors that have an answer at this level; the largest number where none have.
inline std::size_t fewest_for_conformal(double level, conformal_sides sides = conformal_sides::same) noexcept {
    if (!(level > 0 && level < 1)) return std::numeric_limits<std::size_t>::max();
    double const outside = (1 - level) / (sides == conformal_sides::each ? 2 : 1);
    return static_cast<std::size_t>(std::max(std::ceil((1 / outside) * (1 - 8 * std::numeric_limits<double>::epsilon())) - 1, 1.0));
}

namespace detail {

/// Which of n in ascending order, from 1, is not exceeded with this chance by one more; n + 1: none. A product that differs
/// from a whole number by rounding is meant to be that.
inline std::size_t conformal_rank(std::size_t n, double level) noexcept {
    double const rank = std::ceil(static_cast<double>(n + 1) * level * (1 - 8 * std::numeric_limits<double>::epsilon()));
    return static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(n) + 1));
}
inline conformal_answer no_conformal(no_answer why, std::size_t n) noexcept {
    conformal_answer answer;
    answer.why = why, answer.n = n;
    return answer;
}
/// `at(k)`: the k-th smallest, from 1, absolute or signed as the sides want it.
template <class At>
conformal_answer conformal_of(std::size_t n, double level, conformal_sides sides, At const& at) {
    if (!(level > 0 && level < 1)) return no_conformal(no_answer::bad_request, n);
    auto const rank = conformal_rank(n, sides == conformal_sides::same ? level : (1 + level) / 2);
    if (rank > n) return no_conformal(no_answer::too_short, n);
    auto const count = static_cast<double>(n + 1), place = static_cast<double>(rank);
    conformal_answer answer;
    answer.n = n;
    if (sides == conformal_sides::same) answer.hi = at(rank), answer.lo = -answer.hi, answer.holds = place / count;
    else answer.lo = at(n + 1 - rank), answer.hi = at(rank), answer.holds = (2 * place - count) / count;
    return answer;
}

} // namespace detail

/// From errors (value less forecast), whose order is changed; in linear time.
inline conformal_answer conformal_in_place(std::span<double> errors, double level, conformal_sides sides = conformal_sides::same) noexcept {
    if (!all_finite(errors)) return detail::no_conformal(no_answer::not_finite, errors.size());
    if (sides == conformal_sides::same)
        for (double& e : errors) e = std::abs(e);
    return detail::conformal_of(errors.size(), level, sides, [&](std::size_t rank) {
        auto const place = errors.begin() + static_cast<std::ptrdiff_t>(rank - 1);
        std::nth_element(errors.begin(), place, errors.end());
        return *place;
    });
}
/// `room` is memory that the caller lends.
inline conformal_answer conformal(std::span<double const> errors, double level, conformal_sides sides, std::vector<double>& room) {
    room.assign(errors.begin(), errors.end());
    return conformal_in_place(room, level, sides);
}
inline conformal_answer conformal(std::span<double const> errors, double level, conformal_sides sides = conformal_sides::same) {
    std::vector<double> room;
    return conformal(errors, level, sides, room);
}

/// Of the last so many errors, as they come.
class rolling_conformal {
public:
    /// `window`: at least 1.
    explicit rolling_conformal(std::size_t window, conformal_sides sides = conformal_sides::same) : window_{std::max<std::size_t>(window, 1)}, sides_{sides} {
        ring_.reserve(window_), sorted_.reserve(window_);
    }
    /// False, and nothing is done, when it is not finite.
    bool push(double error) {
        if (!std::isfinite(error)) return false;
        if (sides_ == conformal_sides::same) error = std::abs(error);
        if (ring_.size() < window_) ring_.push_back(error);
        else {
            sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), ring_[oldest_]));
            ring_[oldest_] = error, oldest_ = (oldest_ + 1) % window_;
        }
        sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), error), error);
        return true;
    }
    std::size_t size() const noexcept { return sorted_.size(); }
    conformal_answer interval(double level) const {
        return detail::conformal_of(size(), level, sides_, [&](std::size_t rank) { return sorted_[rank - 1]; });
    }

private:
    std::size_t window_, oldest_ = 0;
    conformal_sides sides_;
    std::vector<double> ring_, sorted_;
};

/// For errors that drift: after T of them the share of misses differs from 1 - level by no more than (1 + gamma) / (gamma T),
/// whatever the errors are. While more is asked for than the errors can tell, the interval is infinite; while less than nothing
/// is, it is empty.
class adaptive_conformal {
public:
    /// `gamma`: how far a miss moves the level; 0.005 is slow, 0.05 fast.
    explicit adaptive_conformal(double level, double gamma = 0.01, std::size_t window = 500, conformal_sides sides = conformal_sides::same)
        : level_{level}, gamma_{gamma}, now_{level}, errors_{window, sides} {}

    /// For the next error.
    conformal_answer interval() const {
        auto const n = errors_.size();
        if (!(level_ > 0 && level_ < 1) || !(gamma_ > 0 && std::isfinite(gamma_))) return detail::no_conformal(no_answer::bad_request, n);
        if (now_ >= 1) return detail::no_conformal(no_answer::too_short, n);
        if (now_ > 0) return errors_.interval(now_);
        conformal_answer empty;
        std::swap(empty.lo, empty.hi);
        empty.n = n;
        return empty;
    }
    /// What the error turned out to be; false, and nothing is done, when it is not finite or the request is bad.
    bool push(double error) {
        auto const told = interval();
        if (told.why == no_answer::bad_request || !std::isfinite(error)) return false;
        bool const hit = told.covers(error);
        ++count_, misses_ += !hit;
        now_ += gamma_ * ((hit ? 0 : 1) - (1 - level_));
        return errors_.push(error);
    }
    double level() const noexcept { return now_; } ///< that is asked for now; may leave 0 … 1 by gamma
    std::size_t count() const noexcept { return count_; }
    std::size_t misses() const noexcept { return misses_; }

private:
    double level_, gamma_, now_;
    rolling_conformal errors_;
    std::size_t count_ = 0, misses_ = 0;
};

} // namespace sb::stats
