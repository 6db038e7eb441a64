// SPDX-License-Identifier: MIT
// A summary of the last so many values, without drift: nothing is ever taken away from a sum.
//
// How it works: two stacks. What comes is merged into the newer one; when the oldest has to go and the older stack is empty,
// the newer one is turned over into it, summary upon summary. So each value is merged twice, however long the window is.
#pragma once
#include <cstddef>
#include <vector>

namespace sb::stats {

/// `Summary` has `merge`; a value comes as a summary of itself.
template <class Summary>
class rolling_summary {
public:
    explicit rolling_summary(std::size_t window) : window_{window} { older_.reserve(window), newer_.reserve(window); }

    void push(Summary const& one) {
        if (window_ == 0) return;
        if (size() == window_) drop();
        newer_.push_back(one);
        newest_.merge(one);
    }
    std::size_t size() const noexcept { return older_.size() + newer_.size(); }
    bool full() const noexcept { return size() == window_; }
    /// Of all in the window, in their order.
    Summary summary() const {
        Summary summary = older_.empty() ? Summary{} : older_.back();
        summary.merge(newest_);
        return summary;
    }

private:
    void drop() {
        if (older_.empty()) {
            Summary summary{};
            for (std::size_t i = newer_.size(); i-- > 0;) {
                Summary with = newer_[i];
                with.merge(summary);
                older_.push_back(summary = with);
            }
            newer_.clear();
            newest_ = {};
        }
        older_.pop_back();
    }
    std::size_t window_;
    std::vector<Summary> older_, newer_; // the top of the first is of all in it; the second holds one a value
    Summary newest_{}; // of all in the second
};

} // namespace sb::stats
