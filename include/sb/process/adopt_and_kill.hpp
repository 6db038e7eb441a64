// SPDX-License-Identifier: MIT
// Adopts the processes that a run left behind, and kills those that are our children. The reaper repeats that until there are none.
//
// How it works: this process is a child subreaper. So every process that a payload leaves behind becomes our child when its
// own parent dies, however often it forked, called setsid or ignored signals. Killing our children therefore brings the next
// generation up to us. When `wait` answers ECHILD, nothing is left. This needs no complete list of processes.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <charconv>
#include <csignal>
#include <dirent.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace sb::process {

/// From now on orphans of our descendants become children of this process, not of init.
inline result<void> adopt_orphans() {
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return last_error("prctl", "PR_SET_CHILD_SUBREAPER");
    return {};
}

namespace detail {

/// Parent of `pid`, -1 when it is gone.
inline pid_t parent_of(std::string_view pid) {
    auto const stat = read_file(cat("/proc/", pid, "/stat"));
    if (stat.has_error()) return -1;
    auto const name_end = stat->rfind(')'); // the name may contain any character, blanks and brackets too
    if (name_end == std::string::npos || name_end + 4 >= stat->size()) return -1;
    pid_t parent = -1;
    std::from_chars(stat->data() + name_end + 4, stat->data() + stat->size(), parent);
    return parent;
}

} // namespace detail

/// Calls `use(pid)` for each child of this thread. Reads one file where the kernel has it, else looks at all processes.
template <class Use>
void each_child(Use use) {
    if (auto const list = read_file("/proc/thread-self/children"); !list.has_error()) {
        split(trim(*list), ' ', [&](std::string_view word) {
            pid_t pid = 0;
            if (std::from_chars(word.data(), word.data() + word.size(), pid).ec == std::errc{} && pid > 1) use(pid);
        });
        return;
    }
    DIR* const entries = ::opendir("/proc");
    if (!entries) return;
    while (auto const* const entry = ::readdir(entries)) {
        std::string_view const name{entry->d_name};
        pid_t pid = 0;
        auto const [end, code] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (code == std::errc{} && end == name.data() + name.size() && detail::parent_of(name) == ::getpid()) use(pid);
    }
    ::closedir(entries);
}

/// Sends SIGKILL to every child of ours and to its process group. A group dies as one: no fork escapes between the deaths of
/// its members. These groups never contain a stranger: a group lives in one session, and each run has its own session.
inline void kill_children() {
    auto const ours = ::getpgrp();
    each_child([&](pid_t child) {
        if (auto const group = ::getpgid(child); group > 1 && group != ours) ::kill(-group, SIGKILL);
        ::kill(child, SIGKILL);
    });
}

} // namespace sb::process
