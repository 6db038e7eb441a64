// SPDX-License-Identifier: MIT
#include "support/child.hpp"
#include "support/kernel.hpp"
#include "support/victim.hpp"
#include <sb/doctor/examine_host.hpp>
#include <sb/files/path.hpp>
#include <algorithm>
#include <fstream>
#include <grp.h>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace sb::doctor;

namespace {

std::string const sudo = ::geteuid() == 0 ? "" : "sudo ";

/// Files of another host.
struct other_host : sb::test::folder {
    explicit other_host(std::initializer_list<std::pair<std::string, std::string>> files) {
        for (auto const& [name, text] : files) {
            auto const whole = path() + name;
            REQUIRE_FALSE(sb::make_folders(whole.substr(0, whole.rfind('/')), 0755).has_error());
            std::ofstream{whole} << text << "\n";
        }
    }
};
std::string const clocks = "/sys/devices/system/clocksource/clocksource0/", governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
std::string const quiet = "0.00 0.00 0.00 1/100 200", honest = "cpu  100 0 100 800 0 0 0 0 0 0";
finding clock_of(std::string const& source, std::string const& others) {
    return detail::find_clock(other_host{{clocks + "current_clocksource", source}, {clocks + "available_clocksource", others}}.path());
}
finding folder_of(std::string const& path, bool create = false) { return detail::find_folder("temp", path, sb::files::for_temporary, create, "TMPDIR", "/below"); }

} // namespace

TEST_CASE("the kernel is told as uname tells it") {
    auto const f = detail::find_kernel();
    CHECK(f.status == finding_status::ok);
    auto release = sb::test::kernel::text_of("/proc/sys/kernel/osrelease");
    release.pop_back();
    CHECK(f.what.starts_with("Linux " + release + " "));
}

TEST_CASE("the user is told with whom payloads run as, and nobody to run them as is missed") {
    auto const who = ::geteuid() == 0 ? std::string{"root"} : sb::cat("uid ", ::geteuid());
    auto const f = detail::find_user(sb::process::payload_user{4321, 4321});
    CHECK(f.status == finding_status::ok);
    CHECK(f.what == who + "; payloads run as uid 4321");
    auto const none = detail::find_user(sb::system_error("only root is mapped"));
    CHECK(none.status == finding_status::missing);
    CHECK(none.what == who + ": only root is mapped");
    CHECK_FALSE(none.advice.empty());
}

TEST_CASE("supplementary groups that a payload keeps are named") {
    auto const told = [] {
        auto const f = detail::find_kept_groups();
        return sb::cat(name_of(f.status), " ", f.what);
    };
    if (::geteuid() == 0) {
        CHECK(told() == "ok a payload has no supplementary group");
        if (!sb::test::kernel::maps_user(65534)) return;
        auto const as_other = [&](std::vector<gid_t> const& groups) {
            return sb::test::told_by_child([&] {
                if (::setgroups(groups.size(), groups.data()) != 0 || ::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) return std::string{"cannot become nobody"};
                return told();
            });
        };
        CHECK(as_other({}) == "ok a payload has no supplementary group");
        auto const kept = as_other({1});
        INFO(kept);
        CHECK(kept.starts_with("limited a payload keeps the caller's supplementary groups"));
        CHECK(kept.find("1") != std::string::npos);
    } else {
        std::vector<gid_t> mine(1024);
        mine.resize(static_cast<std::size_t>(std::max(::getgroups(1024, mine.data()), 0)));
        bool const more = std::any_of(mine.begin(), mine.end(), [](gid_t each) { return each != ::getegid(); });
        CHECK((detail::find_kept_groups().status == finding_status::limited) == more);
    }
}

TEST_CASE("a slow clock is limited, and a better one of this machine mends it") {
    for (std::string const slow : {"hpet", "acpi_pm", "jiffies", "refined-jiffies"}) {
        INFO(slow);
        auto const f = clock_of(slow, "tsc " + slow);
        CHECK(f.status == finding_status::limited);
        CHECK(f.what.starts_with(slow + ", "));
        CHECK(f.mend.find("echo tsc >" + clocks + "current_clocksource") != std::string::npos);
        CHECK(f.mend.starts_with("sudo") == (::geteuid() != 0));
        CHECK(clock_of(slow, slow).mend.empty());
    }
    CHECK(clock_of("hpet", "hpet kvm-clock").mend.find("echo kvm-clock >") != std::string::npos);
}

TEST_CASE("a clock whose source is unknown, or fast, is judged by how long it takes to read") {
    for (auto const& f : {detail::find_clock(other_host{}.path()), clock_of("tsc", "tsc hpet")}) {
        INFO(f.what);
        auto const at = f.what.find(", ");
        REQUIRE(at != std::string::npos);
        auto const ns = std::stol(f.what.substr(at + 2));
        CHECK(ns >= 0);
        CHECK((f.status == finding_status::ok) == (ns <= 1000));
    }
    CHECK(detail::find_clock(other_host{}.path()).what.starts_with("source unknown, "));
}

TEST_CASE("an idle machine that is its own has no noise") {
    auto const f = detail::find_noise(other_host{{"/proc/loadavg", quiet}, {"/proc/stat", honest}, {governor, "performance"}}.path());
    CHECK(f.status == finding_status::ok);
    CHECK(f.what == sb::cat("load 0.0 on ", ::sysconf(_SC_NPROCESSORS_ONLN), "; 0.0 % of time stolen by other guests since boot; frequency governor performance"));
    CHECK(f.mend.empty());
    CHECK(f.advice.empty());
}

TEST_CASE("load, time that other guests took and a governor that saves power are noise, the first of them first") {
    std::string const stolen = "cpu  100 0 100 700 0 0 0 100 0 0", loaded = sb::cat(::sysconf(_SC_NPROCESSORS_ONLN), ".50 0.00 0.00 1/100 200");
    auto const load = detail::find_noise(other_host{{"/proc/loadavg", loaded}, {"/proc/stat", stolen}}.path());
    CHECK(load.status == finding_status::limited);
    CHECK(load.advice.starts_with("measure when the machine is idle"));
    auto const steal = detail::find_noise(other_host{{"/proc/loadavg", quiet}, {"/proc/stat", stolen}, {governor, "powersave"}}.path());
    CHECK(steal.status == finding_status::limited);
    CHECK(steal.what.find("10.0 % of time stolen") != std::string::npos);
    CHECK(steal.advice.starts_with("compare interleaved runs"));
    for (std::string const slow : {"powersave", "ondemand"}) {
        auto const saves = detail::find_noise(other_host{{"/proc/loadavg", quiet}, {"/proc/stat", honest}, {governor, slow}}.path());
        CHECK(saves.status == finding_status::limited);
        CHECK(saves.mend == sudo + "cpupower frequency-set -g performance");
    }
}

TEST_CASE("a machine that tells nothing of its load is not called noisy") {
    auto const f = detail::find_noise(other_host{}.path());
    CHECK(f.status == finding_status::ok);
    CHECK(f.what.starts_with("load 0.0 on "));
}

TEST_CASE("a folder that can be written to is found with its room, and keeps nothing of the try") {
    sb::test::folder const here;
    auto const f = folder_of(here.path());
    INFO(f.what);
    CHECK(f.status != finding_status::missing);
    CHECK(f.what.starts_with(here.path() + " has "));
    CHECK(sb::files::names_in(sb::files::open_folder(AT_FDCWD, here.path().c_str()).get()).value().empty());
}

TEST_CASE("a folder that is not there is missed, unless it would be made, and then it is still not there") {
    sb::test::folder const here;
    auto const none = folder_of(here / "a/b");
    CHECK(none.status == finding_status::missing);
    CHECK(none.what.find(here / "a/b") != std::string::npos);
    CHECK(none.mend.starts_with("export TMPDIR=/"));
    CHECK(none.mend.ends_with("/below"));
    auto const later = folder_of(here / "a/b", true);
    CHECK(later.status != finding_status::missing);
    CHECK(later.what.starts_with(here / "a/b" + " has "));
    CHECK(::access((here / "a").c_str(), F_OK) != 0);
}

TEST_CASE("a file in the place of a folder, and a folder that others could exchange, are missed") {
    sb::test::folder const here;
    std::ofstream{here / "file"} << "x";
    auto const file = folder_of(here / "file");
    CHECK(file.status == finding_status::missing);
    REQUIRE(::mkdir((here / "open").c_str(), 0755) == 0);
    REQUIRE(::chmod((here / "open").c_str(), 0777) == 0);
    auto const open = folder_of(here / "open");
    CHECK(open.status == finding_status::missing);
    CHECK(open.what.find("is writable by everybody and is not sticky") != std::string::npos);
    REQUIRE(::chmod((here / "open").c_str(), 01777) == 0);
    CHECK(folder_of(here / "open").status != finding_status::missing);
}

TEST_CASE("every finding of this host has a name of its own, and one that is missing says what mends it", "[sandbox]") {
    sb::test::folder const here;
    char const* const below = std::getenv("SANDBOX_CGROUP");
    auto const all = examine_host(here / "data", here.path(), below ? below : "").value();
    std::set<std::string> names;
    for (auto const& each : all) {
        INFO(each.name << ": " << each.what);
        CHECK(names.insert(each.name).second);
        CHECK_FALSE(each.what.empty());
        if (each.status == finding_status::missing) CHECK_FALSE((each.mend.empty() && each.advice.empty()));
    }
    CHECK(names == std::set<std::string>{"kernel", "cpus", "user", "groups", "proc", "pidfd", "namespaces", "mounts", "owners", "overlay", "seccomp", "landlock", "sockets",
                                         "cgroup", "memory", "pids", "cpu", "cpu-time", "peaks", "kill", "swap", "clock", "noise", "temp", "data"});
    if (sb::test::kernel::cannot_isolate().empty())
        for (auto const& each : all) {
            INFO(each.name << ": " << each.what);
            for (auto const* needed : {"user", "namespaces", "mounts", "seccomp"})
                if (each.name == needed) CHECK(each.status == finding_status::ok);
        }
    CHECK(sb::files::names_in(sb::files::open_folder(AT_FDCWD, here.path().c_str()).get()).value().empty());
}

TEST_CASE("a place for groups that is none ends the look at the host") {
    sb::test::folder const here;
    CHECK(examine_host(here / "data", here.path(), here.path()).has_error());
}
