// SPDX-License-Identifier: MIT
// Looks at files with another user's rights, so that root reads nothing for a user who may not.
#pragma once
#include <sb/process/payload_user.hpp>
#include <cstdint>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace sb::process {

/// While it lives, this thread opens files as `who`, without other groups and without root's right to bypass permissions,
/// even where `who` is root. A caller who is not root has no more rights than that anyway, so nothing changes.
class look_as {
public:
    explicit look_as(payload_user const& who) {
        if (::geteuid() != 0) return;
        (void)::prctl(PR_GET_PDEATHSIG, &at_parents_death_);
        auto const count = ::getgroups(0, nullptr);
        groups_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        changed_ = ::getgroups(static_cast<int>(groups_.size()), groups_.data()) >= 0 && call_setgroups(0, nullptr);
        header_ = {_LINUX_CAPABILITY_VERSION_3, 0};
        bool const known = ::syscall(SYS_capget, &header_, before_) == 0;
        file_group_ = ::setfsgid(who.gid), file_user_ = ::setfsuid(who.uid);
        if (!known) return;
        __user_cap_data_struct less[2] = {before_[0], before_[1]};
        for (unsigned const each : {unsigned{CAP_DAC_OVERRIDE}, unsigned{CAP_DAC_READ_SEARCH}, unsigned{CAP_FOWNER}}) less[0].effective &= ~(1U << each);
        dropped_ = ::syscall(SYS_capset, &header_, less) == 0;
        (void)::prctl(PR_SET_PDEATHSIG, at_parents_death_); // a change of user resets it
    }
    look_as(look_as const&) = delete;
    look_as& operator=(look_as const&) = delete;
    ~look_as() {
        if (::geteuid() != 0) return;
        ::setfsuid(static_cast<uid_t>(file_user_)), ::setfsgid(static_cast<gid_t>(file_group_));
        if (dropped_) (void)::syscall(SYS_capset, &header_, before_); // last: with user 0 the kernel has restored its own set of capabilities
        if (changed_) (void)call_setgroups(groups_.size(), groups_.data());
        (void)::prctl(PR_SET_PDEATHSIG, at_parents_death_);
    }

private:
    /// For this thread only, like all the rest; the library's call would change all threads.
    static bool call_setgroups(std::size_t count, gid_t const* groups) { return ::syscall(SYS_setgroups, count, groups) == 0; }

    std::vector<gid_t> groups_;
    __user_cap_header_struct header_{};
    __user_cap_data_struct before_[2]{};
    int at_parents_death_ = 0;
    int file_user_ = 0, file_group_ = 0;
    bool changed_ = false, dropped_ = false;
};

} // namespace sb::process
