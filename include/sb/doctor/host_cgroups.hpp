// SPDX-License-Identifier: MIT
// What control groups hold and count here for a whole tree of processes, and what would let them do so.
//
// How it works: cgroup_host proves what it found by making groups. It runs in this process, not in a child, because on v2 the
// answer depends on which other processes are in our group. If something cannot be had, the hierarchies show why, and which
// command would help.
#pragma once
#include <sb/cgroup/cgroup_host.hpp>
#include <sb/core/text.hpp>
#include <sb/doctor/finding.hpp>
#include <sb/key/cpu_limit.hpp>
#include <sb/key/memory_limit.hpp>
#include <sb/key/pids_limit.hpp>
#include <sb/process/task_limit_here.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace sb::doctor {

namespace detail {

/// Why controllers are not to be had here, and the command or change that gives them.
class group_mender {
public:
    /// `root` comes before the paths of the files that are read.
    explicit group_mender(std::string root = {}) : root_{std::move(root)} {
        auto const mounts = read_file(root_ + "/proc/self/mountinfo"), groups = read_file(root_ + "/proc/self/cgroup");
        if (!mounts.has_error() && !groups.has_error()) all_ = cgroup::read_hierarchies(*mounts, *groups);
    }

    void mend(finding& f, cgroup::controller c) const {
        if (all_.empty()) {
            if (::access((root_ + "/sys/fs/cgroup").c_str(), F_OK) != 0) f.mend = as_root("mount -t sysfs sysfs /sys && mount -t cgroup2 none /sys/fs/cgroup", true);
            else f.mend = as_root("mount -t cgroup2 none /sys/fs/cgroup");
            return;
        }
        auto const name = cgroup::name_of(c);
        auto const one = std::find_if(all_.begin(), all_.end(), [&](auto const& h) { return h.version == 1 && contains(h.controllers, name); });
        auto const two = std::find_if(all_.begin(), all_.end(), [](auto const& h) { return h.version == 2; });
        auto const* const where = one != all_.end() ? &*one : two != all_.end() ? &*two : nullptr;
        if (!where) return never_there(f, c);
        if (where->own.empty()) f.advice = cat("start the container with a cgroup namespace of its own (--cgroupns=private)");
        else if (is_read_only(where->mount)) writable(f, where->mount);
        else if (one != all_.end()) hand_over_v1(f);
        else if (!offered(*where, c)) never_there(f, c);
        else share(f, *where);
    }

private:
    static bool is_read_only(std::string const& mount) { return ::access(mount.c_str(), W_OK) != 0 && errno == EROFS; }
    static bool may_write(std::string const& path) { return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; }
    static bool offered(cgroup::cgroup_hierarchy const& h, cgroup::controller c) {
        return c == cgroup::controller::cpuacct || contains(words(first_line(h.mount + "/cgroup.controllers")), cgroup::name_of(c));
    }
    static void writable(finding& f, std::string const& mount) {
        f.mend = as_root(cat("mount -o remount,bind,rw ", mount));
        f.advice = "in a container: start it with --privileged or with writable control groups";
    }

    /// The kernel has switched it off, or was built without it.
    void never_there(finding& f, cgroup::controller c) const {
        auto const options = words(first_line(root_ + "/proc/cmdline"));
        auto const name = cgroup::name_of(c);
        for (auto const& each : options)
            if (each.starts_with("cgroup_disable=") && contains(words(each.substr(15), ","), name)) {
                f.advice = cat("boot without ", each, " on the kernel's command line");
                return;
            }
        auto const kernel = read_file(root_ + "/proc/cgroups");
        bool known = false;
        if (!kernel.has_error()) split(*kernel, '\n', [&](std::string_view line) {
            auto const fields = words(line, "\t ");
            known = known || (!fields.empty() && fields[0] == name);
        });
        constexpr char const* built_with[] = {"CONFIG_MEMCG", "CONFIG_CGROUP_PIDS", "CONFIG_CFS_BANDWIDTH", "CONFIG_CGROUPS"};
        if (known) f.advice = cat("boot with cgroup_enable=", name, " on the kernel's command line");
        else f.advice = cat("use a kernel with ", std::string_view{built_with[static_cast<std::size_t>(c)]});
    }

    /// v1: a group of the caller's in each hierarchy, with the caller's shell in it.
    void hand_over_v1(finding& f) const {
        std::string folders;
        for (auto const c : cgroup::all_controllers)
            for (auto const& h : all_)
                if (h.version == 1 && contains(h.controllers, cgroup::name_of(c)) && !h.own.empty() && (" " + folders + " ").find(" " + h.own + " ") == std::string::npos)
                    folders += (folders.empty() ? "" : " ") + h.own;
        if (::geteuid() == 0) {
            f.advice = "let this process write to its control groups (CAP_DAC_OVERRIDE)";
            return;
        }
        f.mend = cat("sudo sh -c 'for g in ", folders, "; do mkdir -p $g/user-", ::geteuid(), " && chown -R ", ::geteuid(), " $g/user-", ::geteuid(),
                     " && echo $1 >$g/user-", ::geteuid(), "/cgroup.procs; done' sh $$");
    }

    void share(finding& f, cgroup::cgroup_hierarchy const& h) const {
        constexpr std::string_view controllers = "+cpu +memory +pids";
        auto const& own = h.own;
        bool const ours = may_write(own + "/cgroup.procs") && may_write(own + "/cgroup.subtree_control") && may_write(own);
        auto const here = words(first_line(own + "/cgroup.controllers"));
        bool const given = contains(here, "memory") && contains(here, "pids") && contains(here, "cpu");
        if (::access((root_ + "/run/systemd/system").c_str(), F_OK) == 0) {
            f.mend = cat("systemd-run ", ::geteuid() == 0 ? "" : "--user ", "--scope -p Delegate=yes sb-exec …");
            f.advice = "or name a group of yours: sb-exec --cgroup DIR";
        } else if (ours && given) {
            // a group that holds processes hands nothing out: they all go one further down
            f.mend = cat("mkdir -p ", own, "/rest && for p in $(cat ", own, "/cgroup.procs); do echo $p >", own, "/rest/cgroup.procs; done 2>/dev/null; echo \"", controllers, "\" >", own,
                         "/cgroup.subtree_control; export SANDBOX_CGROUP=", own);
        } else if (::geteuid() != 0) {
            auto const mine = cat("user-", ::geteuid());
            f.mend = cat("sudo sh -c 'cd ", h.mount, " && echo \"", controllers, "\" >cgroup.subtree_control && mkdir -p ", mine, "/shell && echo \"", controllers, "\" >", mine,
                         "/cgroup.subtree_control && chown ", ::geteuid(), " ", mine, " ", mine, "/cgroup.procs ", mine, "/cgroup.subtree_control ", mine, "/shell ", mine,
                         "/shell/cgroup.procs && echo $1 >", mine, "/shell/cgroup.procs' sh $$ && export SANDBOX_CGROUP=", h.mount, "/", mine);
        } else {
            f.advice = cat("name a group of yours that has the controllers and no process: mkdir DIR && sb-exec --cgroup DIR; if it has no controllers, enable them in the groups above it: echo \"",
                           controllers, "\" >…/cgroup.subtree_control in each of them");
        }
    }

    std::string root_;
    std::vector<cgroup::cgroup_hierarchy> all_;
};

/// Why, without the random name that was tried.
inline std::string plainly(std::string why, cgroup::cgroup_host const& host) {
    auto const tried = "/" + host.group_name("probe");
    if (auto const at = why.find(tried); at != std::string::npos) why.replace(at, tried.size(), "/…");
    return why;
}

/// A group for a moment, to look at its files.
class trial_group {
public:
    explicit trial_group(cgroup::cgroup_host const& host, std::string const& base) : path_{cat(base, "/", host.group_name("doctor"))} {
        made_ = !base.empty() && ::mkdir(path_.c_str(), 0755) == 0;
    }
    trial_group(trial_group const&) = delete;
    trial_group& operator=(trial_group const&) = delete;
    ~trial_group() {
        if (made_) ::rmdir(path_.c_str());
    }
    bool has(char const* file) const { return made_ && ::access(cat(path_, "/", std::string_view{file}).c_str(), F_OK) == 0; }
    bool takes(char const* file, std::string_view text) const { return made_ && !write_once(cat(path_, "/", std::string_view{file}), text).has_error(); }

private:
    std::string path_;
    bool made_ = false;
};

inline finding find_controller(cgroup::cgroup_host const& host, group_mender const& mender, cgroup::controller c) {
    constexpr struct {
        char const* name;
        std::string_view what, good, cost;
    } words_of[] = {
        {"memory", key::memory_limit.name, " holds for the whole tree", " then holds for each process (RLIMIT_AS), and the peak is that of the largest process"},
        {"pids", key::pids_limit.name, " holds for the whole tree", " is then enforced by "},
        {"cpu", key::cpu_limit.name, " holds for the whole tree, including fractions", " then only takes whole processors (sched_setaffinity)"},
        {"cpu-time", "processor time", " is that of the whole tree", " then comes from wait4, for processes that were waited for"},
    };
    auto const& say = words_of[static_cast<std::size_t>(c)];
    finding f{say.name, finding_status::ok, {}, {}};
    if (host.has(c)) {
        f.what = cat("v", host.version(c), ": ", say.what, say.good);
        return f;
    }
    mender.mend(f.fails(finding_status::limited, cat(plainly(host.why_not(c), host), "; ", say.what, say.cost)), c);
    if (c != cgroup::controller::pids) return f;
    auto const user = process::choose_payload_user();
    auto const limit = user.has_error() ? result<void>{user.error()} : process::can_limit_tasks(*user);
    if (limit.has_error()) f.what += cat("RLIMIT_NPROC in the sandbox's user namespace, and nothing tells when it is reached: ", limit.error().what);
    else f.what += "pid_max of a process namespace if a preset has the key, and max_pids is known only at the limit";
    return f;
}

inline finding find_peaks(cgroup::cgroup_host const& host) {
    finding f{"peaks", finding_status::ok, {}, {}};
    auto const& base = host.base(cgroup::controller::memory);
    if (base.empty()) return f.fails(finding_status::limited, "no memory control group; the peak is that of the largest process");
    trial_group const group{host, base};
    bool const one = host.version(cgroup::controller::memory) == 1;
    if (!group.has(one ? "memory.max_usage_in_bytes" : "memory.peak")) {
        f.fails(finding_status::limited, "memory control groups store no peak; the peak is that of the largest process").advice = "use a kernel 5.19 or newer";
        return f;
    }
    bool const again = group.takes(one ? "memory.max_usage_in_bytes" : "memory.peak", "0");
    trial_group const counted{host, host.base(cgroup::controller::pids) == base ? std::string{} : host.base(cgroup::controller::pids)};
    bool const pids = group.has("pids.peak") || counted.has("pids.peak");
    f.what = again ? "memory of the whole tree, reset for each run" : "memory of the whole tree, in a new group for each run (Linux 6.12 can reset it)";
    f.what += pids ? "; most processes at once" : "; no pids.peak: max_pids is unknown";
    return f;
}

inline finding find_kill(cgroup::cgroup_host const& host) {
    finding f{"kill", finding_status::ok, "a whole group is killed in one step (cgroup.kill)", {}};
    trial_group const group{host, host.v2_base()};
    if (group.has("cgroup.kill")) return f;
    f.fails(finding_status::limited, !host.v2_base().empty() ? std::string{"no cgroup.kill"} : host.v2_why_not().empty() ? std::string{"no v2 hierarchy"} : plainly(host.v2_why_not(), host));
    f.what += "; what a run left is killed process by process";
    if (!host.v2_base().empty()) f.advice = "use a kernel 5.14 or newer";
    else if (host.kind() == cgroup::cgroup_kind::v1) f.mend = as_root("mkdir -p /mnt/cgroup2 && mount -t cgroup2 none /mnt/cgroup2", true);
    return f;
}

inline finding find_swap(cgroup::cgroup_host const& host) {
    finding f{"swap", finding_status::ok, {}, {}};
    auto const swaps = read_file("/proc/swaps");
    bool const used = !swaps.has_error() && std::count(swaps->begin(), swaps->end(), '\n') > 1;
    auto const& base = host.base(cgroup::controller::memory);
    trial_group const group{host, base};
    bool const counted = group.has("memory.swap.max") || group.has("memory.memsw.limit_in_bytes");
    if (!used) return f.what = counted ? cat("none in use; it would count in ", key::memory_limit.name) : std::string{"none in use"}, f;
    if (counted) return f.what = cat("counts in ", key::memory_limit.name), f;
    f.fails(finding_status::limited, cat("in use and not limited: a run over ", key::memory_limit.name, " swaps, and its times are those of the disk")).mend = as_root("swapoff -a");
    if (!base.empty()) f.advice = "or boot with swapaccount=1 on the kernel's command line";
    return f;
}

} // namespace detail

/// What groups there are, what each controller holds, what is counted.
inline result<std::vector<finding>> find_groups(std::string const& below = {}) {
    SB_TRY(auto const host, cgroup::cgroup_host::find(cgroup::random_id(), below));
    detail::group_mender const mender;
    std::vector<finding> findings;
    auto& kind = findings.emplace_back(finding{"cgroup", finding_status::ok, {}, {}});
    if (host.kind() == cgroup::cgroup_kind::none) {
        auto const why = host.why_not(cgroup::controller::cpuacct);
        mender.mend(kind.fails(finding_status::limited, cat(why.empty() ? std::string{"cannot make a control group"} : detail::plainly(why, host), "; limits hold for each process only")), cgroup::controller::cpuacct);
    } else {
        kind.what = cat(cgroup::name_of(host.kind()), ": control groups can be made");
        if (!host.v2_base().empty()) kind.what += cat(", on v2 in ", host.v2_base());
    }
    for (auto const c : cgroup::all_controllers) findings.push_back(detail::find_controller(host, mender, c));
    findings.push_back(detail::find_peaks(host));
    findings.push_back(detail::find_kill(host));
    findings.push_back(detail::find_swap(host));
    return findings;
}

} // namespace sb::doctor
