// SPDX-License-Identifier: MIT
// What a reaper tells of the processes of a run: what the kernel counted, without what the reaper did itself.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/process/reaper_messages.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace sb::process {

inline raw_usage usage_of(rusage const& spent) noexcept {
    auto const micros = [](timeval t) { return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_usec; };
    raw_usage used;
    used.user_us = micros(spent.ru_utime), used.system_us = micros(spent.ru_stime);
    used.peak_rss_bytes = std::int64_t{spent.ru_maxrss} * 1024;
    used.read_bytes = std::int64_t{spent.ru_inblock} * 512, used.written_bytes = std::int64_t{spent.ru_oublock} * 512;
    used.processes = 1;
    return used;
}
/// The program did not use what was used before exec.
inline void take_off(raw_usage& from, std::int64_t us) noexcept {
    auto const system = std::clamp<std::int64_t>(us, 0, from.system_us);
    from.system_us -= system;
    from.user_us = std::max<std::int64_t>(from.user_us - (us - system), 0);
}
inline void add(raw_usage& sum, raw_usage const& more) noexcept {
    sum.user_us += more.user_us, sum.system_us += more.system_us;
    sum.peak_rss_bytes = std::max(sum.peak_rss_bytes, more.peak_rss_bytes);
    sum.read_bytes += more.read_bytes, sum.written_bytes += more.written_bytes;
    sum.processes += more.processes;
}
/// System V objects of our namespace; they outlive their makers. Where we may not ask, nobody may make any.
inline std::int64_t ipc_objects() noexcept {
    shm_info shared{};
    seminfo semaphores{};
    msginfo queues{};
    std::int64_t count = 0;
    if (::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&shared)) >= 0) count += shared.used_ids;
    if (::semctl(0, 0, SEM_INFO, &semaphores) >= 0) count += semaphores.semusz;
    if (::msgctl(0, MSG_INFO, reinterpret_cast<msqid_ds*>(&queues)) >= 0) count += queues.msgpool;
    return count;
}
inline std::int64_t own_cpu_ns() noexcept {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Files of /proc that a reaper reads after each run. They are opened while the reaper may still read its own entries.
struct reaper_files {
    unique_fd io = unique_fd{}; ///< its own counts; the kernel adds those of every child that it waited for
    unique_fd last_pid = unique_fd{}; ///< of its process namespace

    static reaper_files open() {
        auto const file = [](char const* path) { return unique_fd{::open(path, O_RDONLY | O_CLOEXEC)}; };
        return {file("/proc/self/io"), file("/proc/sys/kernel/ns_last_pid")};
    }
};

/// Reads the counts of the reaper's own process, of which it is told what it read itself.
class reaper_figures {
public:
    explicit reaper_figures(reaper_files files) : files_{std::move(files)} { counted_ = read_counts(); }

    /// The reaper has read so many bytes from a file.
    void own_read(std::int64_t bytes) noexcept { own_reads_ += bytes; }
    /// Of one process and its threads alone; -1 when it cannot be read.
    std::int64_t processor_time(pid_t pid) noexcept {
        char path[32] = "/proc/", text[512];
        auto* const end = std::to_chars(path + 6, path + sizeof path - 8, pid).ptr;
        std::memcpy(end, "/stat", 6);
        unique_fd const file{::open(path, O_RDONLY | O_CLOEXEC)};
        auto const n = file ? ::read(file.get(), text, sizeof text) : -1;
        if (n <= 0) return -1;
        own_reads_ += n;
        std::string_view rest{text, static_cast<std::size_t>(n)};
        rest.remove_prefix(std::min(rest.rfind(')'), rest.size() - 1) + 1); // its name may contain any character
        std::int64_t ticks = 0;
        for (int field = 2; field <= 15; ++field) { // counted from 1; a blank precedes each
            auto const blank = rest.find(' ');
            if (field == 14 || field == 15) {
                std::int64_t one = 0;
                if (std::from_chars(rest.data(), rest.data() + rest.size(), one).ec != std::errc{}) return -1;
                ticks += one;
            }
            if (blank == std::string_view::npos) return -1;
            rest.remove_prefix(blank + 1);
        }
        return ticks * 1'000'000 / std::max(::sysconf(_SC_CLK_TCK), 1L);
    }
    /// What was added to our own counts since the last look, without our own reads.
    void count_traffic(raw_traffic& into) noexcept {
        auto const own = own_reads_;
        auto const now = read_counts(), before = std::exchange(counted_, now);
        if (before.read_chars < 0 || now.read_chars < 0) return;
        into.read_chars = std::max<std::int64_t>(now.read_chars - before.read_chars - own, 0);
        into.written_chars = now.written_chars - before.written_chars;
        into.cancelled_bytes = now.cancelled_bytes - before.cancelled_bytes;
    }
    std::int64_t last_pid() noexcept {
        char text[32];
        auto const n = files_.last_pid ? ::pread(files_.last_pid.get(), text, sizeof text, 0) : -1;
        std::int64_t pid = -1;
        if (n > 0) own_reads_ += n, (void)std::from_chars(text, text + n, pid);
        return pid;
    }

private:
    struct traffic_counts {
        std::int64_t read_chars = -1, written_chars = -1, cancelled_bytes = -1;
    };
    traffic_counts read_counts() noexcept {
        traffic_counts all;
        char text[512];
        auto const n = files_.io ? ::pread(files_.io.get(), text, sizeof text, 0) : -1;
        if (n <= 0) return all;
        std::string_view const whole{text, static_cast<std::size_t>(n)};
        auto const field = [&](std::string_view name, std::int64_t& to) {
            auto const at = whole.find(name);
            if (at != std::string_view::npos) (void)std::from_chars(whole.data() + at + name.size(), whole.data() + whole.size(), to);
        };
        field("rchar: ", all.read_chars);
        field("wchar: ", all.written_chars);
        field("cancelled_write_bytes: ", all.cancelled_bytes);
        own_reads_ = n; // the kernel has counted that too by the next look
        return all;
    }

    reaper_files files_;
    std::int64_t own_reads_ = 0; // bytes that we read from files since the last look at our counts
    traffic_counts counted_;
};

} // namespace sb::process
