// SPDX-License-Identifier: MIT
#include "support/bare_root.hpp"
#include "support/group.hpp"
#include "support/victim.hpp"
#include <sb/doctor/host_cgroups.hpp>
#include <sb/files/path.hpp>
#include <algorithm>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace sb::doctor;
using sb::cgroup::controller;

namespace {

/// The files of another host, in a folder: how its hierarchies are mounted, and who we are in them.
struct other_host {
    sb::test::folder made;
    std::string root = sb::files::real_path(made.path()).value();

    void put(std::string const& name, std::string const& text) const {
        auto const whole = root + name;
        REQUIRE_FALSE(sb::make_folders(whole.substr(0, whole.rfind('/')), 0755).has_error());
        std::ofstream{whole} << text;
    }
    void add_folder(std::string const& name) const { REQUIRE_FALSE(sb::make_folders(root + name, 0755).has_error()); }
    /// A v2 hierarchy below `root`, in which our group is `own`.
    void mount_v2(std::string const& own = "/") const {
        add_folder("/sys/fs/cgroup" + own);
        put("/proc/self/mountinfo", "30 23 0:26 / " + root + "/sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
        put("/proc/self/cgroup", "0::" + own + "\n");
    }
    /// v1: a hierarchy for each, in which our group is the top.
    void mount_v1(std::vector<std::string> const& controllers) const {
        std::string mounts, groups;
        for (auto const& each : controllers) {
            add_folder("/sys/fs/cgroup/" + each);
            mounts += "31 23 0:27 / " + root + "/sys/fs/cgroup/" + each + " rw - cgroup cgroup rw," + each + "\n";
            groups += "2:" + each + ":/\n";
        }
        put("/proc/self/mountinfo", mounts);
        put("/proc/self/cgroup", groups);
    }
    finding mend(controller c) const {
        finding f{"it", finding_status::limited, "seen", {}};
        detail::group_mender{root}.mend(f, c);
        return f;
    }
};
std::string const sudo = ::geteuid() == 0 ? "" : "sudo ";

finding named(std::vector<finding> const& all, std::string_view name) {
    auto const at = std::find_if(all.begin(), all.end(), [&](auto const& each) { return each.name == name; });
    REQUIRE(at != all.end());
    return *at;
}
std::vector<finding> found_here() {
    char const* const below = std::getenv("SANDBOX_CGROUP");
    return find_groups(below ? below : "").value();
}

} // namespace

TEST_CASE("where no hierarchy is mounted the command mounts one, and /sys before it where that is not there") {
    other_host const host;
    host.put("/proc/self/mountinfo", "22 1 0:20 / / rw - ext4 /dev/vda rw\n");
    host.put("/proc/self/cgroup", "0::/\n");
    auto const both = host.mend(controller::memory);
    CHECK(both.mend.find("mount -t sysfs sysfs /sys && mount -t cgroup2 none /sys/fs/cgroup") != std::string::npos);
    host.add_folder("/sys/fs/cgroup");
    CHECK(host.mend(controller::memory).mend == sudo + "mount -t cgroup2 none /sys/fs/cgroup");
    CHECK(other_host{}.mend(controller::cpu).mend.find("mount") != std::string::npos); // no /proc either
}

TEST_CASE("a group of ours that lies outside of what is mounted is given by a namespace of one's own") {
    other_host const host;
    host.add_folder("/sys/fs/cgroup");
    host.put("/proc/self/mountinfo", "30 23 0:26 /docker/abc " + host.root + "/sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    host.put("/proc/self/cgroup", "0::/user.slice\n");
    auto const f = host.mend(controller::memory);
    CHECK(f.mend.empty());
    CHECK(f.advice.find("--cgroupns=private") != std::string::npos);
}

TEST_CASE("a controller that the kernel knows and does not offer was switched off when it booted") {
    other_host const host;
    host.mount_v2();
    host.put("/sys/fs/cgroup/cgroup.controllers", "cpu pids\n");
    host.put("/proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t0\t1\t1\nmemory\t0\t1\t0\n");
    host.put("/proc/cmdline", "quiet\n");
    CHECK(host.mend(controller::memory).advice == "boot with cgroup_enable=memory on the kernel's command line");
    host.put("/proc/cmdline", "quiet cgroup_disable=pids,memory rw\n");
    CHECK(host.mend(controller::memory).advice == "boot without cgroup_disable=pids,memory on the kernel's command line");
    CHECK(host.mend(controller::memory).mend.empty());
}

TEST_CASE("a controller that the kernel does not know needs another kernel") {
    other_host const host;
    host.mount_v2();
    host.put("/sys/fs/cgroup/cgroup.controllers", "\n");
    host.put("/proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory2\t0\t1\t1\n");
    CHECK(host.mend(controller::memory).advice == "use a kernel with CONFIG_MEMCG");
    CHECK(host.mend(controller::pids).advice == "use a kernel with CONFIG_CGROUP_PIDS");
    CHECK(host.mend(controller::cpu).advice == "use a kernel with CONFIG_CFS_BANDWIDTH");
    other_host const one; // on v1, where the hierarchy of that controller is not there
    one.mount_v1({"cpu"});
    CHECK(one.mend(controller::memory).advice == "use a kernel with CONFIG_MEMCG");
}

TEST_CASE("where an init system hands groups out it is asked for one") {
    other_host const host;
    host.mount_v2();
    host.put("/sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
    host.add_folder("/run/systemd/system");
    auto const f = host.mend(controller::memory);
    CHECK(f.mend == (::geteuid() == 0 ? "systemd-run --scope -p Delegate=yes sb-exec …" : "systemd-run --user --scope -p Delegate=yes sb-exec …"));
    CHECK_FALSE(f.advice.empty());
}

TEST_CASE("from a group of ours with others in it the command moves them down and hands the controllers out") {
    other_host const host;
    host.mount_v2("/mine");
    host.put("/sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
    host.put("/sys/fs/cgroup/mine/cgroup.controllers", "cpu memory pids\n");
    host.put("/sys/fs/cgroup/mine/cgroup.procs", "1\n");
    host.put("/sys/fs/cgroup/mine/cgroup.subtree_control", "");
    auto const own = host.root + "/sys/fs/cgroup/mine";
    auto const f = host.mend(controller::pids);
    // the shell that takes the command does in the folder what it would do in the group
    REQUIRE(f.mend.ends_with("; export SANDBOX_CGROUP=" + own));
    REQUIRE(f.mend.starts_with("mkdir -p " + own + "/rest && for p in $(cat " + own + "/cgroup.procs); do "));
    REQUIRE(::system((f.mend + "; test \"$SANDBOX_CGROUP\" = " + own).c_str()) == 0);
    CHECK(first_line(own + "/rest/cgroup.procs") == "1");
    CHECK(first_line(own + "/cgroup.subtree_control") == "+cpu +memory +pids");
}

TEST_CASE("in a group that is not ours root names another, and others have root make one for their shell") {
    other_host const host;
    host.mount_v2("/foreign");
    host.put("/sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
    host.put("/sys/fs/cgroup/foreign/cgroup.controllers", "\n");
    auto const f = host.mend(controller::cpu);
    if (::geteuid() == 0) {
        CHECK(f.mend.empty());
        CHECK(f.advice.find("mkdir DIR && sb-exec --cgroup DIR") != std::string::npos);
    } else {
        CHECK(f.mend.starts_with("sudo sh -c 'cd " + host.root + "/sys/fs/cgroup && echo \"+cpu +memory +pids\" >cgroup.subtree_control"));
        CHECK(f.mend.ends_with(sb::cat("export SANDBOX_CGROUP=", host.root, "/sys/fs/cgroup/user-", ::geteuid())));
    }
}

TEST_CASE("on v1 each hierarchy is handed over once, to whom is not root") {
    other_host const host;
    host.mount_v1({"memory", "pids"});
    auto const f = host.mend(controller::memory);
    if (::geteuid() == 0) {
        CHECK(f.mend.empty());
        CHECK(f.advice.find("CAP_DAC_OVERRIDE") != std::string::npos);
    } else {
        CHECK(f.mend.starts_with(sb::cat("sudo sh -c 'for g in ", host.root, "/sys/fs/cgroup/memory ", host.root, "/sys/fs/cgroup/pids; do mkdir -p $g/user-", ::geteuid())));
        CHECK(f.mend.ends_with("sh $$"));
    }
}

TEST_CASE("what cannot be had is told without the name that was tried") {
    auto const host = sb::test::groups_here("0123456789ab");
    CHECK(detail::plainly("mkdir /sys/fs/cgroup" + ("/" + host.group_name("probe")) + ": Permission denied", host) == "mkdir /sys/fs/cgroup/…: Permission denied");
    CHECK(detail::plainly("no cpu", host) == "no cpu");
}

TEST_CASE("a group that is made to look at its files is gone afterwards, and a place that takes none has no files") {
    auto const host = sb::test::groups_here();
    sb::test::folder const base;
    auto const inside = base / host.group_name("doctor");
    {
        detail::trial_group const group{host, base.path()};
        REQUIRE(::access(inside.c_str(), F_OK) == 0);
        CHECK_FALSE(group.has("memory.peak"));
        std::ofstream{inside + "/memory.peak"} << "7";
        CHECK(group.has("memory.peak"));
        CHECK(group.takes("memory.peak", "0"));
        CHECK_FALSE(group.takes("none/at/all", "0"));
        CHECK(::unlink((inside + "/memory.peak").c_str()) == 0);
    }
    CHECK(::access(inside.c_str(), F_OK) != 0);
    for (auto const& nowhere : {std::string{}, base / "none"}) {
        detail::trial_group const group{host, nowhere};
        CHECK_FALSE(group.has("memory.peak"));
        CHECK_FALSE(group.takes("memory.peak", "0"));
    }
}

TEST_CASE("where a group is surely ours its controller is found, and holds for the whole tree", "[sandbox]") {
    auto const all = found_here();
    std::vector<std::string> names;
    for (auto const& each : all) names.push_back(each.name);
    CHECK(names == std::vector<std::string>{"cgroup", "memory", "pids", "cpu", "cpu-time", "peaks", "kill", "swap"});
    for (std::string const name : {"memory", "pids", "cpu"}) {
        auto const f = named(all, name);
        INFO(name << ": " << f.what);
        if (sb::test::kernel::gives_group(name)) CHECK(f.status == finding_status::ok);
        if (f.status == finding_status::ok) {
            CHECK(f.what.find("for the whole tree") != std::string::npos);
            CHECK(named(all, "cgroup").status == finding_status::ok);
        } else {
            CHECK(f.status == finding_status::limited); // runs go on
            CHECK_FALSE((f.mend.empty() && f.advice.empty()));
        }
    }
}

TEST_CASE("without any control group every figure of the tree is limited, and each says what it costs", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const told = sb::test::in_bare_root([] {
        auto const all = find_groups();
        if (all.has_error()) return all.error().what;
        std::string text;
        for (auto const& each : *all) text += sb::cat(each.name, " ", name_of(each.status), ": ", each.what, each.name == "pids" ? std::string{} : sb::cat(" [", each.mend, "]"), "\n");
        return text;
    });
    INFO(told);
    auto const mount = ::geteuid() == 0 ? std::string{" [mount -t sysfs sysfs /sys && mount -t cgroup2 none /sys/fs/cgroup]\n"}
                                        : std::string{" [sudo sh -c 'mount -t sysfs sysfs /sys && mount -t cgroup2 none /sys/fs/cgroup']\n"};
    auto const why = std::string{"no control group hierarchy is mounted; "};
    auto const has = [&](std::string const& line) { return ("\n" + told).find("\n" + line) != std::string::npos; };
    CHECK(has("cgroup limited: " + why + "limits hold for each process only" + mount));
    CHECK(has("memory limited: " + why + "MEMORY_LIMIT then holds for each process (RLIMIT_AS), and the peak is that of the largest process" + mount));
    CHECK(has("pids limited: " + why + "PIDS_LIMIT is then enforced by "));
    CHECK(has("cpu limited: " + why + "CPU_LIMIT then only takes whole processors (sched_setaffinity)" + mount));
    CHECK(has("cpu-time limited: " + why + "processor time then comes from wait4, for processes that were waited for" + mount));
    CHECK(has("peaks limited: no memory control group; the peak is that of the largest process []\n"));
    CHECK(has("kill limited: "));
}

TEST_CASE("a folder that is no control group is refused") {
    sb::test::folder const here;
    auto const got = find_groups(here.path());
    REQUIRE(got.has_error());
    CHECK(got.error().what.find(here.path()) != std::string::npos);
}
