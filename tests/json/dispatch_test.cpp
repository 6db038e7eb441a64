// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/json/dispatch.hpp>
#include <sb/record/preset.hpp>
#include <sb/record/rank.hpp>
#include <sb/record/run.hpp>
#include <string>
#include <vector>

namespace {

using line_is = sb::json::dispatched::line_is;

std::string rank_line(std::string name) {
    sb::rank_record r;
    r.by = "scenario", r.name = std::move(name), r.n = 2;
    return sb::json::line(r);
}

} // namespace

TEST_CASE("a line goes to the handler of its kind, and to no other") {
    std::vector<std::string> heard;
    auto const say = [&](std::string_view line) {
        return sb::json::dispatch(
            line, sb::json::on<sb::rank_record>([&](sb::rank_record r) { heard.push_back("rank " + r.name); }),
            sb::json::on<&sb::run_record::run_id>([&](std::string id) { heard.push_back("run " + id); }),
            sb::json::on<sb::preset_record>([&] { heard.push_back("preset"); }),
            sb::json::otherwise([&](std::string_view kind) { heard.push_back("other " + std::string{kind}); })).is;
    };
    CHECK(say(rank_line("normal")) == line_is::taken);
    CHECK(say(R"({"kind":"run","v":1,"metrics":{"a":[1,2]},"run_id":"0123"})") == line_is::taken);
    CHECK(say(R"({"run_id":"x","k\u0069nd":"run"})") == line_is::taken);
    CHECK(say(R"({"kind":"preset","A":{}})") == line_is::taken);
    CHECK(say(R"({"kind":"event","run_id":1})") == line_is::other);
    CHECK(say(R"({"run_id":"x"})") == line_is::without_kind);
    CHECK(say(R"({"kind":7})") == line_is::without_kind);
    CHECK(say("[{\"kind\":\"run\"}]") == line_is::no_object);
    CHECK(say(" null ") == line_is::no_object);
    CHECK(heard == std::vector<std::string>{"rank normal", "run 0123", "run x", "preset", "other event"});
}

TEST_CASE("members are given in the order in which they are named, each of its type, and an optional one may be missing") {
    std::string id;
    double wall = 0;
    std::optional<double> roi = 7, value;
    auto const got = sb::json::dispatch(
        R"({"kind":"run","value":3,"wall_s":1,"run_id":"x","wall_s":2})",
        sb::json::on<&sb::run_record::run_id, &sb::run_record::wall_s, &sb::run_record::roi, &sb::run_record::value>(
            [&](std::string i, double w, std::optional<double> r, std::optional<double> v) { id = i, wall = w, roi = r, value = v; }));
    CHECK(got.is == line_is::taken);
    CHECK(got.duplicates == 1);
    CHECK(id == "x");
    CHECK(wall == 2); // the last of equal keys
    CHECK_FALSE(roi);
    CHECK(value == 3);
}

TEST_CASE("what does not fit is said, and the handler is not called") {
    auto const say = [](std::string_view line) {
        auto const got = sb::json::dispatch(
            line, sb::json::on<&sb::run_record::run_id>([](std::string) { FAIL("called"); }), sb::json::on<sb::rank_record>([](sb::rank_record) { FAIL("called"); }));
        return sb::cat(static_cast<int>(got.is), " ", got.at, " ", got.what);
    };
    auto const misfit = sb::cat(static_cast<int>(line_is::misfit), " 0 ");
    auto const broken = static_cast<int>(line_is::broken);
    CHECK(say(R"({"kind":"run"})") == misfit + "no \"run_id\"");
    CHECK(say(R"({"kind":"run","run_id":7})") == misfit + "\"run_id\" is not a string");
    CHECK(say(R"({"kind":"rank","by":1})") == misfit + "\"by\" is not a string");
    CHECK(say(R"({"kind":"run","run_id":"x","other":[1 2]})") == sb::cat(broken, " 38 no comma between elements"));
    CHECK(say(R"({"kind":"run","run_id":"x"}})") == sb::cat(broken, " 27 text after the end of the value"));
    CHECK(say("\xef\xbb\xbf{\"kind\":\"run\"}") == sb::cat(broken, " 0 a byte order mark"));
    CHECK(say("") == sb::cat(broken, " 0 the text ends where a value should be"));
}

TEST_CASE("a member's name in JSON is the struct's") {
    CHECK(sb::json::name_of_member<&sb::run_record::run_id>() == "run_id");
    CHECK(sb::json::name_of_member<&sb::run_record::stdout_>() == "stdout");
    CHECK(sb::json::name_of_member<&sb::run_end::class_>() == "class");
}
