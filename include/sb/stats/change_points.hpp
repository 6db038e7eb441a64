// SPDX-License-Identifier: MIT
// Where a series changes, in whatever way: e-divisive (Matteson and James 2014), with the chance of a false alarm that is asked for.
//
// How it works: the clearest split of all stretches so far is tried. Shuffles keep the values of each stretch but not their order.
// The split stands if a share of at most `alpha` of the shuffles splits as clearly; then its parts become stretches. So a series
// without a change stays whole with a chance of 1 - alpha, provided that its values do not depend on their neighbours.
#pragma once
#include <sb/core/random.hpp>
#include <sb/stats/answer.hpp>
#include <sb/stats/energy_split.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sb::stats {

struct change_request {
    double alpha = 0.05;
    std::size_t least = 5; ///< values between two changes: one wild value is no change
    int shuffles = 199;
    std::uint64_t seed = 1; ///< of the shuffles: the same from the same
};

struct change_point {
    std::size_t at = 0; ///< the first value that is different
    double gain = 0; ///< see split
    double p = 0; ///< of shuffles, this series' own order among them
};

struct change_answer {
    no_answer why = no_answer::none;
    std::size_t n = 0;
    std::vector<change_point> points; ///< in order
    double most_gain = 0, p = 1; ///< of the first split that was tried
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

class change_search {
public:
    change_search(std::span<double const> values, change_request const& asked) : values_{values}, asked_{asked}, shuffled_(values.begin(), values.end()), chance_{asked.seed} {}

    void run(change_answer& found) {
        add(0, values_.size());
        for (bool first = true; !stretches_.empty(); first = false) {
            auto const best = std::max_element(stretches_.begin(), stretches_.end(), [](stretch const& a, stretch const& b) { return a.found.gain < b.found.gain; });
            if (!(best->found.gain > 0)) return; // nothing is apart at all
            double const p = chance_of(best->found.gain);
            if (first) found.most_gain = best->found.gain, found.p = p;
            if (p > asked_.alpha) return;
            auto const parted = *best;
            stretches_.erase(best);
            auto const at = parted.begin + parted.found.at;
            found.points.insert(std::upper_bound(found.points.begin(), found.points.end(), at, [](std::size_t x, change_point const& each) { return x < each.at; }), {at, parted.found.gain, p});
            add(parted.begin, at), add(at, parted.end);
        }
    }

private:
    struct stretch {
        std::size_t begin = 0, end = 0;
        split found;
    };
    void add(std::size_t begin, std::size_t end) {
        if (end - begin >= 2 * asked_.least) stretches_.push_back({begin, end, finder_.best(values_.subspan(begin, end - begin), asked_.least)});
    }
    /// The share of shuffles that part as clearly; as soon as they are too many the share of those so far.
    double chance_of(double gain) {
        int as_clear = 1; // this one
        auto const most = asked_.alpha * (asked_.shuffles + 1);
        for (int done = 1; done <= asked_.shuffles; ++done) {
            as_clear += parts_as_clearly(gain);
            if (as_clear > most) return static_cast<double>(as_clear) / (done + 1);
        }
        return static_cast<double>(as_clear) / (asked_.shuffles + 1);
    }
    bool parts_as_clearly(double gain) {
        for (auto const& each : stretches_) {
            std::span<double> const part{shuffled_.data() + each.begin, each.end - each.begin};
            for (std::size_t i = part.size() - 1; i > 0; --i) std::swap(part[i], part[chance_.below(i + 1)]);
            if (finder_.best(part, asked_.least).gain >= gain * (1 - 1e-12)) return true;
        }
        return false;
    }

    std::span<double const> values_;
    change_request asked_;
    std::vector<double> shuffled_;
    std::vector<stretch> stretches_; // that are long enough to be parted
    split_finder finder_;
    random_stream chance_;
};

} // namespace detail

inline change_answer change_points(std::span<double const> values, change_request const& asked = {}) {
    change_answer answer;
    answer.n = values.size();
    auto const none = [&](no_answer why) { return answer.why = why, answer; };
    if (!(asked.alpha > 0 && asked.alpha < 1) || asked.least < 1 || asked.shuffles < 1) return none(no_answer::bad_request);
    if (!all_finite(values)) return none(no_answer::not_finite);
    if (values.size() < 2 * asked.least || values.empty()) return none(no_answer::too_short);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    if (!std::isfinite((*most - *least) * static_cast<double>(values.size()) * static_cast<double>(values.size()))) return none(no_answer::not_finite);
    if (*least == *most) return answer; // it does not change: this is an answer
    detail::change_search{values, asked}.run(answer);
    return answer;
}

} // namespace sb::stats
