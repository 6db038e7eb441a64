// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/check.hpp>
#include <sb/run/summary.hpp>
#include <optional>
#include <string>
#include <utility>

using namespace sb::run;
using sb::end_class;

namespace {
outcome ended(end_class as, std::optional<int> code, std::string reason = {}) {
    outcome got;
    got.copies = 1;
    got.end.class_ = as, got.end.code = code, got.end.reason = std::move(reason);
    return got;
}
outcome exited(int code) { return ended(code == 0 ? end_class::ok : end_class::failed, code); }
outcome killed(end_class as, std::string reason) { return ended(as, std::nullopt, std::move(reason)); }
} // namespace

TEST_CASE("a check says right by 0 and wrong by another status of its own") {
    CHECK(read_check(exited(0), 30).right == true);
    CHECK(read_check(exited(0), 30).why.empty());
    for (int const code : {1, 2, 125, 128, 200, 255}) {
        auto const got = read_check(exited(code), 30);
        CHECK(got.right == false);
        CHECK(got.why == sb::cat("exit status ", code));
    }
}

TEST_CASE("a check that could not be made gives no answer, and why") {
    for (int const code : {126, 127, 129, 137, 192}) {
        INFO(code);
        CHECK_FALSE(read_check(exited(code), 30).right);
        CHECK(read_check(exited(code), 30).why == sb::cat("exit status ", code));
    }
    auto const crashed = killed(end_class::signalled, "signal 11 (Segmentation fault)");
    CHECK_FALSE(read_check(crashed, 30).right);
    CHECK(read_check(crashed, 30).why == "signal 11 (Segmentation fault)");
    auto const late = killed(end_class::timeout, "TIMEOUT: still running after 0.1 s");
    CHECK_FALSE(read_check(late, 0.1).right);
    CHECK(read_check(late, 0.1).why == "still running after 0.100 s (--check-timeout)");
    auto const never = killed(end_class::setup, "exec: No such file or directory");
    CHECK_FALSE(read_check(never, 30).right);
    CHECK(read_check(never, 30).why == "exec: No such file or directory");
}

TEST_CASE("a run that took its sandbox along has not passed") {
    outcome gone;
    gone.lost = "the run's sandbox had to be destroyed: nothing is left to look at";
    CHECK(read_check(gone, 30).right == false);
    CHECK(read_check(gone, 30).why == gone.lost);
}

TEST_CASE("of what a check writes to its standard error the first line is told") {
    auto got = exited(127);
    got.err.head = "sh: 1: chek: not found\nmore\n";
    CHECK(read_check(got, 30).said == "sh: 1: chek: not found");
    CHECK(read_check(exited(0), 30).said.empty());
}

TEST_CASE("the program of a shell command is its first word, unless the shell has to say what it means") {
    CHECK(program_of("grep -q x") == "grep");
    CHECK(program_of("  ./check\t-v") == "./check");
    CHECK(program_of("sort|uniq") == "sort");
    CHECK(program_of("cmp - <wanted") == "cmp");
    for (char const* each : {"", "! grep x", "[ 1 = 1 ]", "test -s x", "if true; then :; fi", "A=1 prog", "\"$PWD/check\"", "$CHECK", "~/check", "{ :; }", "(true)", "cd x && ./check",
                             "f() { :; }; f", "f () { :; }", "# nothing"}) {
        INFO(each);
        CHECK(program_of(each).empty());
    }
}

TEST_CASE("a check looks for nothing where the run may have put it") {
    sight seen_by;
    seen_by.outlasts_a_run = [](std::string const& place) { return place.starts_with("/usr"); };
    auto const found = check_variables({{"PATH", "bin:/usr/bin::/work/bin:/usr/../work:/usr/.."}, {"LD_LIBRARY_PATH", "/work:/usr/lib"}, {"PYTHONPATH", "/work"}, {"SB_REPORT_FD", "3"}, {"A", "b:c"}}, seen_by);
    CHECK(found == variables{{"PATH", "/usr/bin"}, {"LD_LIBRARY_PATH", "/usr/lib"}, {"PYTHONSAFEPATH", "1"}, {"A", "b:c"}});
    CHECK(check_variables({{"PATH", "/work/bin"}, {"PYTHONSAFEPATH", ""}}, seen_by) == variables{{"PATH", std::string{default_path}}, {"PYTHONSAFEPATH", ""}});
    // without walls the folder that it runs in is what a run may have written
    CHECK(check_variables({{"PATH", "/proc/self/cwd:/usr/bin:/nonexistent"}}, {}).at("PATH") == "/usr/bin");
    // what a script that is named imports from beside it
    CHECK(check_variables({}, seen_by, "python3 /c/judge.py <out && python3 'tools/x.py' | python3 y.py").at("PYTHONPATH") == "/c:tools:.");
    CHECK(check_variables({{"PYTHONPATH", "/usr/lib/x"}}, seen_by, "python3 /j.py").at("PYTHONPATH") == "/:/usr/lib/x");
    // what is only given to a script is not, and where one script is sure no other's folder is searched
    CHECK(check_variables({}, seen_by, "python3 /c/judge.py solution.py <other.py").at("PYTHONPATH") == "/c");
    CHECK(check_variables({}, seen_by, "python3 -X dev -W error -B /c/judge.py out/solution.py").at("PYTHONPATH") == "/c");
    CHECK(check_variables({}, seen_by, "python3 x.py; A=1 /usr/bin/python3.11 /usr/judge/j.py").at("PYTHONPATH") == "/usr/judge");
    CHECK(check_variables({}, seen_by, "/usr/judge/j.py x.py").at("PYTHONPATH") == "/usr/judge");
    for (char const* each : {"cat x.py", "python3 -c pass x.py", "python3 -m mod x.py", "python3 prog x.py", "sh -c x.py", "true >x.py"}) {
        INFO(each);
        CHECK_FALSE(check_variables({}, seen_by, each).contains("PYTHONPATH"));
    }
    CHECK(!check_variables({}, seen_by, "python3 -c 'import json' expected.pyc").contains("PYTHONPATH"));
    CHECK(!check_variables({{"PYTHONSAFEPATH", ""}}, seen_by, "python3 /c/judge.py").contains("PYTHONPATH"));
    seen_by = {}, seen_by.folder = "/usr";
    CHECK(check_variables({{"PATH", "/usr/bin:/etc"}}, seen_by).at("PATH") == "/etc");
}

TEST_CASE("a check has the run's limits, and not fewer files and processes than a run has by default") {
    sb::key::setup run;
    run.wall_ns = 5, run.output_bytes = 6, run.memory_bytes = 7, run.cpu_seconds = 8, run.file_bytes = 9;
    auto held = setup_of_check(run, 1.5);
    CHECK(held.wall_ns == 1'500'000'000);
    CHECK(held.file_bytes == 9);
    for (auto const each : {held.output_bytes, held.memory_bytes, held.cpu_seconds, held.open_files, held.user_processes, held.all_files}) CHECK(each == sb::key::setup::none);
    run.open_files = 16, run.user_processes = 3, run.all_files = 1000, run.file_shares = 2;
    held = setup_of_check(run, 1);
    CHECK(held.open_files == 1024);
    CHECK(held.user_processes == 1025); // and the sandbox's own
    CHECK(held.all_files == 1000);
    CHECK(held.file_shares == 2);
    run.open_files = 5000, run.user_processes = 6000;
    held = setup_of_check(run, 1);
    CHECK(held.open_files == 5000);
    CHECK(held.user_processes == 6000);
}

TEST_CASE("a command that no shell can read is an error, and nothing of any is run") {
    CHECK_FALSE(check_syntax("if true; then exit 3; fi").has_error());
    CHECK_FALSE(check_syntax("kill -9 $$").has_error());
    CHECK_FALSE(check_syntax("echo 'it'\"'\"'s'").has_error());
    auto const bad = check_syntax("if true; then");
    REQUIRE(bad.has_error());
    CHECK(bad.error().on == sb::blame::caller);
    CHECK(bad.error().what.starts_with("--check: "));
}

TEST_CASE("an output that is wrong, or that nobody judged, is no good end; how the run itself ended comes first") {
    sb::run_record ok, failed;
    failed.end = {sb::end_class::failed, 3, {}, "exit status 3"};
    check_answer const right{true, "", ""}, wrong{false, "exit status 1", ""}, none{{}, "exit status 127", ""};
    CHECK(judge(ok, nullptr).badness == 0);
    CHECK(judge(ok, &right).badness == 0);
    CHECK(judge(ok, &wrong).end == "wrong output");
    CHECK(judge(ok, &none).end == "not checked");
    CHECK(judge(ok, &none).badness < judge(ok, &wrong).badness);
    for (auto const* each : {&right, &wrong, &none}) {
        CHECK(judge(failed, each).end == "failed");
        CHECK(judge(failed, each).badness > judge(ok, &wrong).badness);
    }

    summary all;
    for (auto const* each : {&right, &none, &wrong, &right}) all.add(ok, judge(ok, each));
    auto const rows = all.rows();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].runs == 4);
    CHECK(rows[0].ok == 2);
    CHECK(rows[0].worst.end == "wrong output");
    CHECK(rows[0].worst.why == "exit status 1");
}
