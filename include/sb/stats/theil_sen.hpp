// SPDX-License-Identifier: MIT
// The slope of a line that outliers do not move: the median slope of all pairs, with its interval (Theil 1950, Sen 1968).
//
// How it works: the slopes of up to 130,000 pairs are stored and sorted. With more pairs the slope of a given rank is bracketed:
// after a slope b is subtracted, the pairs in the wrong order are those whose slope is less than b, and a sort counts them. The
// first bounds come from pairs drawn at random, the next from straight lines between counts. When few pairs are left between the
// bounds, they are listed. The result is exact, or within 1e-14 of the interquartile range of the slopes.
#pragma once
#include <sb/core/random.hpp>
#include <sb/stats/answer.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/rank_correlation.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace sb::stats {

struct theil_sen_answer {
    no_answer why = no_answer::none;
    double slope = 0, intercept = 0; ///< there also for a perfect fit; the intercept leaves as many values above the line as below
    interval bounds = {}; ///< of the slope; infinite where so few values cannot be that sure
    bool exact = true; ///< the interval's ranks are counted; else by the normal distribution, ties allowed for
    std::size_t n = 0; ///< values
    std::uint64_t pairs = 0; ///< with a slope: not above each other
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

/// Memory that a caller lends: eight bytes for each of up to `laid_out` pairs, else a few dozen for each value.
struct theil_sen_room {
    std::vector<std::size_t> order;
    std::vector<double> x, y, slopes, at_low, spare;
};

inline constexpr std::uint64_t laid_out = 1u << 17;

namespace detail {

/// The slopes of all pairs by their rank. Values lie in the order of x, equal x in the order of y.
class slope_ranks {
public:
    slope_ranks(theil_sen_room& room, std::uint64_t pairs, double middle) : room_{room}, n_{room.x.size()}, pairs_{pairs}, middle_{middle} {
        auto& slopes = room_.slopes;
        slopes.clear();
        if (pairs_ > laid_out) {
            draw();
            return;
        }
        for (std::size_t j = 1; j < n_; ++j)
            for (std::size_t i = 0; i < j && room_.x[i] < room_.x[j]; ++i) slopes.push_back(slope(i, j));
    }
    /// The `k`-th smallest, from 1.
    double nth(std::uint64_t k) {
        auto& slopes = room_.slopes;
        if (pairs_ > laid_out) return close_in(k);
        auto const at = slopes.begin() + static_cast<std::ptrdiff_t>(k - 1);
        std::nth_element(slopes.begin(), at, slopes.end());
        return *at;
    }

private:
    double slope(std::size_t i, std::size_t j) const noexcept { return (room_.y[j] - room_.y[i]) / (room_.x[j] - room_.x[i]); }

    static constexpr std::size_t drawn = 4096;
    static constexpr int most_passes = 500; // a bisection of all doubles takes fewer than a hundred; denormal bounds may stand still
    void draw() {
        random_stream chance{n_}; // moves the work, not what is found
        for (int tries = 0; room_.slopes.size() < drawn && tries < 64 * static_cast<int>(drawn); ++tries) {
            auto const i = static_cast<std::size_t>(chance.below(n_)), j = static_cast<std::size_t>(chance.below(n_));
            if (room_.x[i] != room_.x[j]) room_.slopes.push_back(slope(i, j));
        }
        std::sort(room_.slopes.begin(), room_.slopes.end());
        auto const size = room_.slopes.size();
        steepness_ = room_.slopes[size * 3 / 4] - room_.slopes[size / 4];
        if (steepness_ == 0) steepness_ = room_.slopes.back() - room_.slopes.front();
    }
    void take_off(double b, std::vector<double>& to) const {
        to.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) to[i] = (room_.y[i] - middle_) - b * (room_.x[i] - room_.x[n_ / 2]);
    }
    /// Counts the slopes less than b, without those that differ from it by rounding only.
    std::uint64_t below(double b) {
        take_off(b, room_.at_low);
        return count_inversions(room_.at_low, room_.spare);
    }
    struct bound {
        double at = 0;
        std::uint64_t below = 0;
    };
    double close_in(std::uint64_t k) {
        bound low, high; // low.below < k <= high.below, where they are not at the ends
        auto const size = static_cast<double>(room_.slopes.size());
        for (double reach = 2 / std::sqrt(size);; reach *= 4) { // of the shares of what was drawn
            double const share = (static_cast<double>(k) - 0.5) / static_cast<double>(pairs_), from = share - reach, to = share + reach;
            low = {-std::numeric_limits<double>::infinity(), 0}, high = {std::numeric_limits<double>::infinity(), pairs_};
            if (from > 0) low.at = room_.slopes[static_cast<std::size_t>(from * size)], low.below = below(low.at);
            if (to < 1) high.at = room_.slopes[static_cast<std::size_t>(to * size)], high.below = below(high.at);
            if (low.below < k && k <= high.below) break;
        }
        double ends = 1; // beyond all that was drawn
        while (!std::isfinite(low.at)) {
            double const at = (std::isfinite(high.at) ? std::min(high.at, room_.slopes.front()) : room_.slopes.front()) - ends * reach_of_drawn();
            if (auto const count = below(at); count < k) low = {at, count};
            ends *= 16;
            if (!std::isfinite(at)) return at;
        }
        for (ends = 1; !std::isfinite(high.at); ends *= 16) {
            double const at = std::max(low.at, room_.slopes.back()) + ends * reach_of_drawn();
            if (auto const count = below(at); count >= k) high = {at, count};
            if (!std::isfinite(at)) return at;
        }
        auto const few = std::uint64_t{4} * n_;
        for (int pass = 0; pass < most_passes && high.below - low.below > few && !touch(low.at, high.at); ++pass) {
            auto const before = high.below - low.below;
            double const each = (high.at - low.at) / static_cast<double>(before), target = low.at + each * static_cast<double>(k - low.below);
            for (double const at : {target - each * static_cast<double>(n_), target + each * static_cast<double>(n_)}) narrow(low, high, at, k);
            if (high.below - low.below > before / 2) narrow(low, high, low.at + (high.at - low.at) / 2, k);
        }
        return listed(low, high, k);
    }
    double reach_of_drawn() const noexcept { return std::max(room_.slopes.back() - room_.slopes.front(), std::numeric_limits<double>::min()); }
    /// Whether only rounding lies between them.
    bool touch(double low, double high) const noexcept { return high - low <= 64 * std::numeric_limits<double>::epsilon() * std::max({std::abs(low), std::abs(high), steepness_}); }
    void narrow(bound& low, bound& high, double at, std::uint64_t k) {
        if (!(at > low.at && at < high.at)) return;
        auto const count = below(at);
        if (count < k) low = {at, std::max(count, low.below)};
        else high = {at, std::min(count, high.below)};
    }
    /// The pairs that change their order between two slopes, by insertion; of very many that are equal but for rounding one.
    double listed(bound const& low, bound const& high, std::uint64_t k) {
        take_off(low.at, room_.at_low);
        auto& order = room_.order;
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return room_.at_low[a] < room_.at_low[b]; });
        take_off(high.at, room_.at_low);
        auto& found = room_.spare;
        found.clear();
        bool const one = high.below - low.below > std::uint64_t{4} * n_;
        for (std::size_t i = 1; i < n_ && !(one && !found.empty()); ++i) {
            auto const here = order[i];
            auto at = i;
            for (; at > 0 && room_.at_low[order[at - 1]] > room_.at_low[here]; --at) {
                found.push_back(slope(order[at - 1], here));
                order[at] = order[at - 1];
            }
            order[at] = here;
        }
        if (found.empty()) return high.at;
        if (one) return found.front();
        auto const place = found.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(k - low.below, found.size()) - 1);
        std::nth_element(found.begin(), place, found.end());
        return *place;
    }

    theil_sen_room& room_;
    std::size_t n_;
    std::uint64_t pairs_;
    double middle_; // of y
    double steepness_ = 0; // what rounding is measured by, wild values or not
};

/// The rank from below, and so from above, that bounds the slope; 0 where none does. The k-th slope is above the true one when
/// fewer than k pairs stand in the wrong order after that is taken off.
inline std::uint64_t bounding_rank(theil_sen_room& room, tie_sums const& x, tie_sums const& y, std::uint64_t pairs, double tail, bool& exact) {
    auto const n = room.x.size();
    exact = n <= most_inverted && x.pairs == 0 && y.pairs == 0;
    if (!exact) return static_cast<std::uint64_t>(std::max(0.0, std::floor((static_cast<double>(pairs) - normal_quantile(tail) * std::sqrt(score_variance(static_cast<double>(n), x, y))) / 2)));
    lay_inversion_chances(n, static_cast<std::size_t>(pairs / 2), room.at_low, room.spare);
    std::uint64_t rank = 0;
    for (double sum = room.at_low[0]; sum <= tail && rank < pairs / 2; sum += room.at_low[rank]) ++rank;
    return rank;
}

} // namespace detail

/// The slope of y by x; the points may come in any order.
inline theil_sen_answer theil_sen(std::span<double const> x, std::span<double const> y, double confidence, theil_sen_room& room) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity(), eps = std::numeric_limits<double>::epsilon();
    theil_sen_answer answer;
    auto const n = answer.n = x.size();
    answer.slope = answer.intercept = nan, answer.bounds = {nan, nan};
    answer.why = !(confidence > 0 && confidence < 1) ? no_answer::bad_request : detail::lacks_pairs(x, y);
    if (!answer) return answer;
    auto const range_of = [](std::span<double const> values) {
        auto const [least, most] = std::minmax_element(values.begin(), values.end());
        return *most - *least;
    };
    if (!std::isfinite(range_of(x)) || !std::isfinite(range_of(y))) return answer.why = no_answer::not_finite, answer;
    if (n == 2) return answer.why = no_answer::no_freedom, answer;
    auto const ties_y = detail::lay_ranks(y, room.order, room.y);
    detail::lay_pairs(x, y, room.order, room.x, room.y);
    detail::tie_sums ties_x;
    detail::each_tie(room.x, 0, n, [&](std::size_t, std::size_t count) { ties_x.add(count); });
    answer.pairs = std::uint64_t{n} * (n - 1) / 2 - static_cast<std::uint64_t>(ties_x.pairs);
    auto const rank = detail::bounding_rank(room, ties_x, ties_y, answer.pairs, (1 - confidence) / 2, answer.exact);
    room.spare.assign(y.begin(), y.end()); // what lies in the middle is no wild value
    auto const middle = room.spare.begin() + static_cast<std::ptrdiff_t>(n / 2);
    std::nth_element(room.spare.begin(), middle, room.spare.end());
    double const middle_x = room.x[n / 2], middle_y = *middle;
    detail::slope_ranks slopes{room, answer.pairs, middle_y};
    double const below = slopes.nth((answer.pairs + 1) / 2);
    answer.slope = answer.pairs % 2 ? below : std::midpoint(below, slopes.nth(answer.pairs / 2 + 1));
    if (!std::isfinite(answer.slope)) return answer.slope = nan, answer.why = no_answer::not_finite, answer;
    answer.bounds = rank > 0 ? interval{slopes.nth(rank), slopes.nth(answer.pairs + 1 - rank)} : interval{-infinite, infinite};

    double largest = 0, far = 0;
    for (std::size_t i = 0; i < n; ++i) {
        far = std::max(far, std::abs(answer.slope) * std::abs(room.x[i])), largest = std::max(largest, std::abs(room.y[i]));
        room.y[i] = (room.y[i] - middle_y) - answer.slope * (room.x[i] - middle_x);
    }
    auto const off = std::max_element(room.y.begin(), room.y.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    bool const perfect = std::abs(*off) <= 4 * eps * (largest + far);
    auto const half = room.y.begin() + static_cast<std::ptrdiff_t>(n / 2);
    std::nth_element(room.y.begin(), half, room.y.end());
    double const left = n % 2 ? *half : std::midpoint(*std::max_element(room.y.begin(), half), *half);
    answer.intercept = middle_y + (left - answer.slope * middle_x);
    // all on the line, or so many pairs on parallels to it that the rest does not count
    if (perfect || answer.bounds.lo == answer.bounds.hi) answer.why = no_answer::perfect_fit, answer.bounds = {nan, nan};
    return answer;
}
inline theil_sen_answer theil_sen(std::span<double const> x, std::span<double const> y, double confidence = 0.95) {
    theil_sen_room room;
    return theil_sen(x, y, confidence, room);
}
/// The slope by position: 0, 1, 2, …
inline theil_sen_answer theil_sen(std::span<double const> values, double confidence = 0.95) {
    std::vector<double> places(values.size());
    std::iota(places.begin(), places.end(), 0.0);
    return theil_sen(places, values, confidence);
}

} // namespace sb::stats
