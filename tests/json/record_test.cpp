// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/json/record.hpp>
#include <sb/record/preset.hpp>
#include <sb/record/rank.hpp>
#include <sb/record/run.hpp>
#include <cmath>

namespace {

template <class R>
R read_back(std::string const& line) {
    sb::value v;
    REQUIRE_FALSE(sb::json::parse(sb::trim(line), v));
    R r;
    auto const got = sb::json::read_record(v, r);
    INFO((got.has_error() ? got.error().what : ""));
    REQUIRE_FALSE(got.has_error());
    return r;
}

sb::run_record sample_run() {
    sb::run_record r;
    r.run_id = "0123456789abcdef", r.scenario = "na\xc3\xafve \"x\"", r.rep = 2, r.seed = -7;
    r.end = {sb::end_class::signalled, std::nullopt, 9, "killed"};
    r.wall_s = 0.1, r.peak_rss_bytes = std::int64_t{1} << 40, r.metrics = {{"p95", 1e-3}, {"nan", std::nan("")}};
    r.applied.push_back({"TIMEOUT", 30, 30.0, "timer"});
    r.stdout_.head = std::string("\0\x1b[31m\xff", 7);
    return r;
}

} // namespace

TEST_CASE("a record is written, read and written again to the same bytes") {
    auto const line = sb::json::line(sample_run());
    CHECK(sb::json::line(read_back<sb::run_record>(line)) == line);
    sb::rank_record rank;
    rank.by = "scenario", rank.name = "normal", rank.metric = "roi", rank.total = 0.1 + 0.2, rank.mean = 0.3, rank.n = 1;
    CHECK(sb::json::line(read_back<sb::rank_record>(sb::json::line(rank))) == sb::json::line(rank));
}

TEST_CASE("what is no UTF-8 is written readably and what is not finite as null") {
    auto const line = sb::json::line(sample_run());
    CHECK(line.find(R"("head":"\u0000\u001b[31m\\xff")") != std::string::npos);
    CHECK(line.find(R"("nan":null)") != std::string::npos);
    CHECK(line.starts_with(R"({"kind":"run","v":1,"run_id":)"));
}

TEST_CASE("a missing member is named, a wrong one too, an unknown one passed over") {
    sb::rank_record r;
    sb::value v;
    REQUIRE_FALSE(sb::json::parse(R"({"kind":"rank","v":1,"by":"scenario","new":1})", v));
    CHECK(sb::json::read_record(v, r).error().what == "no \"name\"");
    REQUIRE_FALSE(sb::json::parse(R"({"by":"scenario","name":7})", v));
    CHECK(sb::json::read_record(v, r).error().what == "\"name\" is not a string");
}

TEST_CASE("a schema requires what may not be null") {
    auto const schema = sb::json::schema_document<sb::rank_record>();
    auto const required = sb::json::text_of(*schema.if_contains("required"));
    CHECK(required == R"(["kind","v","by","name","metric","total","n"])");
}
