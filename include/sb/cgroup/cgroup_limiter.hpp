// SPDX-License-Identifier: MIT
// Writes the limits of a control group into its files, and reads back what the kernel took.
#pragma once
#include <sb/cgroup/cgroup_figures.hpp>
#include <sb/cgroup/cgroup_limits.hpp>
#include <sb/cgroup/cgroup_text.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <optional>
#include <string>
#include <utility>

namespace sb::cgroup {

/// Opens the files once, and writes only what differs from what was written before. The meter is that of the same group.
class cgroup_limiter {
public:
    cgroup_limiter() = default;
    cgroup_limiter(group_places const& in, std::string group) : group_{std::move(group)} {
        auto const at = [&](controller c) -> group_place const& { return in[static_cast<std::size_t>(c)]; };
        auto const &memory = at(controller::memory), &pids = at(controller::pids), &cpu = at(controller::cpu);
        memory_version_ = memory.version, cpu_version_ = cpu.version;
        memory_max_ = {memory, memory.version == 1 ? "memory.limit_in_bytes" : "memory.max", O_RDWR};
        if (memory.version == 1) sockets_max_ = {memory, "memory.kmem.tcp.limit_in_bytes", O_RDWR}; // also for UDP, despite its name
        memory_swap_ = {memory, memory.version == 1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max", O_RDWR};
        pids_max_ = {pids, "pids.max", O_RDWR};
        cpu_max_ = {cpu, cpu.version == 1 ? "cpu.cfs_quota_us" : "cpu.max", O_RDWR};
        cpu_period_ = {cpu, "cpu.cfs_period_us", O_RDWR}; // only v1
    }

    result<void> impose(group_limits const& asked, group_meter& meter) {
        SB_CHECK(impose_memory(asked.memory_bytes, meter));
        impose_sockets(asked.socket_bytes);
        SB_CHECK(impose_pids(asked.pids, meter));
        return impose_cpu(asked.cores);
    }
    result<void> impose_pids(std::int64_t pids, group_meter& meter) {
        if (!pids_max_ || imposed_.pids == pids) return {};
        auto const residents = meter.residents().value_or(0); // processes that are there and do not belong to the payload
        auto allowed = pids < 0 ? std::optional<std::int64_t>{} : std::optional{pids + residents};
        if (allowed) allowed = std::min(*allowed, process::most_processes); // with the residents it can be one too many
        if (!pids_max_.write(allowed ? cat(*allowed) : std::string{"max"})) return last_error("limit processes in", group_);
        imposed_.pids = pids;
        auto const now = pids_max_.number();
        in_force_.pids = pids >= 0 && now && *now == *allowed ? std::optional{*now - residents} : std::nullopt;
        return {};
    }
    /// Somebody else wrote the limit of processes, or processes that are not the payload's came or went: it is written next time.
    void forget_pids() noexcept { imposed_.pids = unknown; }
    /// What the kernel accepted.
    limits_in_force const& in_force() const noexcept { return in_force_; }

private:
    static constexpr std::int64_t unknown = -2; // neither a limit nor none: whatever is requested next is written

    result<void> impose_memory(std::int64_t bytes, group_meter& meter) {
        if (!memory_max_ || imposed_.memory_bytes == bytes) return {};
        bool const one = memory_version_ == 1;
        auto const text = bytes < 0 ? std::string{one ? "-1" : "max"} : cat(bytes);
        if (one) (void)memory_swap_.write("-1"); // the sum may never be less than the part
        if (!memory_max_.write(text)) {
            if (errno == EBUSY) return system_error(cat("a memory limit of ", bytes, " bytes cannot be set: ", meter.charged_now(), " bytes are already used by the sandbox itself"));
            return last_error(cat("limit memory to ", text, " in"), group_);
        }
        bool const swap = memory_swap_.write(one ? text : bytes < 0 ? std::string{"max"} : std::string{"0"});
        imposed_.memory_bytes = bytes;
        in_force_.memory_bytes = bytes < 0 ? std::nullopt : memory_max_.number();
        in_force_.swap_too = bytes >= 0 && swap;
        if (bytes >= 0 && (!in_force_.memory_bytes || *in_force_.memory_bytes > bytes)) in_force_.memory_bytes.reset();
        return {};
    }
    void impose_sockets(std::int64_t bytes) {
        if (!sockets_max_ || imposed_.socket_bytes == bytes) return;
        bool const done = sockets_max_.write(bytes < 0 ? std::string{"-1"} : cat(bytes / 2));
        imposed_.socket_bytes = done ? bytes : unknown;
        in_force_.socket_bytes = done && bytes >= 0 ? sockets_max_.number() : std::nullopt;
    }
    result<void> impose_cpu(double cores) {
        if (!cpu_max_ || imposed_.cores == cores) return {};
        auto const quota = cores < 0 ? cpu_quota{-1, 100'000} : quota_for(cores);
        auto const limit = cat(quota.quota_us), period = cat(quota.period_us);
        bool done = false;
        if (cpu_version_ == 2) done = cpu_max_.write(cores < 0 ? "max " + period : cat(limit, " ", period));
        else if (cores < 0) done = cpu_max_.write("-1");
        else {
            done = cpu_period_.write(period) && cpu_max_.write(limit);
            // The old quota in the new period may exceed the quota of the group above. Having no quota in between avoids
            // this. But removing the last CPU quota of a machine makes the kernel patch its code.
            if (!done) done = cpu_max_.write("-1") && cpu_period_.write(period) && cpu_max_.write(limit);
        }
        if (!done) return last_error(cat("limit processor time to ", fixed(cores, 3), " processors in"), group_);
        imposed_.cores = cores;
        in_force_.cores = cores < 0 ? std::nullopt : cores_now();
        return {};
    }
    std::optional<double> cores_now() const {
        std::optional<std::int64_t> quota, period;
        if (cpu_version_ == 1) quota = cpu_max_.number(), period = cpu_period_.number();
        else {
            char text[64];
            auto const parts = words(cpu_max_.read(text));
            if (parts.size() == 2) quota = lone_number(parts[0]), period = lone_number(parts[1]);
        }
        if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
        return cpu_quota{*quota, *period}.cores();
    }

    std::string group_;
    int memory_version_ = 0, cpu_version_ = 0;
    detail::group_file memory_max_, memory_swap_, sockets_max_, pids_max_, cpu_max_, cpu_period_;
    group_limits imposed_; // as written
    limits_in_force in_force_;
};

} // namespace sb::cgroup
