// SPDX-License-Identifier: MIT
// A reaper without a namespace, told what to do word by word. tests/watch/ has runs as a watcher makes them.
#include "support/child.hpp"
#include "support/catch.hpp"
#include "support/kernel.hpp"
#include <sb/process/reaper.hpp>
#include <sb/process/reaper_link.hpp>
#include <csignal>
#include <poll.h>
#include <string>
#include <vector>

using namespace sb::process;

namespace {

constexpr int patience_ms = 20'000;

/// A reaper and what a watcher has of it.
struct bench {
    order_room room = order_room::make().value();
    reaper_link link = reaper_link::fork_here(room).value();
    sb::pipe_ends out = sb::make_pipe().value();
    sb::unique_fd nothing = sb::open_file("/dev/null", O_RDWR).value();
    copy_report* reports = nullptr;

    ~bench() {
        link.socket.reset();
        if (link.pid > 0) (void)sb::retry([&] { return ::waitpid(link.pid, nullptr, 0); });
    }
    void order(std::vector<std::string> const& words, int copies = 1) {
        room.clear();
        auto& order = room.order();
        order.copies = copies;
        order.path = room.put(words.front());
        order.argv = room.put({}, words);
        order.environment = room.put({}, {"PATH=/usr/bin:/bin"});
        order.reports = reports = room.put_reports(static_cast<std::size_t>(copies));
    }
    void order_shell(std::string const& script, int copies = 1) { order({"/bin/sh", "-c", script}, copies); }
    bool start(int copy = 0) {
        int const streams[] = {nothing.get(), out.write.get(), nothing.get()};
        return send_message(link.socket.get(), {word::start, copy}, streams);
    }
    bool tell(word what) { return send_message(link.socket.get(), {what, 0}); }
    /// Whether the reaper says that it is done.
    bool done(int within_ms = patience_ms) {
        pollfd said{link.socket.get(), POLLIN, 0};
        message text;
        sb::passed_files none;
        return ::poll(&said, 1, within_ms) == 1 && receive_message(link.socket.get(), text, none) && text.what == word::done;
    }
    bool run(std::string const& script) {
        order_shell(script);
        return start() && done();
    }
    std::string line() {
        std::string text;
        pollfd more{out.read.get(), POLLIN, 0};
        for (char c = 0; ::poll(&more, 1, patience_ms) == 1 && ::read(out.read.get(), &c, 1) == 1 && c != '\n';) text += c;
        return text;
    }
    /// Whether nobody has the output any more; afterwards no run can be started.
    bool output_ends() {
        out.write.reset();
        pollfd end{out.read.get(), POLLIN, 0};
        char c = 0;
        while (::poll(&end, 1, patience_ms) == 1)
            if (::read(out.read.get(), &c, 1) == 0) return true;
        return false;
    }
    tree_report const& tree() { return room.order().tree; }
};

} // namespace

TEST_CASE("a reaper starts a program, waits for it and says how it ended") {
    bench b;
    auto const before = sb::monotonic_ns();
    REQUIRE(b.run("echo there; exit 5"));
    CHECK(b.line() == "there");
    auto const& report = b.reports[0];
    CHECK_FALSE(report.failure);
    CHECK(report.ended == 1);
    CHECK(WEXITSTATUS(report.status) == 5);
    CHECK(before < report.exec_ns);
    CHECK(report.exec_ns < report.end_ns);
    CHECK(report.end_ns <= sb::monotonic_ns());
    CHECK(report.used.processes == 1);
    CHECK(report.used.peak_rss_bytes > 100'000);
    CHECK(report.own_us == -1); // no limit's signal has ended it
    CHECK(b.tree().cleared == 1);
    CHECK(b.tree().last_end_ns == report.end_ns);
    CHECK(b.tree().orphans.processes == 0);
    CHECK(b.tree().left_running == 0);
    CHECK(b.tree().own_cpu_ns > 0);
}

TEST_CASE("a program that cannot be executed is reported, and the reaper goes on") {
    bench b;
    b.order({"/no/such/program"});
    REQUIRE(b.start());
    REQUIRE(b.done());
    CHECK(b.reports[0].failure.step == spawn_step::exec);
    CHECK(b.reports[0].failure.code == ENOENT);
    CHECK(b.reports[0].ended == 0);
    CHECK(b.tree().cleared == 1);
    REQUIRE(b.run("exit 0"));
    CHECK(b.reports[0].ended == 1);
}

TEST_CASE("copies run side by side, each with its own end") {
    bench b;
    b.order_shell("echo $$; read line </dev/null; exit $(($$ % 2))", 4);
    for (int i = 0; i < 4; ++i) REQUIRE(b.start(i));
    REQUIRE(b.done());
    int even = 0, odd = 0;
    for (int i = 0; i < 4; ++i) {
        REQUIRE(b.reports[i].ended == 1);
        ++(WEXITSTATUS(b.reports[i].status) == 0 ? even : odd);
    }
    for (int i = 0; i < 4; ++i) --(std::stoi(b.line()) % 2 == 0 ? even : odd);
    CHECK(even == 0);
    CHECK(odd == 0);
}

TEST_CASE("a run is not done before its last copy has ended") {
    bench b;
    b.order_shell("echo $$; exit 0", 2);
    REQUIRE(b.start(0));
    CHECK_FALSE(b.line().empty());
    CHECK_FALSE(b.done(100));
    REQUIRE(b.start(1));
    CHECK(b.done());
}

TEST_CASE("what a program leaves behind is killed and counted, wherever it has fled") {
    bench b;
    REQUIRE(b.run("setsid sh -c 'trap \"\" TERM HUP; sleep 1000 & sleep 1000 & wait' & exit 0"));
    CHECK(b.reports[0].status == 0);
    CHECK(b.tree().cleared == 1);
    CHECK(b.tree().left_running >= 1);
    CHECK(b.tree().orphans.processes >= b.tree().left_running);
    CHECK(b.output_ends());
}

TEST_CASE("what a program leaves behind is waited for where the order says so") {
    bench b;
    b.order_shell("(i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; echo late) & exit 0");
    b.room.order().wait_tree = true;
    REQUIRE(b.start());
    REQUIRE(b.done());
    CHECK(b.line() == "late");
    CHECK(b.tree().left_running == 0);
    CHECK(b.tree().orphans.processes == 1);
    CHECK(b.tree().orphans.user_us + b.tree().orphans.system_us > 0);
    CHECK(b.tree().last_end_ns > b.reports[0].end_ns);
}

TEST_CASE("a run that is stopped ends by a kill, all of it, and the next one runs") {
    bench b;
    b.order_shell("sleep 1000 & echo $$; sleep 1000", 2);
    REQUIRE(b.start(0));
    REQUIRE(b.start(1));
    CHECK_FALSE(b.line().empty());
    CHECK_FALSE(b.line().empty());
    REQUIRE(b.tell(word::stop));
    REQUIRE(b.done());
    for (int i = 0; i < 2; ++i) {
        CHECK(b.reports[i].ended == 1);
        CHECK(b.reports[i].status == SIGKILL);
        CHECK(b.reports[i].own_us >= 0);
    }
    CHECK(b.tree().cleared == 1);
    REQUIRE(b.run("echo next"));
    CHECK(b.line() == "next");
    CHECK(b.output_ends());
}

TEST_CASE("the processor time of a program that a limit's signal ended is its own alone") {
    bench b;
    REQUIRE(b.run("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'; kill -KILL $$"));
    auto const& report = b.reports[0];
    REQUIRE(report.status == SIGKILL);
    CHECK(report.used.user_us + report.used.system_us > 2 * report.own_us);
    CHECK(report.own_us >= 0);
    CHECK(report.used.processes == 1);
}

TEST_CASE("an orphan that wrote a file too large is told") {
    bench b;
    char name[] = "/tmp/sb-test-XXXXXX";
    auto const file = sb::unique_fd{::mkstemp(name)};
    REQUIRE(file);
    b.order_shell(sb::cat("(ulimit -f 1; exec head -c 100000 /dev/zero >", std::string_view{name}, ") & exit 0"));
    b.room.order().wait_tree = true;
    bool const well = b.start() && b.done();
    ::unlink(name);
    REQUIRE(well);
    CHECK(b.tree().orphan_broke_file_limit == 1);
    REQUIRE(b.run("exit 0"));
    CHECK(b.tree().orphan_broke_file_limit == 0);
}

TEST_CASE("bytes that programs have asked for are counted to the byte, without those that the reaper reads") {
    if (sb::test::kernel::text_of("/proc/self/io").empty()) {
        WARN("SKIPPED: the kernel does not count what processes read and write");
        return;
    }
    bench b;
    REQUIRE(b.run(":"));
    auto const nothing = b.tree().traffic;
    REQUIRE(b.run("exec 5>/dev/null; head -c 1000000 /dev/zero >&5"));
    auto const much = b.tree().traffic;
    REQUIRE(nothing.written_chars == 0);
    CHECK(much.written_chars == 1'000'000);
    CHECK(much.read_chars >= 1'000'000);
    REQUIRE(b.run(":"));
    CHECK(b.tree().traffic.read_chars == nothing.read_chars);
    CHECK(b.tree().traffic.written_chars == 0);
}

TEST_CASE("a reaper whose watcher closes the socket kills everything and ends") {
    bench b;
    b.order_shell("setsid sleep 1000 & echo $$; sleep 1000");
    REQUIRE(b.start());
    CHECK_FALSE(b.line().empty());
    b.link.socket.reset();
    CHECK(b.output_ends());
    int status = -1;
    CHECK(sb::retry([&] { return ::waitpid(b.link.pid, &status, 0); }) == b.link.pid);
    CHECK(status == 0);
    b.link.pid = -1;
}

TEST_CASE("nothing of a run outlives a watcher that dies") {
    auto life = sb::make_pipe().value();
    auto const told = sb::make_pipe().value();
    auto const watcher = ::fork();
    if (watcher == 0) {
        bench b;
        b.out.write = sb::unique_fd{::dup(life.write.get())};
        b.order_shell("setsid sleep 1000 & sleep 1000");
        bool const well = b.start();
        (void)!::write(told.write.get(), well ? "y" : "n", 1);
        for (;;) ::pause();
    }
    char byte = 0;
    REQUIRE(::read(told.read.get(), &byte, 1) == 1);
    CHECK(byte == 'y');
    REQUIRE(::kill(watcher, SIGKILL) == 0);
    REQUIRE(::waitpid(watcher, nullptr, 0) == watcher);
    life.write.reset();
    pollfd end{life.read.get(), POLLIN, 0};
    CHECK(::poll(&end, 1, patience_ms) == 1);
    CHECK(::read(life.read.get(), &byte, 1) == 0);
}

TEST_CASE("a child is cloned ahead when a run went well, and none when it failed") {
    bench b;
    auto const run = [&](std::string const& script) {
        b.order_shell(script);
        auto const number = b.room.ahead().expect();
        b.room.order().ahead = number;
        REQUIRE(b.start());
        REQUIRE(b.done());
        return number;
    };
    auto const refused = run("exit 1");
    CHECK_FALSE(b.room.ahead().call(refused));
    auto const waits = run("exit 0");
    b.order_shell("echo called; exit 9"); // no message, and no descriptor: it has them
    REQUIRE(b.room.ahead().call(waits));
    REQUIRE(b.done());
    CHECK(b.line() == "called");
    CHECK(WEXITSTATUS(b.reports[0].status) == 9);
}

TEST_CASE("a child that waits is let go, and the reaper answers; without one it answers too") {
    bench b;
    REQUIRE(b.tell(word::let_go));
    REQUIRE(b.done());
    b.order_shell("exit 0");
    auto const number = b.room.ahead().expect();
    b.room.order().ahead = number;
    REQUIRE(b.start());
    REQUIRE(b.done());
    REQUIRE(b.tell(word::let_go));
    REQUIRE(b.done());
    CHECK_FALSE(b.room.ahead().call(number));
    REQUIRE(b.run("echo next"));
    CHECK(b.line() == "next");
}
