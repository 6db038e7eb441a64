// SPDX-License-Identifier: MIT
// One call: what a program that embeds the sandbox gets to see.
#include "support/kernel.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include <sb/local/confine.hpp>
#include <algorithm>
#include <csignal>
#include <sys/resource.h>
#include <thread>

using namespace sb::local;
using namespace sb::test;

namespace {

sb::result<confined> shell(std::string const& text, confine_request what = {}) {
    what.argv = {"sh", "-c", text};
    return confine(what);
}

} // namespace

TEST_CASE("a command's end and its streams come back, whatever they are") {
    NEEDS_ISOLATION();
    auto const got = shell("echo out; echo err >&2; exit 7");
    REQUIRE(got.has_value());
    CHECK(got->out == "out\n");
    CHECK(got->err == "err\n");
    CHECK(WEXITSTATUS(got->status) == 7);
    CHECK(!got->ok());
    CHECK(got->how() == "exit status 7");
    CHECK(shell("kill -TERM $$")->how() == "signal 15");
    CHECK(shell("head -c 100000 /dev/zero")->out == std::string(100000, '\0'));
}

TEST_CASE("what cannot be run is an error that says who can mend it") {
    NEEDS_ISOLATION();
    confine_request what;
    CHECK(confine(what).error().on == sb::blame::caller);
    what.argv = {"no-such-command"};
    CHECK(confine(what).error().on == sb::blame::caller);
    what.argv = {"/opt/somewhere/tool"};
    CHECK(confine(what).error().what.find("not visible in the sandbox") != std::string::npos);
    what.argv = {"true"}, what.work = "/";
    CHECK(confine(what).error().on == sb::blame::caller);
}

TEST_CASE("an input is read and stays as it was; a fifo is one too") {
    NEEDS_ISOLATION();
    char name[] = "/tmp/sb-test-XXXXXX";
    sb::unique_fd const file{::mkstemp(name)};
    REQUIRE(::write(file.get(), "given", 5) == 5);
    REQUIRE(::fchmod(file.get(), 0644) == 0);
    confine_request what;
    what.input = name;
    CHECK(shell("cat; chmod 777 /proc/self/fd/0 2>/dev/null; touch -d 2001-01-01 /proc/self/fd/0 2>/dev/null", what)->out == "given");
    struct stat after {};
    REQUIRE(::fstat(file.get(), &after) == 0);
    CHECK((after.st_mode & 07777) == 0644);
    CHECK(after.st_mtim.tv_sec > 1'000'000'000);
    REQUIRE((::unlink(name) == 0 && ::mkfifo(name, 0644) == 0));
    sb::unique_fd const both{::open(name, O_RDWR | O_CLOEXEC)};
    REQUIRE(::write(both.get(), "piped\n", 6) == 6);
    CHECK(shell("read -r line; echo $line", what)->out == "piped\n");
    ::unlink(name);
}

TEST_CASE("limits end the run or are reached, and the answer names them") {
    NEEDS_ISOLATION();
    confine_request what;
    what.wall_s = 0.1;
    auto const late = shell("trap '' TERM; sleep 60 & sleep 60", what);
    CHECK(late->killed_by == sb::watch::killer::wall);
    CHECK(late->wall_s < 1);
    what = {}, what.output_bytes = 1000;
    auto const flood = shell("yes", what);
    CHECK(flood->killed_by == sb::watch::killer::output);
    CHECK(flood->out.size() == 1000);
    what = {}, what.scratch_bytes = 1 << 20;
    CHECK(shell("head -c 3000000 /dev/zero >/tmp/much", what)->out_of_space);
    what = {}, what.memory_bytes = 64 << 20;
    auto const large = shell("head -c 200000000 /dev/zero | tail >/dev/null", what);
    CHECK((large->out_of_memory || !large->loose.empty()));
    CHECK(shell("sleep 60 & sleep 60 & :")->left_running == 2);
    what = {}, what.processes = 8;
    CHECK_FALSE(shell("for i in 1 2 3 4 5 6 7; do sleep 60 & done", what)->out_of_processes);
    auto const many = shell("for i in 1 2 3 4 5 6 7 8; do sleep 60 & done", what);
    CHECK((many->out_of_processes || !many->loose.empty()));
    CHECK_FALSE(many->ok());
    what = {}, what.cores = 0, what.argv = {"true"};
    CHECK(confine(what).error().what == "cores: must be more than 0");
}

TEST_CASE("the caller is as it was, and calls side by side do not meet") {
    NEEDS_ISOLATION();
    sigset_t before, after;
    ::sigprocmask(SIG_SETMASK, nullptr, &before);
    std::vector<std::thread> all;
    std::vector<std::string> said(4);
    for (std::size_t i = 0; i < said.size(); ++i) {
        all.emplace_back([&, i] { said[i] = shell("test ! -e /tmp/mark && echo " + std::to_string(i) + " >/tmp/mark && cat /tmp/mark")->out; });
#ifdef __SANITIZE_ADDRESS__
        // a child of fork() finds the address sanitizer's allocator locked for ever where another thread was in it, as it never is the C library's
        if (i == 0) WARN("one after the other: fork() beside other threads is beyond the address sanitizer");
        all.back().join();
#endif
    }
    for (auto& each : all)
        if (each.joinable()) each.join();
    for (std::size_t i = 0; i < said.size(); ++i) CHECK(said[i] == std::to_string(i) + "\n");
    ::sigprocmask(SIG_SETMASK, nullptr, &after);
    CHECK(sigismember(&before, SIGTERM) == sigismember(&after, SIGTERM));
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
    int reaps = -1;
    ::prctl(PR_GET_CHILD_SUBREAPER, &reaps);
    CHECK(reaps == 0);
}

TEST_CASE("a caller that ignores the ends of its children gets the answer all the same") {
    NEEDS_ISOLATION();
    auto const end = in_child([] {
        std::signal(SIGCHLD, SIG_IGN);
        ::alarm(20); // should it wait for ever
        auto const got = shell("sleep 0.01 & wait $!; exit 7");
        ::_exit(got.has_value() && got->how() == "exit status 7" ? 0 : 1);
        return 0;
    });
    CHECK(end == 0);
}

TEST_CASE("the caller's memory is not taken for the command's", "[sandbox]") { // as nobody too, for whom no group counts
    NEEDS_ISOLATION();
    std::string const mine(std::size_t{200} << 20, 'x');
    auto const little = shell("true");
    REQUIRE(little.has_value());
    CHECK(little->ok());
    CHECK(little->peak_bytes.value_or(0) < std::int64_t{8} << 20); // unknown where only the kernel's own figure is to be had
    confine_request what;
    rusage own{}; // a sanitizer may hold more than we know of
    REQUIRE(::getrusage(RUSAGE_SELF, &own) == 0);
    auto const mib = std::max<std::int64_t>(300, std::int64_t{own.ru_maxrss} / 1024 + 100);
    what.argv = {"dd", "if=/dev/zero", "of=/dev/null", sb::cat("bs=", mib, "M"), "count=1"};
    auto const much = confine(what);
    REQUIRE(much.has_value());
    CHECK(much->ok());
    CHECK(much->peak_bytes.value_or(0) > (mib - 10) << 20);
    CHECK(mine.back() == 'x');
}
