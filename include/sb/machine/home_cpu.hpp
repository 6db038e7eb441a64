// SPDX-License-Identifier: MIT
// One processor as the home of processes that wake each other all the time.
//
// How it works: the kernel sends a woken process to an idle processor, if there is one. This is wrong for two processes that
// take turns of a few microseconds: the other processor takes longer to wake up than the turn lasts. So where every worker
// of a session has a processor to itself, worker and reaper stay on it; the payload never does. While others want that
// processor too, the two run wherever there is room.
#pragma once
#include <sb/machine/cpus.hpp>
#include <sb/machine/machine_noise.hpp>
#include <algorithm>
#include <cstddef>
#include <sched.h>
#include <sys/types.h>
#include <utility>

namespace sb::machine {

/// The home of this process, which has no threads, and of one helper at a time.
class home_cpu {
public:
    home_cpu() = default; ///< no home: we run wherever there is room
    /// The `number`-th of the processors that we may use. `neighbours` processes like us have one of the others each.
    home_cpu(std::size_t number, int neighbours) noexcept
        : neighbours_{neighbours}, wanted_{true}, all_{allowed_cpus()}, home_{choose_cpus(1, number)} {}

    /// Before work begins that we share with `helper`.
    void settle(pid_t helper) noexcept {
        if (!wanted_) return;
        if (away_ == is_at_home()) {
            *detail::all_but_home() = all_;
            if (::sched_setaffinity(0, sizeof home_, away_ ? &all_ : &home_) == 0) is_at_home() = !away_;
        }
        if (helper <= 0 || (helper == helper_ && away_ == helper_is_away_)) return;
        if (::sched_setaffinity(helper, sizeof home_, away_ ? &all_ : &home_) == 0) helper_ = helper, helper_is_away_ = away_;
    }
    /// Others want our processor too if there is more work than the neighbours can do. The more often this happens, the
    /// longer we stay away.
    void saw(machine_noise const& meanwhile) noexcept {
        if (!wanted_) return;
        if (meanwhile.others_cpu_s > meanwhile.window_s * (neighbours_ + busy_share)) {
            if (!std::exchange(away_, true)) calm_wanted_s_ = std::min(calm_wanted_s_ * 2, most_calm_s);
            calm_s_ = calm_others_s_ = 0;
        } else if (away_ && (calm_others_s_ += meanwhile.others_cpu_s, (calm_s_ += meanwhile.window_s) >= calm_wanted_s_)) {
            away_ = calm_others_s_ > calm_s_ * (neighbours_ + calm_share);
            calm_s_ = calm_others_s_ = 0;
        }
    }
    /// In a process that was forked by one at home and has other work.
    static void leave() noexcept {
        if (!is_at_home()) return;
        (void)::sched_setaffinity(0, sizeof(cpu_set_t), detail::all_but_home());
        is_at_home() = false;
    }

private:
    // shares of a processor; they include the kernel's own work, and a short look measures them coarsely
    static constexpr double busy_share = 0.3, calm_share = 0.12;
    static constexpr double most_calm_s = 60;
    int neighbours_ = 0;
    bool wanted_ = false, away_ = false;
    cpu_set_t all_{}, home_{};
    double calm_s_ = 0, calm_others_s_ = 0; // since others were last seen
    double calm_wanted_s_ = 0.25; // doubled with each return
    pid_t helper_ = -1; // the helper that was settled last
    bool helper_is_away_ = false;
};

} // namespace sb::machine
