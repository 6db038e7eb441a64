// SPDX-License-Identifier: MIT
// Processes of a test inside a control group of its own, whichever kind the host has.
#pragma once
#include "support/catch.hpp"
#include "support/kernel.hpp"
#include <sb/cgroup/cgroup.hpp>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <linux/sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#define SB_TEST_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SB_TEST_SANITIZED 1
#else
#define SB_TEST_SANITIZED 0
#endif

namespace sb::test {

/// The host's groups, in the place that SANDBOX_CGROUP names where there is one.
inline cgroup::cgroup_host groups_here(std::string id = cgroup::random_id()) {
    char const* const named = std::getenv("SANDBOX_CGROUP");
    auto found = cgroup::cgroup_host::find(std::move(id), named ? named : "");
    INFO((found.has_error() ? found.error().what : std::string{}));
    REQUIRE_FALSE(found.has_error());
    return std::move(*found);
}

/// A test needs a group that is not ours; where the kernel gives it for sure, we have failed to find it.
inline bool lacks(cgroup::cgroup_host const& host, std::initializer_list<cgroup::controller> needed) {
    for (auto const c : needed) {
        if (host.has(c)) continue;
        INFO(name_of(c) << ": " << host.why_not(c));
        REQUIRE_FALSE(kernel::gives_group(std::string{name_of(c)}));
        WARN("SKIPPED: no " << name_of(c) << " group is ours");
        return true;
    }
    return false;
}
inline bool lacks_all(cgroup::cgroup_host const& host) { return host.kind() == cgroup::cgroup_kind::none && lacks(host, {cgroup::controller::memory, cgroup::controller::pids, cgroup::controller::cpu}); }

/// A sanitizer keeps memory of its own, in the group too.
inline constexpr bool sanitized = SB_TEST_SANITIZED;

/// Runs `work` in a process of the payload; it starts when it is where it belongs. `work` gives the exit status.
template <class Work>
pid_t start_in(cgroup::cgroup& group, Work work) {
    int gate[2];
    REQUIRE(::pipe2(gate, O_CLOEXEC) == 0);
    clone_args how{};
    how.exit_signal = SIGCHLD;
    if (group.run_leaf() >= 0) {
        how.flags = CLONE_INTO_CGROUP;
        how.cgroup = static_cast<unsigned>(group.run_leaf());
    }
    auto const child = static_cast<pid_t>(::syscall(SYS_clone3, &how, sizeof how));
    if (child == 0) {
        ::close(gate[1]);
        char c;
        (void)!::read(gate[0], &c, 1);
        ::_exit(work());
    }
    REQUIRE(child > 0);
    if (group.run_leaf() < 0) {
        auto const moved = group.enter(child);
        INFO((moved.has_error() ? moved.error().what : std::string{}));
        CHECK_FALSE(moved.has_error());
    }
    ::close(gate[1]);
    ::close(gate[0]);
    return child;
}

inline int wait_for(pid_t child) {
    int status = 0;
    (void)retry([&] { return ::waitpid(child, &status, 0); });
    return status;
}

/// Divides the group on v2, by a process that is gone again; on v1 there is nothing to divide.
inline result<void> settle(cgroup::cgroup& group) {
    auto const child = ::fork();
    if (child == 0) ::pause(), ::_exit(0);
    auto done = group.settle(child);
    ::kill(child, SIGKILL);
    wait_for(child);
    return done;
}

/// Touches so many bytes; null when the system refused.
inline char* touched(std::size_t bytes) {
    void* const all = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    auto* const at = static_cast<char volatile*>(all);
    for (std::size_t i = 0; i < bytes; i += 4096) at[i] = 1;
    return static_cast<char*>(all);
}

/// Burns processor time of this thread, nearly all of it outside the kernel.
inline void burn(std::int64_t ns) {
    for (timespec now{};;) {
        for (int volatile i = 0; i < 20'000;) i = i + 1;
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        if (std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec >= ns) return;
    }
}

} // namespace sb::test
