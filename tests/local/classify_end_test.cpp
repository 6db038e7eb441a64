// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/local/classify_end.hpp>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

using namespace sb::local;
using sb::end_class;
using sb::watch::killer;

namespace {
constexpr int exit_status(int code) { return code << 8; }

sb::watch::outcome one(int status, killer by = killer::nobody) {
    sb::watch::outcome got;
    got.copies.emplace_back().status = status;
    got.killed_by = by;
    return got;
}
struct told {
    sb::run_end end;
    std::vector<std::string> hit;
};
told tell(sb::watch::outcome const& got, sb::key::setup const& held = {}) {
    told all;
    int not_ok = 0;
    all.end = end_of_run(got, held, all.hit, not_ok);
    return all;
}
} // namespace

TEST_CASE("exit 0 is ok and has no reason; another status failed") {
    CHECK(tell(one(0)).end.class_ == end_class::ok);
    CHECK(tell(one(0)).end.reason.empty());
    auto const failed = tell(one(exit_status(3)));
    CHECK(failed.end.class_ == end_class::failed);
    CHECK(failed.end.code == 3);
    CHECK(failed.end.reason == "exit status 3");
}

TEST_CASE("a status above 128 says which signal a shell means by it, and stays a failure") {
    auto const got = tell(one(exit_status(137)));
    CHECK(got.end.class_ == end_class::failed);
    CHECK(got.end.reason == "exit status 137 (from a shell this means signal 9, Killed)");
}

TEST_CASE("what the sandbox's rules keep from running is refused, what cannot run is setup") {
    using sb::process::spawn_step;
    sb::key::setup walled;
    walled.level = 4;
    auto const stopped = [](spawn_step at, int code) {
        auto got = one(0);
        got.copies.front().failure = {at, code};
        return got;
    };
    auto const strict = tell(stopped(spawn_step::exec, EACCES), walled).end;
    CHECK(strict.class_ == end_class::refused);
    CHECK_FALSE(strict.code);
    CHECK(strict.reason.find("SECURITY_LEVEL 4") != std::string::npos);
    walled.level = 3;
    CHECK(tell(stopped(spawn_step::exec, EPERM), walled).end.class_ == end_class::refused);
    CHECK(tell(stopped(spawn_step::exec, ENOENT), walled).end.class_ == end_class::setup);
    CHECK(tell(stopped(spawn_step::folder, EACCES), walled).end.class_ == end_class::setup);
    CHECK(tell(stopped(spawn_step::exec, EACCES)).end.class_ == end_class::setup); // without walls nobody refuses
    CHECK(tell(one(SIGSYS), walled).end.class_ == end_class::signalled); // the filter's and anybody's are the same
    CHECK(tell(one(SIGSYS), walled).end.signal == SIGSYS);
    CHECK(tell(one(SIGSYS), walled).end.reason.find("another architecture") != std::string::npos);
    CHECK(tell(one(SIGSYS)).end.class_ == end_class::signalled);
}

TEST_CASE("a limit is the class when we killed for it, and first cause wins") {
    sb::key::setup held;
    held.wall_ns = 1'500'000'000, held.output_bytes = 100;
    auto const late = tell(one(SIGKILL, killer::wall), held);
    CHECK(late.end.class_ == end_class::timeout);
    CHECK(late.end.reason == "TIMEOUT: still running after 1.5 s");
    CHECK(late.hit == std::vector<std::string>{"TIMEOUT"});
    held.all_files = 5000;
    auto const many = tell(one(SIGKILL, killer::files), held);
    CHECK(many.end.class_ == end_class::files);
    CHECK(many.end.reason == "OPEN_FILES_LIMIT: its processes together had too many of the 5000 files that a run may have open here");
    CHECK(many.hit == std::vector<std::string>{"OPEN_FILES_LIMIT"});
    auto const done = tell(one(0, killer::files), held); // it had ended by itself
    CHECK(done.end.class_ == end_class::ok);
    CHECK(done.hit == std::vector<std::string>{"OPEN_FILES_LIMIT"});
    auto const sockets = tell(one(SIGKILL, killer::sockets), held);
    CHECK(sockets.end.class_ == end_class::memory);
    CHECK(sockets.hit == std::vector<std::string>{"MEMORY_LIMIT"});
    auto const kept = tell(one(SIGKILL, killer::kernel_memory), held);
    CHECK(kept.end.class_ == end_class::memory);
    CHECK(kept.hit == std::vector<std::string>{"MEMORY_LIMIT"});
    auto const loud = tell(one(SIGKILL, killer::output), held);
    CHECK(loud.end.class_ == end_class::output);
    CHECK(loud.hit == std::vector<std::string>{"OUTPUT_LIMIT"});
}

TEST_CASE("a program that ended well as we were about to kill it is ok, and the limit is named") {
    auto const got = tell(one(0, killer::output));
    CHECK(got.end.class_ == end_class::ok);
    CHECK(got.hit == std::vector<std::string>{"OUTPUT_LIMIT"});
}

TEST_CASE("a signal is a limit's only where the limit was set") {
    sb::key::setup held;
    CHECK(tell(one(SIGXFSZ), held).end.class_ == end_class::signalled);
    held.file_bytes = 10;
    CHECK(tell(one(SIGXFSZ), held).end.class_ == end_class::disk);
    CHECK(tell(one(SIGXFSZ), held).hit == std::vector<std::string>{"FILE_LIMIT"}); // without walls nobody looks
    held.level = 3;
    CHECK(tell(one(SIGXFSZ), held).end.class_ == end_class::signalled); // raised by itself: no file is so large
    CHECK(tell(one(SIGXFSZ), held).hit.empty());
    CHECK(tell(one(SIGXFSZ), held).end.reason == "signal 25 (File size limit exceeded); no file of 10 bytes (FILE_LIMIT) is left");
    auto large = one(SIGXFSZ);
    large.file_limit_reached = true;
    CHECK(tell(large, held).end.class_ == end_class::disk);
    CHECK(tell(large, held).hit == std::vector<std::string>{"FILE_LIMIT"});
    auto orphan = one(0);
    orphan.orphan_broke_file_limit = true;
    CHECK(tell(orphan, held).hit.empty());
    orphan.file_limit_reached = true;
    CHECK(tell(orphan, held).hit == std::vector<std::string>{"FILE_LIMIT"});
    CHECK(tell(one(SIGXCPU), held).hit.empty());
    held.cpu_seconds = 2;
    CHECK(tell(one(SIGXCPU), held).end.class_ == end_class::signalled);
    CHECK(tell(one(SIGXCPU), held).hit.empty()); // raised by itself: hardly any time was used
    auto spent = one(SIGXCPU);
    spent.copies.front().used.user_s = 1.6;
    CHECK(tell(spent, held).hit == std::vector<std::string>{"CPU_SECONDS"});
    CHECK(tell(spent, held).end.class_ == end_class::signalled);
    CHECK(tell(one(SIGKILL), held).hit.empty()); // somebody else's: the time was not used up
    spent.copies.front().used.user_s = 1.5;
    CHECK(tell(spent, held).hit.empty());
    for (int const signal : {SIGXCPU, SIGKILL}) { // its children used the time, and each process has as much
        auto parent = one(signal);
        parent.copies.front().used.user_s = 9, parent.copies.front().own_s = 0.1;
        CHECK(tell(parent, held).hit.empty());
        parent.copies.front().own_s = 2.0;
        CHECK(tell(parent, held).hit == std::vector<std::string>{"CPU_SECONDS"});
    }
}

TEST_CASE("a run of copies is as bad as the worst and says how many") {
    sb::watch::outcome got;
    got.copies.resize(4);
    got.copies[1].status = exit_status(1);
    got.copies[2].status = SIGSEGV;
    auto const all = tell(got);
    CHECK(all.end.class_ == end_class::signalled);
    CHECK(all.end.signal == SIGSEGV);
    CHECK(all.end.reason == "2 of 4 copies failed; the worst: signal 11 (Segmentation fault)");
}

TEST_CASE("a program that could not be executed is a matter of setup") {
    auto got = one(0);
    got.copies[0].failure = {sb::process::spawn_step::exec, EACCES};
    CHECK(tell(got).end.class_ == end_class::setup);
    CHECK(tell(got).end.reason == "exec: Permission denied");
}
