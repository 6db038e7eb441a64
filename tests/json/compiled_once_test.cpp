// SPDX-License-Identifier: MIT
// This program takes what is compiled once from here, as a program outside this tree would.
#include "support/catch.hpp"
#include <sb/json/compiled_once.hpp>
#include <sb/json/write.hpp>
#include <string>
#include <thread>
#include <vector>

TEST_CASE("a text larger than the room that is kept is read, and a small one behind it") {
    std::string large = "[";
    for (int i = 0; i < 400'000; ++i) large += sb::cat(i ? "," : "", i);
    large += "]";
    REQUIRE(large.size() > std::size_t{1} << 21);
    for (int turn = 0; turn < 2; ++turn) {
        sb::value v;
        REQUIRE_FALSE(sb::json::parse(large, v));
        CHECK(v.as_array().size() == 400'000);
        CHECK(sb::json::text_of(v) == large);
        REQUIRE_FALSE(sb::json::check(large));
        REQUIRE_FALSE(sb::json::parse("[1]", v));
        CHECK(sb::json::text_of(v) == "[1]");
        CHECK(sb::json::parse("[1", v)->at == 2);
    }
}

TEST_CASE("what a simdjson of another depth has checked changes no later check") {
    sb::json::parse_limits const shallow{.depth = 2};
    for (int turn = 0; turn < 2; ++turn) {
        CHECK_FALSE(sb::json::check("[[1]]", shallow));
        CHECK(sb::json::check("[[[1]]]", shallow));
        CHECK_FALSE(sb::json::check("[[[1]]]"));
        sb::value v;
        CHECK_FALSE(sb::json::parse("[[1]]", v, nullptr, shallow));
        CHECK(sb::json::parse("[[[1]]]", v, nullptr, shallow));
    }
}

TEST_CASE("threads read at once, each its own text") {
    std::vector<int> wrong(4);
    std::vector<std::thread> all;
    for (std::size_t mine = 0; mine < wrong.size(); ++mine)
        all.emplace_back([mine, &wrong] {
            for (int i = 0; i < 500; ++i) {
                auto const text = sb::cat(R"({"thread":)", mine, R"(,"turn":[)", i, "]}");
                sb::value v;
                if (sb::json::parse(text, v) || sb::json::text_of(v) != text) ++wrong[mine];
            }
        });
    for (auto& each : all) each.join();
    CHECK(wrong == std::vector<int>(4));
}
