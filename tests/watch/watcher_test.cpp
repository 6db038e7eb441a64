// SPDX-License-Identifier: MIT
// Each limit against a program that tries to break it.
#include "support/victim.hpp"
#include <sb/core/sha256.hpp>
#include <sb/files/folder.hpp>
#include <sb/watch/watcher.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <ctime>
#include <string>
#include <sys/resource.h>

using namespace sb::test;
using sb::watch::killer;

namespace {

bool exited(sb::watch::copy_end const& c, int code) { return WIFEXITED(c.status) && WEXITSTATUS(c.status) == code; }
bool killed(sb::watch::copy_end const& c, int signal) { return WIFSIGNALED(c.status) && WTERMSIG(c.status) == signal; }

pid_t pid_in(std::string const& file) {
    auto const text = sb::read_file(file);
    pid_t pid = 0;
    if (!text.has_error()) std::from_chars(text->data(), text->data() + text->size(), pid);
    return pid;
}
/// No process of a run is left, not even a zombie: the reaper has no child.
bool nothing_left() {
    auto const all = sb::files::open_folder(AT_FDCWD, "/proc");
    auto const names = sb::files::names_in(all.get()).value();
    for (auto const& name : names)
        if (name[0] >= '0' && name[0] <= '9' && sb::process::detail::parent_of(name) == the_runner().reaper.pid) return false;
    return true;
}
/// A shell's command that reports.
sb::watch::job reporter(char const* script, std::int64_t wall_ns) {
    sb::watch::job job;
    job.path = "/bin/sh", job.argv = {"sh", "-c", script};
    job.environment = {"PATH=/usr/bin:/bin"};
    job.held.wall_ns = wall_ns;
    job.reports = true;
    return job;
}

} // namespace

TEST_CASE("a program's exit status and its signal are told apart") {
    CHECK(exited(run(victim({"exit", "0"})).copies.at(0), 0));
    CHECK(exited(run(victim({"exit", "7"})).copies.at(0), 7));
    CHECK(killed(run(victim({"kill_itself", "11"})).copies.at(0), SIGSEGV));
}

TEST_CASE("a program that cannot be executed is a failure with its reason and no process") {
    auto job = victim({"exit", "0"});
    job.path = "/nonexistent/program";
    auto const got = run(job);
    REQUIRE(got.copies.at(0).failure);
    CHECK(std::string{sb::process::name_of(got.copies[0].failure.step)} == "exec");
    CHECK(got.copies[0].failure.code == ENOENT);
    CHECK(nothing_left());
}

TEST_CASE("a script without an interpreter line is run by the shell, as exec from a shell would") {
    folder here;
    auto const script = here / "script";
    {
        auto const file = sb::open_file(script, O_WRONLY | O_CREAT, 0755);
        REQUIRE(::write(file->get(), "echo \"$1\"; exit 5\n", 18) == 18);
    }
    auto job = victim({"word"});
    job.path = script;
    auto const got = run(job);
    CHECK(exited(got.copies.at(0), 5));
    CHECK(got.out.head == "word\n");
}

TEST_CASE("what the system will not start is an outcome with its reason, and nothing is left of the part that started") {
    auto job = victim({"sleep", "60"});
    job.copies = 1000;
    the_runner(); // it raises its own limit, so ours is lowered behind its back
    rlimit before{}, low{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    low = before;
    low.rlim_cur = 64;
    ::setrlimit(RLIMIT_NOFILE, &low);
    auto const got = run(job);
    ::setrlimit(RLIMIT_NOFILE, &before);
    // a user without rights may have no more descriptors on their way than open, and meets that limit first
    CHECK((got.trouble == "pipe: Too many open files" || (::geteuid() != 0 && got.trouble == "send to the reaper: Too many references: cannot splice")));
    CHECK(got.copies.size() > 5);
    CHECK(got.copies.size() < 64);
    CHECK(nothing_left());
}

TEST_CASE("two hundred processes end with the wall limit") {
    auto job = victim({"fork_bomb", "200"});
    job.held.wall_ns = 3000'000'000;
    auto const got = run(job);
    CHECK(got.killed_by == killer::wall);
    CHECK(got.out.head == "200\n"); // the bomb went off before it was defused
    CHECK(nothing_left());
}

TEST_CASE("a daemon that left session, group and parent is gone when the run is, and counted") {
    folder here;
    auto const got = run(victim({"daemon_and_leave", here / "pid"}));
    CHECK(exited(got.copies.at(0), 0));
    CHECK(got.left_running == 1);
    auto const pid = pid_in(here / "pid");
    REQUIRE(pid > 0);
    CHECK(::kill(pid, 0) == -1);
    CHECK(nothing_left());
}

TEST_CASE("a chain of processes that flee from each other is caught") {
    auto const got = run(victim({"hydra", "1000000"}));
    CHECK(exited(got.copies.at(0), 0));
    CHECK(nothing_left());
}

TEST_CASE("a child that would act after the end does not") {
    folder here;
    auto const got = run(victim({"time_bomb", here / "bombed"}));
    CHECK(got.left_running == 1);
    CHECK(nothing_left());
    CHECK(::access((here / "bombed").c_str(), F_OK) == -1);
}

TEST_CASE("an orphan that holds the pipe open delays nothing") {
    auto const got = run(victim({"orphan_with_pipe"}));
    CHECK(got.killed_by == killer::nobody);
    CHECK(got.wall_s < 1.5);
    CHECK(got.out.head == "gone\n");
    CHECK(got.left_running == 1);
}

TEST_CASE("a stopped program ends at the wall limit") {
    auto job = victim({"stop_itself"});
    job.held.wall_ns = 200'000'000;
    auto const got = run(job);
    CHECK(got.killed_by == killer::wall);
    CHECK(got.wall_s >= 0.2);
    CHECK(got.wall_s < 1.5);
}

TEST_CASE("a program that ignores every signal ends at the wall limit") {
    auto job = victim({"stubborn", "60"});
    job.held.wall_ns = 200'000'000;
    auto const got = run(job);
    CHECK(got.killed_by == killer::wall);
    CHECK(killed(got.copies.at(0), SIGKILL));
}

TEST_CASE("processor time is limited, and whoever ignores the warning is killed a second later") {
    auto job = victim({"stubborn", "60"});
    job.held.wall_ns = 60'000'000'000;
    job.held.cpu_seconds = 1;
    auto const got = run(job);
    CHECK(got.killed_by == killer::nobody);
    CHECK(killed(got.copies.at(0), SIGKILL));
    CHECK(got.copies[0].used.user_s + got.copies[0].used.system_s > 1.5);
}

TEST_CASE("a gigabyte of output is cut at the cap, counted, and takes no memory") {
    rusage before{}, after{};
    auto job = victim({"flood", "1000000000"});
    run(victim({"exit", "0"})); // what is allocated once is allocated now
    ::getrusage(RUSAGE_SELF, &before);
    auto const got = run(job);
    ::getrusage(RUSAGE_SELF, &after);
    CHECK(got.killed_by == killer::output);
    CHECK(got.out.truncated);
    CHECK(got.out.bytes > 1 << 20);
    CHECK(got.out.head == std::string(4096, 'x'));
    CHECK(got.out.sha256 == sb::sha256_hex(std::string(1 << 20, 'x')));
    CHECK(after.ru_maxrss - before.ru_maxrss < 1024);
}

TEST_CASE("output without a limit is drained to its end and counted to the byte") {
    auto job = victim({"flood", "50000000"});
    job.held.output_bytes = sb::process::limits::none;
    job.held.wall_ns = 60'000'000'000;
    auto const got = run(job);
    CHECK(exited(got.copies.at(0), 0));
    CHECK(got.out.bytes == 50'000'000);
    CHECK_FALSE(got.out.truncated);
}

TEST_CASE("a file that grows beyond its limit ends its writer with SIGXFSZ") {
    auto job = victim({"big_file", "1000000"});
    job.held.file_bytes = 65536;
    CHECK(killed(run(job).copies.at(0), SIGXFSZ));
    ::unlink("big");
}

TEST_CASE("a process opens as many files as it may and no more") {
    auto job = victim({"open_files"});
    job.held.open_files = 16;
    CHECK(run(job).out.head == "16 Too many open files\n");
}

TEST_CASE("a process gets as much address space as it may") {
    auto job = victim({"memory", "500"});
    job.held.memory_bytes = 64 << 20;
    auto const got = run(job);
    CHECK(exited(got.copies.at(0), 1));
    CHECK(std::stol(got.out.head) < 64);
    CHECK(std::stol(got.out.head) > 32);
}

TEST_CASE("a program inherits descriptors 0, 1, 2 and its report channel, whatever is open here") {
    int const leak = ::open("/dev/null", O_RDONLY); // not close-on-exec: a caller's
    int const high = ::fcntl(leak, F_DUPFD, 500);
    auto job = victim({"descriptors"});
    CHECK(run(job).out.head == "0 1 2 \n");
    job.reports = true;
    CHECK(run(job).out.head == "0 1 2 3 \n");
    ::close(leak), ::close(high);
}

TEST_CASE("a program begins with no signal ignored or blocked, in a session and a group of its own") {
    auto const got = run(victim({"signals"}));
    CHECK(got.out.head == "session own, group own\n");
}

TEST_CASE("the environment is what it was given, to the letter") {
    auto job = victim({"variables"});
    job.environment = {"A=1", "B=two words"};
    CHECK(run(job).out.head == "A=1\nB=two words\n");
}

TEST_CASE("a report channel without end is kept up to its bound and takes next to no time") {
    auto const job = reporter("while :; do head -c 1000000 /dev/zero >&3; done", 1'000'000'000);
    auto const spent = [] {
        timespec t{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
    };
    // as much as a look every ten milliseconds takes on this machine, however slow it is
    auto const begun = spent();
    auto const ends = sb::make_pipe();
    REQUIRE_FALSE(ends.has_error());
    std::string block(std::size_t{1} << 16, 'x');
    for (int i = 0; i < 130; ++i) {
        REQUIRE(::write(ends->write.get(), block.data(), block.size()) == std::ssize(block));
        pollfd one{ends->read.get(), POLLIN, 0};
        REQUIRE(::poll(&one, 1, 0) == 1);
        REQUIRE(::read(ends->read.get(), block.data(), block.size()) == std::ssize(block));
    }
    auto const looks = spent() - begun, before = spent();
    auto const got = run(job);
    CHECK(spent() - before < 2 * looks + 0.02);
    CHECK(got.killed_by == killer::wall);
    REQUIRE(got.reports.size() == 1);
    CHECK(got.reports[0].size() == sb::watch::output_pipes::most_report_bytes);
    CHECK(got.reports_cut);
}

TEST_CASE("who reports more than is kept is not held up for ever") {
    auto const got = run(reporter("head -c 2000000 /dev/zero >&3; exit 3", 20'000'000'000));
    CHECK(exited(got.copies.at(0), 3));
    CHECK(got.reports_cut);
}

TEST_CASE("what is written to the report channel arrives apart from the output") {
    auto job = victim({"report", "{\"accuracy\":0.5}"});
    job.reports = true;
    job.environment = {"SB_REPORT_FD=3"};
    auto const got = run(job);
    CHECK(got.reports == std::vector<std::string>{"{\"accuracy\":0.5}\n"});
    CHECK(got.out.bytes == 0);
}

TEST_CASE("standard input is the file that was named, from its beginning in every copy") {
    folder here;
    auto const in = here / "in";
    {
        auto const file = sb::open_file(in, O_WRONLY | O_CREAT, 0600);
        REQUIRE(::write(file->get(), "hello", 5) == 5);
    }
    auto job = victim({});
    job.path = "/bin/cat", job.argv = {"cat"};
    job.in = in;
    job.copies = 3;
    auto const got = run(job);
    CHECK(got.out.head == "hello");
    CHECK(got.copies.size() == 3);
}

TEST_CASE("copies run at the same time, and the first that failed is shown") {
    auto job = victim({});
    job.path = "/bin/sh";
    job.argv = {"sh", "-c", "sleep 1; echo $$; [ -e \"$F\" ] || { : >\"$F\"; exit 9; }"};
    folder here;
    job.environment = {"PATH=/usr/bin:/bin", "F=" + here / "first"};
    job.copies = 8;
    auto const got = run(job);
    CHECK(got.copies.size() == 8);
    CHECK(got.wall_s < 5); // one after the other they would take 8 s
    CHECK(exited(got.copies.at(got.shown), 9));
}

TEST_CASE("waiting for the tree waits for what the first process left behind") {
    auto job = victim({});
    job.path = "/bin/sh";
    job.argv = {"sh", "-c", "(sleep 0.3; echo late) & exit 0"};
    job.environment = {"PATH=/usr/bin:/bin"};
    CHECK(run(job).out.head.empty());
    job.wait_tree = true;
    auto const got = run(job);
    CHECK(got.out.head == "late\n");
    CHECK(got.left_running == 0);
    CHECK(got.wall_s >= 0.3);
}

TEST_CASE("processor time of the whole tree is counted, of orphans that we reap too") {
    auto job = victim({});
    job.path = "/bin/sh";
    // the first process ends at once; two orphans burn a second each
    job.argv = {"sh", "-c", "for i in 1 2; do \"$V\" stubborn 1 & done; exit 0"};
    job.environment = {"V=" + victim_path()};
    job.wait_tree = true;
    job.held.wall_ns = 60'000'000'000;
    auto const got = run(job);
    CHECK(got.orphans.user_s + got.orphans.system_s > 1.9);
    CHECK(got.copies.at(0).used.user_s + got.copies[0].used.system_s < 0.5);
}

TEST_CASE("bytes asked for and bytes made dirty for storage are told apart") {
    folder here;
    auto job = victim({});
    job.path = "/bin/dd";
    job.argv = {"dd", "if=/dev/zero", "of=" + here / "file", "bs=65536", "count=16", "status=none"};
    auto const got = run(job);
    struct stat facts {};
    REQUIRE(::stat((here / "file").c_str(), &facts) == 0);
    auto const& used = got.copies.at(0).used;
    // a folder in memory is no storage, and counts as none
    CHECK((used.written_bytes == 0 || (used.written_bytes >= 16 * 65536 && used.written_bytes < 17 * 65536))); // a folder grows too

    if (got.written_chars) CHECK(*got.written_chars >= 16 * 65536);
    else {
        REQUIRE(::access("/proc/self/io", R_OK) != 0);
        WARN("SKIPPED: /proc/self/io cannot be read here; the counts are null");
    }
}

TEST_CASE("figures of resources are plausible") {
    auto job = victim({"memory", "40"});
    auto const got = run(job);
    CHECK(exited(got.copies.at(0), 0));
    CHECK(got.copies[0].used.peak_rss_bytes > 40 << 20);
    std::int64_t most = 60 << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) // exec takes the largest size over from who called it
    rusage own{};
    REQUIRE(::getrusage(RUSAGE_SELF, &own) == 0);
    most = std::max(most, std::int64_t{own.ru_maxrss} * 1024 + (1 << 20));
#endif
    CHECK(got.copies[0].used.peak_rss_bytes < most);
    CHECK(got.copies[0].wall_s > 0);
}
