// SPDX-License-Identifier: MIT
// A process whose root holds nothing but a /proc: no control group, no /sys and no folder of the host.
#pragma once
#include "support/child.hpp"
#include "support/kernel.hpp"
#include "support/payload.hpp"
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sb::test {

namespace detail {
inline char const* leave_for_bare_root() {
    auto const user = std::to_string(::geteuid()), group = std::to_string(::getegid());
    if (::unshare(CLONE_NEWNS | (user == "0" ? 0 : CLONE_NEWUSER)) != 0) return "unshare";
    if (user != "0") {
        (void)payload::write_whole("/proc/self/setgroups", "deny");
        if (!payload::write_whole("/proc/self/uid_map", user + " " + user + " 1") || !payload::write_whole("/proc/self/gid_map", group + " " + group + " 1")) return "map a user";
    }
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || ::mount("none", "/tmp", "tmpfs", 0, "mode=0755") != 0) return "mount a tmpfs";
    if (::mkdir("/tmp/proc", 0755) != 0 || ::mkdir("/tmp/old", 0755) != 0 || ::mount("/proc", "/tmp/proc", nullptr, MS_BIND | MS_REC, nullptr) != 0) return "bind /proc";
    if (::syscall(SYS_pivot_root, "/tmp", "/tmp/old") != 0 || ::chdir("/") != 0 || ::umount2("/old", MNT_DETACH) != 0 || ::rmdir("/old") != 0) return "pivot_root";
    return nullptr;
}
} // namespace detail

/// The text that `work` gives there, in a process of its own. Ask NEEDS_ISOLATION before.
template <class Work>
std::string in_bare_root(Work work) {
    return told_by_child([&] {
        auto const* const wrong = detail::leave_for_bare_root();
        return wrong ? std::string{"cannot make a bare root: "} + wrong : work();
    });
}

} // namespace sb::test
