// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/files.hpp"
#include "support/kernel.hpp"
#include "support/victim.hpp"
#include <sb/process/spawn.hpp>
#include <csignal>
#include <string>
#include <vector>

using namespace sb::process;
using sb::test::folder;

namespace {

/// One child: what it is started with, what it wrote and how it ended.
struct trial {
    spawner spawns = spawner::make().value();
    order_room room = order_room::make().value();
    launch what;
    copy_report report;
    std::string out;
    int status = -1;
    sb::pipe_ends pipe = sb::make_pipe().value();
    sb::unique_fd nothing = sb::open_file("/dev/null", O_RDWR).value();

    trial() { what.in = what.err = nothing.get(), what.out = pipe.write.get(); }
    void prepare(std::string_view path, std::vector<std::string> const& words, std::vector<std::string> const& environment = {}) {
        what.path = room.put(path);
        what.argv = room.put({}, words);
        what.environment = room.put({}, environment);
    }
    void finish(pid_t child) {
        REQUIRE(::waitpid(child, &status, 0) == child);
        pipe.write.reset();
        out = sb::read_all(pipe.read.get(), "output", 1 << 20).value();
    }
    pid_t start() {
        auto const child = spawns.start(what, report);
        REQUIRE_FALSE(child.has_error());
        return *child;
    }
    void shell(std::string const& script, std::vector<std::string> const& environment = {}) {
        prepare("/bin/sh", {"sh", "-c", script}, environment);
        finish(start());
        CHECK_FALSE(report.failure);
    }
    /// A child that must not come to be.
    spawn_failure fails() {
        auto const child = spawns.start(what, report);
        REQUIRE_FALSE(child.has_error());
        CHECK(*child == 0);
        return report.failure;
    }
};

} // namespace

TEST_CASE("a program is started with its words, its variables and its folder") {
    folder const place;
    trial t;
    t.what.folder = place.path().c_str();
    t.shell("printf '%s|' \"$0\" \"$A\" \"$PWD\"; env | sort | tr '\\n' '|'; exit 7", {"A=one two", "B="});
    CHECK(t.out.starts_with("sh|one two|" + place.path() + "|A=one two|B=|"));
    CHECK(WEXITSTATUS(t.status) == 7);
}

TEST_CASE("a program has the three streams and no other descriptor, whatever is open here, and its report channel where it is wanted") {
    auto const leak = sb::unique_fd{::open("/dev/null", O_RDONLY)}; // not to be closed by exec
    for (bool const reports : {false, true}) {
        trial t;
        auto const report = sb::make_pipe().value();
        if (reports) t.what.report = report.write.get();
        t.shell(reports ? "echo reported >&3; ls /proc/self/fd" : "ls /proc/self/fd");
        CHECK(t.out == (reports ? "0\n1\n2\n3\n4\n" : "0\n1\n2\n3\n")); // the last is the folder that ls reads
        if (!reports) continue;
        char text[16] = {};
        CHECK(::read(report.read.get(), text, sizeof text) == 9);
        CHECK(text == std::string_view{"reported\n"});
    }
}

TEST_CASE("descriptors that have the numbers of others arrive where they belong") {
    trial t;
    auto const in = sb::make_pipe().value(), report = sb::make_pipe().value();
    REQUIRE(::write(in.write.get(), "in\n", 3) == 3);
    t.prepare("/bin/sh", {"sh", "-c", "read line; echo out $line; echo report >&3; echo err >&2"});
    CHECK(sb::test::in_child([&] { // it gives up its own standard streams
        int const numbers[][2] = {{t.pipe.write.get(), 2}, {report.write.get(), 0}, {in.read.get(), 1}, {t.nothing.get(), 3}};
        int high[4]; // so that none is written over before it is moved
        for (int i = 0; i < 4; ++i) high[i] = ::fcntl(numbers[i][0], F_DUPFD_CLOEXEC, 100);
        for (int i = 0; i < 4; ++i)
            if (::dup3(high[i], numbers[i][1], O_CLOEXEC) < 0) return -1;
        t.what.in = 1, t.what.out = 2, t.what.err = 3, t.what.report = 0;
        auto const child = t.spawns.start(t.what, t.report);
        int status = -1;
        bool const well = !child.has_error() && ::waitpid(*child, &status, 0) == *child && status == 0;
        errno = EDOM;
        return well ? 0 : -1;
    }) == 0);
    char text[16] = {};
    CHECK(::read(t.pipe.read.get(), text, sizeof text) == 7);
    CHECK(text == std::string_view{"out in\n"});
    CHECK(::read(report.read.get(), text, sizeof text) == 7);
    CHECK(std::string_view{text, 7} == "report\n");
}

TEST_CASE("standard input is a file that the child opens by itself") {
    sb::test::scratch_file const file{"from the file"};
    auto const path = file.path();
    trial t;
    t.what.in_path = path.c_str();
    t.shell("cat");
    CHECK(t.out == "from the file");
    trial none;
    none.what.in_path = "/no/such/file";
    none.prepare("/bin/true", {"true"});
    auto const failure = none.fails();
    CHECK(failure.step == spawn_step::descriptors);
    CHECK(failure.code == ENOENT);
}

TEST_CASE("each step that fails is told with its reason, and no process is left") {
    trial t;
    t.prepare("/bin/true", {"true"});
    SECTION("no such program") {
        t.prepare("/no/such/program", {"x"});
        CHECK(t.fails().step == spawn_step::exec);
        CHECK(t.report.failure.code == ENOENT);
    }
    SECTION("a program that may not be executed") {
        t.prepare("/etc/passwd", {"x"});
        CHECK(t.fails().step == spawn_step::exec);
        CHECK(t.report.failure.code == EACCES);
    }
    SECTION("too many words for exec") {
        t.prepare("/bin/true", {"true", std::string(std::size_t{1} << 20, 'x')});
        CHECK(t.fails().step == spawn_step::exec);
        CHECK(t.report.failure.code == E2BIG);
    }
    SECTION("no such folder") {
        t.what.folder = "/no/such/folder";
        CHECK(t.fails().step == spawn_step::folder);
        CHECK(t.report.failure.code == ENOENT);
    }
    SECTION("no processor to run on") {
        cpu_set_t none;
        CPU_ZERO(&none);
        t.what.cpus = &none;
        CHECK(t.fails().step == spawn_step::affinity);
        CHECK(t.report.failure.code == EINVAL);
    }
    SECTION("a limit that cannot be set") {
        rlimit_list limits;
        limits.restore(RLIMIT_NOFILE, {.rlim_cur = 20, .rlim_max = 10});
        t.what.rlimits = &limits;
        CHECK(t.fails().step == spawn_step::limits);
        CHECK(t.report.failure.code == EINVAL);
    }
    SECTION("a stream that is not open") {
        t.what.out = -1;
        CHECK(t.fails().step == spawn_step::descriptors);
        CHECK(t.report.failure.code == EBADF);
    }
    SECTION("rules that are none") {
        if (sb::test::kernel::landlock() == 0) {
            WARN("SKIPPED: the kernel has no Landlock");
            return;
        }
        t.what.rules = t.nothing.get();
        CHECK(t.fails().step == spawn_step::landlock);
    }
    SECTION("a control group that is none") {
        t.what.group = t.nothing.get();
        CHECK(t.spawns.start(t.what, t.report).has_error());
    }
    // the next child is not held up by it
    trial next;
    next.shell("echo well");
    CHECK(next.out == "well\n");
}

TEST_CASE("the same spawner starts one child after the other, and a failure does not stay in the report") {
    trial t;
    t.prepare("/no/such/program", {"x"});
    REQUIRE(t.fails());
    for (int i = 0; i < 20; ++i) {
        t.prepare("/bin/true", {"true"});
        auto const child = t.start();
        REQUIRE(child > 0);
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
        CHECK_FALSE(t.report.failure);
    }
}

TEST_CASE("a script without an interpreter line runs in the shell where that is wanted, and else fails") {
    folder const place;
    auto const path = place / "script";
    {
        auto const file = sb::open_file(path, O_WRONLY | O_CREAT, 0755).value();
        REQUIRE_FALSE(sb::write_all(file.get(), "echo \"$0 $1\"\n", path).has_error());
    }
    trial refused;
    refused.prepare(path, {"script", "word"});
    CHECK(refused.fails().step == spawn_step::exec);
    CHECK(refused.report.failure.code == ENOEXEC);
    trial t;
    t.prepare(path, {"script", "word"});
    t.what.shell_argv = t.room.put({"/bin/sh", t.what.path}, {"script", "word"}, 1);
    t.finish(t.start());
    CHECK(t.out == path + " word\n");
}

TEST_CASE("a program begins in a session of its own, with its limits, on its processors, and no signal ignored or blocked") {
    struct sigaction ignore {}, before {};
    ignore.sa_handler = SIG_IGN;
    REQUIRE(::sigaction(SIGUSR2, &ignore, &before) == 0); // known when the spawner is made
    trial t;
    REQUIRE(::sigaction(SIGUSR2, &before, nullptr) == 0);
    limits held;
    held.open_files = 17, held.cpu_seconds = 5;
    rlimit_list const limits{held};
    cpu_set_t allowed, one;
    CPU_ZERO(&allowed);
    CPU_ZERO(&one);
    REQUIRE(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    std::size_t first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    CPU_SET(first, &one);
    t.what.rlimits = &limits, t.what.cpus = &one;
    sigset_t blocked, mask;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    REQUIRE(::pthread_sigmask(SIG_BLOCK, &blocked, &mask) == 0);
    t.shell("echo $$; ulimit -Sn; ulimit -Ht; cut -d' ' -f5,6 /proc/$$/stat; grep -E '^(SigBlk|SigIgn|Cpus_allowed_list)' /proc/self/status");
    sigset_t after;
    REQUIRE(::pthread_sigmask(SIG_SETMASK, &mask, &after) == 0);
    CHECK(sigismember(&after, SIGUSR1) == 1); // ours are as they were
    CHECK(sigismember(&after, SIGUSR2) == 0);
    auto const pid = t.out.substr(0, t.out.find('\n'));
    CHECK(t.out == sb::cat(pid, "\n17\n6\n", pid, " ", pid, "\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nCpus_allowed_list:\t", first, "\n"));
}

TEST_CASE("the moment of exec lies between those before and after the start") {
    trial t;
    auto const before = sb::monotonic_ns();
    t.prepare("/bin/true", {"true"});
    auto const child = t.start();
    auto const after = sb::monotonic_ns();
    t.finish(child);
    CHECK(t.report.exec_ns >= before);
    CHECK(t.report.exec_ns <= after);
    CHECK(t.report.before_ns > 0);
}

TEST_CASE("a child started ahead executes the order of the room when it is called") {
    trial t;
    auto& order = t.room.order();
    t.what.in = -1, t.what.in_path = "/dev/null";
    auto const number = t.room.ahead().expect();
    auto const child = t.spawns.start_ahead(t.what, t.room, number, 0);
    REQUIRE_FALSE(child.has_error());
    // only now is it known what it is for
    order.path = t.room.put("/bin/sh");
    order.argv = t.room.put({}, {"sh", "-c", "echo $$ $A; exit 3"});
    order.environment = t.room.put({}, {"A=b"});
    order.reports = t.room.put_reports(1);
    REQUIRE(t.room.ahead().call(number));
    t.finish(*child);
    CHECK(t.out == sb::cat(*child, " b\n"));
    CHECK(WEXITSTATUS(t.status) == 3);
    CHECK_FALSE(order.reports[0].failure);
    CHECK(order.reports[0].exec_ns > 0);
}

TEST_CASE("a child started ahead tells what failed, before its call and after it") {
    trial t;
    auto& order = t.room.order();
    order.path = t.room.put("/no/such/program");
    order.argv = t.room.put({}, {"x"});
    order.environment = t.room.put({}, {});
    order.reports = t.room.put_reports(1);
    t.what.in = -1, t.what.in_path = "/dev/null";
    spawn_step expected = spawn_step::exec;
    SECTION("its program") {}
    SECTION("its descriptors") { t.what.in_path = "/no/such/file", expected = spawn_step::descriptors; }
    auto const number = t.room.ahead().expect();
    auto const child = t.spawns.start_ahead(t.what, t.room, number, 0);
    REQUIRE_FALSE(child.has_error());
    REQUIRE(t.room.ahead().call(number));
    t.finish(*child);
    CHECK(WEXITSTATUS(t.status) == 127);
    CHECK(order.reports[0].failure.step == expected);
    CHECK(order.reports[0].failure.code == ENOENT);
}

TEST_CASE("a child started ahead that was withdrawn ends without a word") {
    trial t;
    t.room.order().reports = t.room.put_reports(1);
    auto const number = t.room.ahead().expect();
    REQUIRE(t.room.ahead().withdraw(number));
    auto const child = t.spawns.start_ahead(t.what, t.room, number, 1'000'000);
    REQUIRE_FALSE(child.has_error());
    t.finish(*child);
    CHECK(WEXITSTATUS(t.status) == 127);
    CHECK(t.out.empty());
    CHECK_FALSE(t.room.order().reports[0].failure);
}

TEST_CASE("an order becomes what is launched, without descriptors, on its processors only where it says so") {
    auto room = order_room::make().value();
    auto& order = room.order();
    order.path = room.put("/bin/true"), order.folder = room.put("/tmp");
    order.argv = room.put({}, {"true"}), order.shell_argv = room.put({"/bin/sh"}, {}), order.environment = room.put({}, {});
    auto const what = launch_of(order);
    CHECK(what.path == order.path);
    CHECK(what.folder == order.folder);
    CHECK(what.argv == order.argv);
    CHECK(what.shell_argv == order.shell_argv);
    CHECK(what.environment == order.environment);
    CHECK(what.rlimits == &order.rlimits);
    CHECK(what.cpus == nullptr);
    CHECK((what.in == -1 && what.out == -1 && what.err == -1 && what.report == -1 && what.group == -1 && what.rules == -1));
    order.affine = true;
    CHECK(launch_of(order).cpus == &order.cpus);
}
