// SPDX-License-Identifier: MIT
// What a supervisor gives its sandbox, as payloads see it. tests/sandbox/instance_test.cpp has what it renews between runs.
#include "support/sandbox_slot.hpp"
#include <sb/sandbox/instance.hpp>
#include <sb/sandbox/mount_supervisor.hpp>
#include <string>

using namespace sb::test;
using namespace sb::sandbox;

namespace {

/// A sandbox with a workspace that is copied for each run.
struct copying_place {
    folder work;
    sb::watch::watcher runs = sb::watch::watcher::make().value();
    sb::process::order_room room = sb::process::order_room::make().value();
    template_plan plan;
    instance_plan walls{sb::filter::default_level, sb::filter::make_filter(sb::filter::level_of(sb::filter::default_level)).value(), -1};
    lent_work lent;
    scratch_size size{1 << 20, 64};

    copying_place() {
        put(work / "file", "original\n");
        put(work / "large", std::string(3 << 20, 'x'));
        REQUIRE(::chmod(work.path().c_str(), 0755) == 0);
        plan.user = sb::process::choose_payload_user().value();
        plan.shown.work = sb::files::real_path(work.path()).value();
        plan.copies_work = true;
        lent = lend_work(sb::files::pinned::open(plan.shown.work).value(), plan.user).value();
        plan.lower = lent.lower, plan.owners = std::move(lent.owners);
    }
    std::string shell(instance& in, std::string const& script) {
        REQUIRE_FALSE(in.make_clean(size).has_error());
        sb::watch::job what;
        what.path = "/bin/sh";
        what.argv = {"sh", "-c", script};
        what.environment = {"PATH=/usr/bin:/bin"};
        what.folder = plan.shown.work;
        what.held.wall_ns = 10'000'000'000, what.held.output_bytes = 1 << 20;
        return runs.run(what, room, in.reaper()).out.head;
    }
};

} // namespace

TEST_CASE("the way to a workspace below /tmp is laid anew when a run has bent it", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here{sb::filter::default_level, "/way/to/proc"};
    auto const work = here.work(""), top = work.substr(0, work.find('/', 5));
    auto const look = sb::cat("pwd; ls -ld ", top, " ", top, "/way | cut -c1-10; find /tmp -xdev | sort; grep -c . /proc/self/mountinfo; cat /proc/kallsyms | head -1; ls -A; cat file");
    auto const first = here.shell(look);
    CHECK(first.ends_with("file\nfolder\noriginal\n"));
    for (auto const& bend : {sb::cat("mv ", top, " /tmp/elsewhere && mkdir -p ", top, "/way && ln -s / ", top, "/way/to"), // the workspace's name is now that of /proc
                             sb::cat("mv ", top, "/way/to ", top, "/there && ln -s /proc ", top, "/way/to"), sb::cat("mv ", top, " /tmp/elsewhere"),
                             sb::cat("mv ", top, "/way /tmp/x && rmdir ", top, " && mv /tmp/x ", top, " && ln -s . ", top, "/way"), sb::cat("chmod 0 ", top), sb::cat("chmod 0 ", top, "/way"),
                             sb::cat("touch -d 1980-01-01 ", top, "/way"), sb::cat("echo x >", top, "/way/hidden"), sb::cat("mkdir ", top, "/way/hidden")}) {
        INFO(bend);
        CHECK(here.shell(sb::cat("cd /; ", bend, " && echo done")) == "done\n");
        CHECK(here.shell(look) == first);
        CHECK_FALSE(here.tidied);
        (void)here.shell("echo x >new; echo x >/tmp/new");
        CHECK(here.shell(look) == first);
        CHECK(here.tidied);
    }
}

TEST_CASE("what is written to a folder that was bound for writing stays, and nothing else does", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    CHECK(here.shell("echo mine >/opt/write/new && echo done; echo no >/opt/read/new || echo refused") == "done\nrefused\n");
    CHECK(here.shell("cat /opt/write/new; ls -A /opt/read") == "mine\nfile\n");
    CHECK(sb::read_file(here.bound("new")).value() == "mine\n");
}

TEST_CASE("a sandbox has a name and a network of its own, with the loopback device alone, which is up", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    CHECK(here.shell("cat /proc/sys/kernel/hostname") == "sandbox\n");
    CHECK(here.shell("sed 1,2d /proc/net/dev | cut -d: -f1 | tr -d ' '").find("lo\n") != std::string::npos);
    CHECK(here.shell("grep -c . /proc/net/fib_trie | sed 's/^[1-9].*/routes/'") == "routes\n");
    CHECK(here.shell("cat /proc/sys/net/mptcp/enabled 2>/dev/null || echo 0") == "0\n");
    CHECK(here.shell("cat /proc/sys/net/ipv4/tcp_no_metrics_save") == "1\n");
}

TEST_CASE("there is as much room as was asked for, in all folders together", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here; // four mebibytes, 4096 files
    CHECK(here.shell("stat -f -c '%b %S' /tmp | { read n size; echo $((n * size)); }; stat -f -c %c /tmp") == "4194304\n4096\n");
    CHECK(here.shell("head -c 3000000 /dev/zero >big && head -c 3000000 /dev/zero >/tmp/big 2>/dev/null || echo full") == "full\n");
    CHECK(here.shell("head -c 3000000 /dev/zero >big && echo room") == "room\n"); // the next run has all of it again
}

TEST_CASE("what a run can write through a binding it can execute where the level allows that, and nowhere else", "[sandbox]") {
    NEEDS_ISOLATION();
    for (int const level : {3, 4}) {
        CAPTURE(level);
        slot here{level};
        for (auto const& place : {here.bound("program"), here.read_only("program")}) {
            put(place, "#!/bin/sh\necho runs\n");
            REQUIRE(::chmod(place.c_str(), 0755) == 0);
        }
        CHECK(here.shell("/opt/read/program") == "runs\n");
        CHECK(here.shell("/opt/write/program 2>/dev/null || echo refused") == (level == 3 ? "runs\n" : "refused\n"));
        CHECK(here.shell("cp /opt/read/program mine && ./mine 2>/dev/null || echo refused") == (level == 3 ? "runs\n" : "refused\n"));
        CHECK(here.shell("cp /opt/read/program /tmp/mine && /tmp/mine 2>/dev/null || echo refused") == (level == 3 ? "runs\n" : "refused\n"));
    }
}

TEST_CASE("a workspace that is copied is the same to each run, with room beside it, and the original stays as it is", "[sandbox]") {
    NEEDS_ISOLATION();
    copying_place here;
    auto origin = sandbox_template::make(here.plan, here.room, nullptr).value();
    auto in = instance::make(origin, here.walls, here.size).value();
    for (int run = 0; run < 2; ++run) {
        CHECK(here.shell(in, "cat file; ls; wc -c <large; echo changed >file; rm large; echo x >new") == "original\nfile\nlarge\n3145728\n");
        CHECK(sb::read_file(here.work / "file").value() == "original\n");
        CHECK(::access((here.work / "new").c_str(), F_OK) != 0);
    }
    CHECK(here.shell(in, "head -c 900000 /dev/zero >new && echo room; head -c 900000 /dev/zero >more 2>/dev/null || echo full") == "room\nfull\n");
}

TEST_CASE("a size that the kernel does not take is an error with its reason, not another size", "[sandbox]") {
    NEEDS_ISOLATION();
    copying_place here;
    here.plan.copies_work = false;
    auto origin = sandbox_template::make(here.plan, here.room, nullptr).value();
    auto in = instance::make(origin, here.walls, here.size).value();
    auto const refused = in.make_clean({1 << 20, 1}); // no file but the root itself
    REQUIRE(refused.has_error());
    CHECK(refused.error().what.find("make folder") != std::string::npos);
}
