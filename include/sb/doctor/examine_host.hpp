// SPDX-License-Identifier: MIT
// What this host lets us isolate, limit and measure: each finding comes from trying.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/text.hpp>
#include <sb/doctor/finding.hpp>
#include <sb/doctor/host_cgroups.hpp>
#include <sb/doctor/host_isolation.hpp>
#include <sb/files/own_folder.hpp>
#include <sb/files/path.hpp>
#include <sb/machine/cpus.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <string>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <vector>

namespace sb::doctor {

namespace detail {

inline finding find_kernel() {
    utsname kernel{};
    ::uname(&kernel);
    return {"kernel", finding_status::ok, cat(std::string_view{kernel.sysname}, " ", std::string_view{kernel.release}, " ", std::string_view{kernel.machine}), {}};
}

inline finding find_user(result<process::payload_user> const& payload) {
    auto const who = ::geteuid() == 0 ? std::string{"root"} : cat("uid ", ::geteuid());
    finding f{"user", finding_status::ok, who, {}};
    if (!payload.has_error()) return f.what += cat("; payloads run as uid ", payload->uid), f;
    f.fails(finding_status::missing, cat(who, ": ", payload.error().what)).advice = "map a range of users into this user namespace (as unshare --map-auto does), or start as a user other than root";
    return f;
}

inline finding find_kept_groups() {
    finding f{"groups", finding_status::ok, "a payload has no supplementary group", {}};
    auto const kept = process::kept_groups();
    if (kept.empty()) return f;
    f.fails(finding_status::limited, cat("a payload keeps the caller's supplementary groups, because the kernel lets only root drop them: ", process::groups_line(kept), "; it can read files in system folders and bindings that these groups may read"));
    f.advice = "start sb-exec as root, or as a user without supplementary groups";
    return f;
}

/// Reading the clock should not be a system call, and not a slow device. `root` comes before the paths of the files that are
/// read, here and below.
inline finding find_clock(std::string const& root = {}) {
    constexpr int readings = 1000;
    auto best = std::int64_t{1} << 60;
    for (int round = 0; round < 5; ++round) {
        auto const begin = monotonic_ns();
        for (int i = 0; i < readings; ++i) (void)monotonic_ns();
        best = std::min(best, (monotonic_ns() - begin) / readings);
    }
    std::string const folder = "/sys/devices/system/clocksource/clocksource0/";
    auto const source = first_line(root + folder + "current_clocksource"), others = first_line(root + folder + "available_clocksource");
    timespec tick{};
    ::clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    finding f{"clock", finding_status::ok, cat(source.empty() ? "source unknown" : source, ", ", best, " ns per reading; a tick is ", tick.tv_nsec / 1'000'000, " ms"), {}};
    bool const slow = source == "hpet" || source == "acpi_pm" || source == "jiffies" || source == "refined-jiffies" || best > 1000;
    if (!slow) return f;
    f.status = finding_status::limited;
    f.what += "; short runs are measured imprecisely by a slow or coarse clock";
    for (std::string_view const better : {"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen"})
        if (source != better && contains(words(others), better)) {
            f.mend = as_root(cat("echo ", better, " >", folder, "current_clocksource"), true);
            break;
        }
    return f;
}

/// What else the processors do.
inline finding find_noise(std::string const& root = {}) {
    finding f{"noise", finding_status::ok, {}, {}};
    auto const load = words(first_line(root + "/proc/loadavg"));
    double busy = 0;
    if (!load.empty()) std::from_chars(load[0].data(), load[0].data() + load[0].size(), busy);
    auto const online = static_cast<double>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1l));
    double total = 0, stolen = 0;
    auto const times = words(first_line(root + "/proc/stat"));
    for (std::size_t i = 1; i < times.size() && i <= 8; ++i) { // user nice system idle iowait irq softirq steal
        double one = 0;
        std::from_chars(times[i].data(), times[i].data() + times[i].size(), one);
        total += one;
        if (i == 8) stolen = one;
    }
    double const part = total > 0 ? 100 * stolen / total : 0;
    auto const governor = first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    f.what = cat("load ", fixed(busy, 1), " on ", static_cast<int>(online), "; ", fixed(part, 1), " % of time stolen by other guests since boot",
                 governor.empty() ? "" : "; frequency governor ", governor);
    if (busy > 0.75 * online) f.status = finding_status::limited, f.advice = "measure when the machine is idle (top shows what is running)";
    else if (part > 2) f.status = finding_status::limited, f.advice = "compare interleaved runs of the same minute, or use a machine that does not share its processors";
    else if (governor == "powersave" || governor == "ondemand") f.status = finding_status::limited, f.mend = as_root("cpupower frequency-set -g performance");
    return f;
}

/// A folder is made in `path`, or where it would be made, and removed; not where others could exchange it.
inline finding find_folder(std::string name, std::string const& path, files::folder_use const& use, bool create, std::string_view variable, std::string_view below) {
    finding f{std::move(name), finding_status::ok, {}, {}};
    auto probe = path;
    while (create && probe.size() > 1 && ::access(probe.c_str(), F_OK) != 0 && errno == ENOENT) probe.resize(std::max<std::size_t>(probe.rfind('/'), 1));
    std::string why;
    auto const can_make = [&](std::string const& in) {
        if (auto const own = files::own_folder::open(in, use); own.has_error() && own.error().on == blame::caller) return why = own.error().what, EPERM;
        auto const trial = cat(in, "/.sb-doctor-", cgroup::random_id());
        if (::mkdir(trial.c_str(), 0700) != 0) return errno;
        ::rmdir(trial.c_str());
        return 0;
    };
    if (int const code = can_make(probe); code != 0) {
        f.fails(finding_status::missing, !why.empty() ? why : cat(path, ": cannot make a folder in ", probe == path ? std::string{"it"} : probe, ": ", std::string_view{std::strerror(code)}));
        for (std::string_view const other : {"/tmp", "/var/tmp", "/dev/shm"}) {
            if (other == probe || can_make(std::string{other}) != 0) continue;
            f.mend = cat("export ", variable, "=", other, below);
            break;
        }
        return f;
    }
    struct statvfs space {};
    if (::statvfs(probe.c_str(), &space) != 0) return f.fails(finding_status::limited, cat(path, ": ", std::string_view{std::strerror(errno)}));
    auto const free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
    f.what = cat(path, " has ", free >> 20, " MiB free");
    if (free < (std::uint64_t{64} << 20)) f.status = finding_status::limited, f.advice = cat("free some space there, or export ", variable, "=DIR");
    return f;
}

} // namespace detail

/// All that a run may want of the host, for workspaces in the current folder. `data_dir` need not exist yet; for `groups_below`
/// see cgroup_host.
inline result<std::vector<finding>> examine_host(std::string const& data_dir, std::string const& temp_dir, std::string const& groups_below = {}) {
    auto const payload = process::choose_payload_user();
    auto const user = payload.has_error() ? process::payload_user{::geteuid(), ::getegid()} : *payload;
    auto const here = files::real_path(".");
    auto const folder = here.has_error() ? std::string{"/"} : *here;
    std::vector<finding> findings;
    findings.push_back(detail::find_kernel());
    findings.push_back({"cpus", finding_status::ok, cat(::sysconf(_SC_NPROCESSORS_ONLN), " online, ", machine::usable_cpus(), " usable"), {}});
    findings.push_back(detail::find_user(payload));
    findings.push_back(detail::find_kept_groups());
    findings.push_back(find_proc(user));
    findings.push_back(find_pidfd());
    findings.push_back(find_namespaces(user));
    findings.push_back(find_mounts(user));
    findings.push_back(find_owners(user, folder));
    findings.push_back(find_overlay(user, folder, temp_dir));
    findings.push_back(find_seccomp());
    findings.push_back(find_landlock());
    findings.push_back(find_sockets(user));
    SB_TRY(auto groups, find_groups(groups_below));
    for (auto& each : groups) findings.push_back(std::move(each));
    findings.push_back(detail::find_clock());
    findings.push_back(detail::find_noise());
    findings.push_back(detail::find_folder("temp", temp_dir, files::for_temporary, false, "TMPDIR", ""));
    findings.push_back(detail::find_folder("data", data_dir, files::for_data, true, "SANDBOX_DATA_DIR", cat("/sandbench-", ::geteuid())));
    return findings;
}

} // namespace sb::doctor
