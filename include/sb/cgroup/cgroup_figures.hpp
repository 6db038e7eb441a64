// SPDX-License-Identifier: MIT
// What a run used, as its control group counted it: every process of the tree, including those that nobody waited for.
#pragma once
#include <sb/cgroup/cgroup_text.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace sb::cgroup {

/// Figures between begin() and end(); no value where the kernel gives none. On v1 the processor times include everything
/// else in the group, and both memory figures include its memory.
struct group_figures {
    std::optional<std::int64_t> cpu_ns;
    std::optional<std::int64_t> cpu_user_ns, cpu_system_ns; ///< the same, divided by timer ticks: inaccurate below some 100 ticks
    std::optional<std::int64_t> memory_peak_bytes; ///< the most that was charged, page cache included; in steps of 256 KiB per processor, which the base may include already
    std::optional<std::int64_t> memory_base_bytes; ///< charged at begin()
    std::optional<std::int64_t> socket_peak_bytes; ///< the most that TCP and UDP sockets held, where the peak does not include it: v1
    std::optional<std::int64_t> memory_limit_hits; ///< how often the kernel reclaimed memory or killed a process at the limit; v1 may not say
    std::optional<std::int64_t> oom_kills;
    std::optional<std::int64_t> fork_refusals;
    std::optional<std::int64_t> max_pids; ///< processes and threads at once, without those that were there before
    std::optional<std::int64_t> throttled_ns, throttled_periods;
};

/// What is charged to a group now.
struct group_charges {
    std::optional<std::int64_t> anon_bytes, file_bytes, shmem_bytes, kernel_bytes;
};

/// A folder of a group, for one controller.
struct group_place {
    int folder = -1;
    int version = 0; ///< 0: the controller is missing
};
using group_places = std::array<group_place, std::size(all_controllers)>;

namespace detail {

/// A file of a group. It is opened once and read from its beginning each time.
class group_file {
public:
    group_file() = default;
    group_file(group_place const& in, char const* name, int flags = O_RDONLY)
        : fd_{in.folder < 0 ? -1 : ::openat(in.folder, name, flags | O_CLOEXEC)} {}
    explicit operator bool() const noexcept { return bool{fd_}; }
    int fd() const noexcept { return fd_.get(); }
    bool write(std::string_view text) const noexcept {
        return fd_ && retry([&] { return ::pwrite(fd_.get(), text.data(), text.size(), 0); }) == static_cast<ssize_t>(text.size());
    }
    /// At most the size of `into`; empty on failure.
    template <std::size_t Size>
    std::string_view read(char (&into)[Size]) const noexcept {
        auto const n = fd_ ? retry([&] { return ::pread(fd_.get(), into, Size, 0); }) : -1;
        return n > 0 ? std::string_view{into, static_cast<std::size_t>(n)} : std::string_view{};
    }
    std::optional<std::int64_t> number() const noexcept {
        char text[32];
        return lone_number(read(text));
    }
    std::optional<std::int64_t> number(std::string_view key) const noexcept {
        char text[1024];
        return keyed_number(read(text), key);
    }

private:
    unique_fd fd_;
};

} // namespace detail

/// Reads the figures of one group; on v2, the payload's group alone.
class group_meter {
public:
    group_meter() = default;
    explicit group_meter(group_places const& in) {
        auto const& memory = in[static_cast<std::size_t>(controller::memory)];
        auto const& pids = in[static_cast<std::size_t>(controller::pids)];
        auto const& cpu = in[static_cast<std::size_t>(controller::cpu)];
        auto const& account = in[static_cast<std::size_t>(controller::cpuacct)];
        memory_version_ = memory.version;
        if (memory.version == 1) {
            usage_ = {memory, "memory.usage_in_bytes"};
            peak_ = {memory, "memory.max_usage_in_bytes", O_RDWR};
            hits_ = {memory, "memory.failcnt"};
            hits_swap_ = {memory, "memory.memsw.failcnt"}; // with two equal limits the sum fails first
            oom_ = {memory, "memory.oom_control"};
            kernel_ = {memory, "memory.kmem.usage_in_bytes"};
            sockets_now_ = {memory, "memory.kmem.tcp.usage_in_bytes"};
            sockets_ = {memory, "memory.kmem.tcp.max_usage_in_bytes", O_RDWR};
        } else if (memory.version == 2) {
            usage_ = {memory, "memory.current"};
            peak_ = {memory, "memory.peak", O_RDWR};
            resets_ = peak_.write("0"); // from Linux 6.12 on this begins a new peak for this descriptor
            if (!peak_) peak_ = {memory, "memory.peak"};
            oom_ = {memory, "memory.events"};
        }
        if (memory.version) stat_ = {memory, "memory.stat"};
        if (pids.version) {
            pids_now_ = {pids, "pids.current"};
            pids_peak_ = {pids, "pids.peak"};
            pids_events_ = {pids, "pids.events"};
        }
        if (cpu.version) throttle_ = {cpu, "cpu.stat"};
        throttle_version_ = cpu.version;
        if (account.version == 1) {
            cpu_ = {account, "cpuacct.usage"};
            user_ = {account, "cpuacct.usage_user"};
            system_ = {account, "cpuacct.usage_sys"};
        } else if (account.version == 2) cpu_stat_ = {account, "cpu.stat"};
    }

    /// False where the peak of a used group cannot be reset: then only a new group has a peak of its own.
    bool peak_begins_anew() const noexcept { return memory_version_ != 2 || resets_; }
    /// Bytes charged now.
    std::int64_t charged_now() const noexcept { return usage_.number().value_or(0); }
    /// The kernel's own part of that, where a separate number exists: v1.
    std::optional<std::int64_t> kernel_now() const noexcept { return kernel_.number(); }
    /// Bytes that were charged when the run began.
    std::optional<std::int64_t> base() const noexcept { return base_.memory; }
    /// Processes and threads in the group that are not the payload's. They are counted after others came or went. Later a
    /// child may already be waiting there for its run.
    std::optional<std::int64_t> residents() noexcept {
        if (!residents_) residents_ = pids_now_.number();
        return residents_;
    }

    /// Sets which limits are in force: hits are counted for those alone.
    void watch(bool memory_limit, bool cpu_limit) noexcept {
        if (memory_limit != watches_memory_ || cpu_limit != watches_cpu_) warm_ = false;
        watches_memory_ = memory_limit, watches_cpu_ = cpu_limit;
    }

    /// Processes other than the payload came, went or worked in the group since the last run.
    void forget() noexcept { warm_ = false, residents_.reset(); }

    void begin() noexcept {
        if (memory_version_ == 1 || resets_) (void)peak_.write("0");
        if (!warm_) {
            base_ = {};
            base_.residents = residents();
            base_.pids_peak = pids_peak_.number();
            count(base_);
        } else { // since the last run ended nothing was killed, refused or throttled here: those counts are unchanged
            base_ = last_;
            if (cpu_stat_) count_cpu(base_);
            else base_.cpu = cpu_.number();
        }
        base_.memory = usage_.number();
        if (sockets_held_) { // sockets of the last run may still be closing
            (void)sockets_.write("0");
            sockets_base_ = sockets_now_.number().value_or(0);
            sockets_held_ = sockets_base_ > 0;
        }
    }

    group_figures end() noexcept {
        counts now;
        count(now);
        group_figures got;
        auto const since = [](std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
            return a && b ? std::optional{*a - *b} : std::nullopt;
        };
        got.cpu_ns = since(now.cpu, base_.cpu);
        got.cpu_user_ns = since(now.user, base_.user);
        got.cpu_system_ns = since(now.system, base_.system);
        if (cpu_) share_out(got);
        got.memory_peak_bytes = peak_.number();
        got.memory_base_bytes = base_.memory;
        got.memory_limit_hits = memory_version_ == 1 && now.hits ? *now.hits - base_.hits.value_or(0) : since(now.hits, base_.hits);
        got.oom_kills = since(now.oom, base_.oom);
        got.fork_refusals = since(now.refused, base_.refused);
        // the peak of all runs so far is this run's only if it rose during this run
        now.residents = base_.residents;
        now.pids_peak = pids_peak_.number();
        if (now.pids_peak && base_.residents && base_.pids_peak && *now.pids_peak > *base_.pids_peak) got.max_pids = *now.pids_peak - *base_.residents;
        got.throttled_ns = since(now.throttled, base_.throttled);
        got.throttled_periods = since(now.periods, base_.periods);
        last_ = now;
        warm_ = true;
        return got;
    }

    int socket_count() const noexcept { return sockets_now_.fd(); }
    /// The most that TCP and UDP sockets held since begin(). On v1 the memory figures do not include it; on v2 they do.
    std::optional<std::int64_t> socket_peak() noexcept {
        auto peak = sockets_.number();
        sockets_held_ = sockets_held_ || peak.value_or(0) > 0;
        if (peak) *peak = std::max<std::int64_t>(*peak - sockets_base_, 0);
        return peak;
    }

    /// At the end of a run, without page cache that an earlier run left. Costs more than all the rest, because the kernel
    /// first adds up the counts of each processor.
    group_charges charged() noexcept {
        char block[8192];
        auto const text = stat_.read(block);
        group_charges got;
        if (memory_version_ == 2) {
            got.anon_bytes = keyed_number(text, "anon");
            got.file_bytes = keyed_number(text, "file");
            got.kernel_bytes = keyed_number(text, "kernel");
        } else {
            got.anon_bytes = keyed_number(text, "rss");
            got.file_bytes = keyed_number(text, "cache");
            got.kernel_bytes = kernel_.number();
        }
        got.shmem_bytes = keyed_number(text, "shmem");
        if (got.file_bytes && got.shmem_bytes) *got.file_bytes -= *got.shmem_bytes; // the kernel counts it in both
        if (got.file_bytes) {
            auto const left = std::min(std::exchange(file_left_, *got.file_bytes), base_.memory.value_or(0)); // it may have been reclaimed since
            *got.file_bytes = std::max<std::int64_t>(*got.file_bytes - left, 0);
        }
        return got;
    }

private:
    struct counts {
        std::optional<std::int64_t> memory, residents, pids_peak; // values at the beginning
        std::optional<std::int64_t> cpu, user, system, hits, oom, refused, throttled, periods; // these only grow
    };

    void count(counts& into) const noexcept {
        char text[1024];
        if (memory_version_ == 1) {
            if (watches_memory_) into.hits = hits_.number();
            if (into.hits) *into.hits += hits_swap_.number().value_or(0);
            if (into.hits == 0) into.hits.reset(); // Linux 6.18 never counts, so 0 is no answer
            into.oom = oom_.number("oom_kill");
        }
        else if (memory_version_ == 2) {
            auto const events = oom_.read(text);
            into.hits = keyed_number(events, "max");
            into.oom = keyed_number(events, "oom_kill");
        }
        into.refused = pids_events_.number("max");
        if (throttle_ && watches_cpu_) {
            auto const stat = throttle_.read(text);
            into.periods = keyed_number(stat, "nr_throttled");
            into.throttled = throttle_version_ == 1 ? keyed_number(stat, "throttled_time") : in_ns(keyed_number(stat, "throttled_usec"));
        }
        count_cpu(into);
    }
    void count_cpu(counts& into) const noexcept {
        char text[1024];
        if (cpu_stat_) {
            auto const stat = cpu_stat_.read(text);
            into.cpu = in_ns(keyed_number(stat, "usage_usec"));
            into.user = in_ns(keyed_number(stat, "user_usec"));
            into.system = in_ns(keyed_number(stat, "system_usec"));
        } else into.cpu = cpu_.number(), into.user = user_.number(), into.system = system_.number();
    }
    /// v1 counts ticks for each of the two, and the ticks do not add up to the measured time. On v2 the kernel has done this
    /// already.
    static void share_out(group_figures& got) noexcept {
        auto const sampled = got.cpu_user_ns && got.cpu_system_ns ? *got.cpu_user_ns + *got.cpu_system_ns : 0;
        if (!got.cpu_ns || sampled <= 0) {
            got.cpu_user_ns.reset(), got.cpu_system_ns.reset(); // no tick happened during the run
            return;
        }
        got.cpu_user_ns = static_cast<std::int64_t>(static_cast<double>(*got.cpu_ns) * static_cast<double>(*got.cpu_user_ns) / static_cast<double>(sampled));
        got.cpu_system_ns = *got.cpu_ns - *got.cpu_user_ns;
    }
    static std::optional<std::int64_t> in_ns(std::optional<std::int64_t> us) noexcept {
        return us ? std::optional{*us * 1000} : std::nullopt;
    }

    detail::group_file usage_, peak_, hits_, hits_swap_, oom_, kernel_, sockets_, sockets_now_, stat_, pids_now_, pids_peak_, pids_events_, throttle_, cpu_, user_, system_, cpu_stat_;
    int memory_version_ = 0, throttle_version_ = 0;
    bool resets_ = false;
    bool sockets_held_ = true; // sockets held something at the last look
    std::int64_t sockets_base_ = 0;
    bool warm_ = false; // last_ belongs to the previous run, and to the same files
    bool watches_memory_ = false, watches_cpu_ = false;
    counts base_, last_;
    std::optional<std::int64_t> residents_;
    std::int64_t file_left_ = 0; // page cache charged when it was last read
};

} // namespace sb::cgroup
