// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/summary.hpp>
#include <string>
#include <string_view>
#include <vector>

using namespace sb::run;
using sb::end_class;

namespace {
sb::run_record run(std::string scenario, double wall_s, end_class end = end_class::ok, std::string reason = {}) {
    sb::run_record made;
    made.scenario = std::move(scenario), made.wall_s = wall_s;
    made.end.class_ = end, made.end.reason = std::move(reason);
    return made;
}
using lines = std::vector<std::string_view>;
} // namespace

TEST_CASE("a run that ended well went well if its output was found right, or nobody looked") {
    check_answer const right{true, {}, {}};
    CHECK(judge(run("a", 1), nullptr).badness == 0);
    CHECK(judge(run("a", 1), nullptr).end == "ok");
    CHECK(judge(run("a", 1), &right).badness == 0);
}

TEST_CASE("an output that could not be checked is the mildest bad end, and a wrong one milder than any bad end of the run") {
    check_answer const unknown{std::nullopt, "the check was killed", {}}, wrong{false, "the check exited with 1", {}};
    auto const not_checked = judge(run("a", 1), &unknown), not_right = judge(run("a", 1), &wrong), failed = judge(run("a", 1, end_class::failed, "exit status 3"), nullptr),
               setup = judge(run("a", 1, end_class::setup, "no memory"), nullptr);
    CHECK(not_checked.end == "not checked");
    CHECK(not_checked.why == "the check was killed");
    CHECK(not_right.end == "wrong output");
    CHECK(not_right.why == "the check exited with 1");
    CHECK(failed.end == "failed");
    CHECK(failed.why == "exit status 3");
    CHECK(0 < not_checked.badness);
    CHECK(not_checked.badness < not_right.badness);
    CHECK(not_right.badness < failed.badness);
    CHECK(failed.badness < setup.badness);
}

TEST_CASE("a check does not change what is said of a run that ended badly") {
    check_answer const right{true, {}, {}};
    CHECK(judge(run("a", 1, end_class::timeout, "still running after 1 s"), &right).end == "timeout");
}

TEST_CASE("a summary has a row for each scenario, in the order in which they came") {
    summary all;
    CHECK(all.rows().empty());
    for (double const wall : {0.4, 0.1, 0.3, 0.2, 0.5}) all.add(run("slow", wall), {});
    all.add(run("lone", 7), {});
    auto peak = run("slow", 0.6);
    peak.peak_rss_bytes = 100;
    all.add(peak, {});
    peak.peak_rss_bytes = 50;
    peak.wall_s = 0.7;
    all.add(peak, {2, "wrong output", "first"});
    all.add(run("slow", 0.8), {5, "memory", "worst"});
    all.add(run("slow", 0.9), {5, "memory", "later"});
    auto const rows = all.rows();
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].scenario == "slow");
    CHECK(rows[0].runs == 9);
    CHECK(rows[0].ok == 6);
    CHECK(rows[0].median_wall_s == Approx(0.5)); // of 0.1, 0.2 … 0.9
    CHECK(rows[0].p95_wall_s == Approx(0.86)); // at 7.6 of the places 0 to 8
    CHECK(rows[0].peak_rss_bytes == 100);
    CHECK(rows[0].worst.end == "memory");
    CHECK(rows[0].worst.why == "worst");
    CHECK(rows[1].scenario == "lone");
    CHECK(rows[1].median_wall_s == 7);
    CHECK(rows[1].p95_wall_s == 7);
    CHECK_FALSE(rows[1].peak_rss_bytes);
    CHECK(rows[1].worst.badness == 0);
}

TEST_CASE("the last lines of a text come in their order, without the empty ones at its end") {
    CHECK(last_lines("a\nb\nc\n", 2) == lines{"b", "c"});
    CHECK(last_lines("a\nb\n\n\n", 5) == lines{"a", "b"});
    CHECK(last_lines("a\n\nb", 5) == lines{"a", "", "b"});
    CHECK(last_lines("a", 10) == lines{"a"});
    CHECK(last_lines("", 10).empty());
    CHECK(last_lines("a", 1) == lines{"a"});
    CHECK(last_lines("a\nb", 0).empty());
    CHECK(last_lines("", 3).empty());
    CHECK(last_lines("\n\n", 3).empty());
}
