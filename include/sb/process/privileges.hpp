// SPDX-License-Identifier: MIT
// Privileges over others on the host that a caller may have and that no payload may inherit.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/process/limits.hpp>
#include <sb/process/rlimit_list.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sb::process {

/// For one of our processes, or (0) for this one. Control groups may refuse a process that has real-time scheduling.
inline result<void> give_up_real_time(pid_t who) {
    int const policy = ::sched_getscheduler(who) & ~SCHED_RESET_ON_FORK;
    if (policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE) return {};
    sched_param const usual{0};
    if (::sched_setscheduler(who, SCHED_OTHER, &usual) < 0) return last_error("give up real-time scheduling");
    return {};
}

/// Takes the protection from the OOM killer away from one of our processes. Whatever that process starts cannot get it back:
/// a writer with the right to protect (CAP_SYS_RESOURCE of the host) sets with the score also the lowest score that others
/// may set. So this is done from outside its user namespace. Without that right only the score is set. A score above the
/// usual stays.
inline result<void> give_up_being_spared(pid_t who) {
    unique_fd const spared{::open(cat("/proc/", who, "/oom_score_adj").c_str(), O_RDWR | O_CLOEXEC)};
    char text[16]{};
    if (!spared || ::read(spared.get(), text, sizeof text - 1) <= 0) return {};
    auto const score = cat(std::max(std::atoi(text), 0));
    if (::pwrite(spared.get(), score.data(), score.size(), 0) != static_cast<ssize_t>(score.size())) return last_error("give up protection from the out-of-memory killer");
    return {};
}

/// Puts one of our processes before all others, or back to our own priority. Where each session has a share of the
/// processors (autogroup), a priority counts only within the session. So the session's priority is set too, if the process
/// leads the session. False when we may not.
inline bool put_first(pid_t who, bool first) noexcept {
    if (::setpriority(PRIO_PROCESS, static_cast<id_t>(who), first ? -20 : ::getpriority(PRIO_PROCESS, 0)) != 0) return false;
    if (::getsid(who) != who) return true;
    unique_fd const session{::open(cat("/proc/", who, "/autogroup").c_str(), O_WRONLY | O_CLOEXEC)};
    std::string_view const share = first ? "-20" : "0";
    if (session) (void)!::write(session.get(), share.data(), share.size());
    return true;
}

/// Gives up real-time scheduling, a priority above the usual, priority for the disk, and the rights to them, for this
/// process and all that it starts. A priority below the usual stays: a run started with nice stays nice.
inline result<void> give_up_privileges() {
    SB_CHECK(give_up_real_time(0));
    if (::getpriority(PRIO_PROCESS, 0) < 0 && ::setpriority(PRIO_PROCESS, 0, 0) < 0) return last_error("give up a priority");
    constexpr int of_process = 1, class_shift = 13, real_time = 1;
    if (::syscall(SYS_ioprio_get, of_process, 0) >> class_shift == real_time && ::syscall(SYS_ioprio_set, of_process, 0, 0) < 0) return last_error("give up the disk priority");
    for (auto const& each : rlimit_list{limits{}})
        if (::setrlimit(static_cast<__rlimit_resource>(each.resource), &each.to) < 0) return last_error("lower a resource limit");
    return {};
}

} // namespace sb::process
