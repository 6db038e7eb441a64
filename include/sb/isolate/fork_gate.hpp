// SPDX-License-Identifier: MIT
// Who may be added to a tree that no control group counts: decided one by one, with a count of who is there.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace sb::isolate {

/// What a process that asks to fork is told; `later`: it is to be asked for again soon.
enum class fork_answer { pass, refuse, later };

/// Holds a limit on processes and threads, and knows the most there were. The clock and the count are the caller's.
///
/// `bound` is never less than how many there are: each that passed is taken to live until a count says otherwise. Counting
/// is needed only when one more than that would be more than ever was, so a tree that stays as large as it is costs little.
/// What passed a moment ago may be under way still and not be seen: where that matters, whoever asks next waits for it.
class fork_gate {
public:
    static constexpr std::int64_t settle_ns = 10'000'000; ///< after so long what passed is seen, or has ended
    static constexpr std::int64_t crowd = 256; ///< from so many on not each is counted

    /// For a run under `limit` (-1: none, and nothing is counted) that begins with this many processes, of which all but
    /// the first are started by somebody who does not ask.
    void begin(std::int64_t limit, std::int64_t first) {
        limit_ = limit, bound_ = first, most_ = possible_ = first;
        refused_ = uncounted_ = 0;
        alone_ = first == 1;
        under_way_.clear();
    }

    /// May `who` fork now? `tree.living()` is how many processes and threads are to be seen, negative when that is unknown;
    /// `tree.may_fork_still(who)`: one that passed is not known to be back.
    template <class Tree>
    fork_answer ask(pid_t who, std::int64_t now_ns, Tree const& tree) {
        if (limit_ < 0 || refused_ > 0) return fork_answer::pass; // the kernel holds it alone from here on: nothing more is to be learnt
        std::erase_if(under_way_, [&](passed const& each) { return each.who == who || now_ns - each.at_ns > settle_ns; });
        bool const in_a_crowd = bound_ >= crowd && bound_ < limit_ && uncounted_ < bound_ / 32; // a count for each who joins would cost the square
        if (bound_ >= std::min(most_, limit_) && !in_a_crowd && !count(tree)) return fork_answer::later;
        if (bound_ >= limit_) {
            ++refused_;
            most_ = std::max(most_, bound_);
            return fork_answer::refuse;
        }
        ++bound_;
        under_way_.push_back({who, now_ns});
        if (bound_ > most_ && in_a_crowd) ++uncounted_, possible_ = std::max(possible_, bound_);
        else most_ = std::max(most_, bound_);
        return fork_answer::pass;
    }

    /// Some passed uncounted: `look` when nobody has asked for a while.
    bool to_be_counted() const noexcept { return uncounted_ > 0 && refused_ == 0; }
    template <class Tree>
    void look(std::int64_t now_ns, Tree const& tree) {
        std::erase_if(under_way_, [&](passed const& each) { return now_ns - each.at_ns > settle_ns; });
        if (count(tree)) most_ = std::max(most_, bound_);
    }

    std::int64_t refused() const noexcept { return refused_; } ///< the first refusal alone: the kernel makes the others
    /// The most there were at once; nothing when it could have been more: some passed uncounted, or were not asked for.
    std::optional<std::int64_t> most() const {
        if (limit_ < 0 || !alone_ || possible_ > most_) return std::nullopt;
        return most_;
    }

private:
    struct passed {
        pid_t who;
        std::int64_t at_ns;
    };

    /// False when what is under way must be waited for.
    template <class Tree>
    bool count(Tree const& tree) {
        auto seen = tree.living();
        if (seen >= 0 && seen < bound_ && std::erase_if(under_way_, [&](passed const& each) { return !tree.may_fork_still(each.who); }) > 0)
            seen = tree.living(); // whom those have made is seen by now
        if (seen < 0) return limit_ = -1, false; // the kernel holds it alone
        auto const at_most = std::clamp(seen + static_cast<std::int64_t>(under_way_.size()), seen, std::max(bound_, seen));
        if (at_most != seen && at_most >= std::min(most_, limit_)) return false;
        bound_ = at_most;
        uncounted_ = 0;
        return true;
    }

    std::int64_t limit_ = -1, bound_ = 0, most_ = 0, possible_ = 0, refused_ = 0, uncounted_ = 0;
    bool alone_ = true;
    std::vector<passed> under_way_;
};

} // namespace sb::isolate
