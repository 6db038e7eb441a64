// SPDX-License-Identifier: MIT
// Memory that the kernel keeps for a run and charges to nobody: file locks, whole pages of which a socket uses one
// byte, and data held by sockets that appear in no list.
//
// How it works: a file lock takes some 200 bytes that no group counts. Data that waits in a socket lies in pages of 32 KiB
// but counts by the byte. So a program can send single bytes through one socket, and much data that is not kept through
// another: then a queue of a few MiB keeps a gigabyte. The kernel has no number for any of these. But machine memory that is
// neither free nor used by processes and files is the kernel's own. While a run lasts, this is read now and then. When it
// has grown by as much as a run may have, we check whether the run can be the cause: does it have thousands of locks, or
// sockets in which enough waits, or could wait?
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <sb/machine/file_count.hpp>
#include <sb/machine/socket_memory.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

namespace sb::machine {

namespace detail {

/// From /proc/meminfo, in bytes: all memory, and the part that is neither free nor known to be in use.
struct machine_memory {
    std::int64_t total = 0, kernels = 0;

    static std::optional<machine_memory> of(std::string_view meminfo) {
        constexpr std::array<std::string_view, 13> known{"MemFree", "Buffers", "Cached", "SwapCached", "AnonPages", "KReclaimable", "KernelStack",
                                                         "PageTables", "SecPageTables", "Percpu", "Zswap", "Hugetlb", "Balloon"};
        std::int64_t total = 0, used = 0;
        split(meminfo, '\n', [&](std::string_view line) {
            auto const kib = number_after(line, ":");
            if (!kib) return;
            auto const name = line.substr(0, line.find(':'));
            if (name == "MemTotal") total = *kib << 10;
            else if (std::find(known.begin(), known.end(), name) != known.end()) used += *kib << 10;
        });
        return total > 0 ? std::optional{machine_memory{total, total - used}} : std::nullopt;
    }
};

/// Free pages that each processor keeps for itself, in bytes, from /proc/zoneinfo. To the machine they count as used.
inline std::int64_t free_on_processors(std::string_view zoneinfo) noexcept {
    constexpr std::string_view name = " count:";
    std::int64_t pages = 0;
    for (auto at = zoneinfo.find(name); at != zoneinfo.npos; at = zoneinfo.find(name)) {
        zoneinfo.remove_prefix(at + name.size());
        pages += take_number(zoneinfo).value_or(0);
    }
    return pages * ::sysconf(_SC_PAGESIZE);
}

/// The owner of a lock, from a line of /proc/locks: "1: POSIX  ADVISORY  WRITE 4242 00:1b:935 574 574". -1: it belongs to an
/// open file; 0: to nobody.
inline pid_t holder_of(std::string_view line) noexcept {
    pid_t pid = 0;
    for (std::string_view const how : {" READ ", " WRITE "})
        if (auto const holder = number_after(line, how)) pid = static_cast<pid_t>(*holder);
    return pid;
}

/// Counts a run's locks in the first part of the list. The list is long only where somebody has many locks.
class lock_census {
public:
    static constexpr int most_lines = 20'000;

    explicit lock_census(pid_t reaper) : run_{reaper} {}

    int count() {
        unique_fd const list{::open("/proc/locks", O_RDONLY | O_CLOEXEC)};
        std::string rest;
        char block[1 << 14];
        for (int lines = 0; list && lines < most_lines;) {
            auto const n = ::read(list.get(), block, sizeof block);
            if (n <= 0) break;
            rest.append(block, static_cast<std::size_t>(n));
            std::size_t from = 0;
            for (auto end = rest.find('\n'); end != rest.npos; from = end + 1, end = rest.find('\n', from), ++lines)
                if (auto const pid = holder_of(std::string_view{rest}.substr(from, end - from)); pid != 0) count_ += is_ours(pid);
            rest.erase(0, from);
        }
        return count_;
    }

private:
    /// The lock of an open file does not name its owner, nor does a lock whose process has ended. Such locks count for a run
    /// that has such locks.
    bool is_ours(pid_t pid) {
        if (pid < 0) return has_unsigned();
        auto const [at, is_new] = known_.try_emplace(pid);
        if (is_new) at->second = run_.holds(pid) || (::kill(pid, 0) != 0 && errno == ESRCH && has_unsigned());
        return at->second;
    }
    bool has_unsigned() {
        if (!has_unsigned_) has_unsigned_ = run_.has_locks_of_files(longest_search_ns);
        return *has_unsigned_;
    }
    static constexpr std::int64_t longest_search_ns = 50'000'000; // only a run with many locks makes the search last longer
    file_census run_;
    std::optional<bool> has_unsigned_;
    std::map<pid_t, bool> known_;
    int count_ = 0;
};

} // namespace detail

/// Checks a run every few milliseconds, once it has lasted that long.
class kernel_memory_watch {
public:
    static constexpr std::int64_t shortest_rest_ns = 5'000'000, first_rest_ns = 10'000'000, longest_rest_ns = 50'000'000;
    static constexpr std::int64_t least_told = std::int64_t{32} << 20; ///< smaller growth cannot be told from the normal variation of a machine
    static constexpr int many_locks = 5000; ///< of a run's, in a part of the list

    /// `reaper`: process 1 of the sandbox. `cpus`: processors on which the run makes the kernel take memory. Costs no system
    /// call.
    void begin(socket_place const& at, pid_t reaper, int cpus, std::int64_t now_ns) noexcept {
        at_ = at, reaper_ = reaper, bytes_a_ns_ = 4 * std::max(cpus, 1), least_ = -1;
        due_ns_ = at.counts < 0 || at.most_uncounted < 0 || reaper <= 0 ? -1 : now_ns + first_rest_ns;
    }
    /// When to look next; -1: never.
    std::int64_t due_ns() const noexcept { return due_ns_; }
    /// True when the run must be ended.
    bool look(std::int64_t now_ns) {
        if (due_ns_ < 0 || now_ns < due_ns_) return false;
        if (!memory_) memory_ = unique_fd{::open("/proc/meminfo", O_RDONLY | O_CLOEXEC)};
        char text[1 << 12];
        auto const n = memory_ ? ::pread(memory_.get(), text, sizeof text, 0) : -1;
        auto const machine = detail::machine_memory::of({text, n > 0 ? static_cast<std::size_t>(n) : 0});
        if (!machine) return due_ns_ = -1, false;
        auto const zones = read_file("/proc/zoneinfo");
        auto const begun = monotonic_ns();
        auto const seek = learn(*machine, zones.has_error() ? 0 : detail::free_on_processors(*zones), now_ns);
        bool const over = (seek.locks && (detail::lock_census{reaper_}.count() >= many_locks || unknown_sockets(at_) * most_held_back >= at_.most_uncounted)) || (seek.sockets && most_kept_by_sockets(at_) >= at_.share.uncounted_bytes / 4);
        due_ns_ = std::max(due_ns_, now_ns + 10 * (monotonic_ns() - begun));
        return over;
    }

    /// Possible causes of the growth.
    struct causes {
        bool locks = false, sockets = false;
        friend bool operator==(causes const&, causes const&) = default;
    };
    /// The kernel has so much memory, and so much of it is free on processors. Locks are checked when the growth reaches the
    /// run's own share. Sockets, which all programs have, are checked when it reaches half of a tenth of the machine's
    /// memory.
    causes learn(detail::machine_memory const& machine, std::int64_t free, std::int64_t now_ns) noexcept {
        auto const kernels = machine.kernels - free, half = machine.total / 20;
        least_ = least_ < 0 ? kernels : std::min(least_, kernels);
        auto const grown = kernels - least_, locks = std::min(std::max(at_.most_uncounted, least_told), half);
        auto const left = grown < locks ? locks - grown : half - grown; // when both are exceeded, others are usually the cause
        due_ns_ = now_ns + (left > 0 ? std::clamp(left / bytes_a_ns_, shortest_rest_ns, longest_rest_ns) : longest_rest_ns);
        return {grown >= locks, grown >= half};
    }

private:
    socket_place at_;
    pid_t reaper_ = -1;
    unique_fd memory_;
    std::int64_t bytes_a_ns_ = 4; // the kernel takes pages more slowly than that
    std::int64_t least_ = -1, due_ns_ = -1;
};

} // namespace sb::machine
