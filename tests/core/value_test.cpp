// SPDX-License-Identifier: MIT
// What open maps need of Boost.JSON's objects.
#include "support/catch.hpp"
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <string>

using sb::object;
using sb::value;

TEST_CASE("an object of any size keeps the order in which its keys came") {
    for (int const size : {1, 18, 19, 33, 1000}) {
        object all;
        for (int i = 0; i < size; ++i) CHECK(all.emplace(sb::cat("key", i), i).second);
        all["key0"] = "again";
        CHECK(all.size() == static_cast<std::size_t>(size));
        CHECK(sb::string_or(*all.if_contains("key0"), "") == "again");
        CHECK(all.if_contains("none") == nullptr);
        int at = 0;
        for (auto const& member : all) CHECK(std::string_view{member.key()} == sb::cat("key", at++));
        if (size == 1) continue;
        all.stable_erase("key0"), at = 1;
        for (auto const& member : all) CHECK(std::string_view{member.key()} == sb::cat("key", at++));
    }
}

TEST_CASE("keys are sorted by their bytes, and keep their values") {
    object all{{"b", 2}, {"a", object{{"z", 1}}}, {"\xc3\xa9", 4}, {"B", 0}};
    sb::sort_keys(all);
    std::string keys;
    for (auto const& member : all) keys += std::string_view{member.key()};
    CHECK(keys == "Bab\xc3\xa9");
    CHECK(*all.if_contains("a") == value(object{{"z", 1}}));
    CHECK(sb::number_or(*all.if_contains("\xc3\xa9"), 0) == 4);
}

TEST_CASE("numbers of every kind are numbers, and nothing else is") {
    CHECK(sb::number_or(value(-3), 0) == -3);
    CHECK(sb::number_or(value(UINT64_MAX), 0) == 0x1p64);
    CHECK(sb::number_or(value(0.5), 0) == 0.5);
    CHECK(sb::number_or(value("1"), 7) == 7);
    CHECK(sb::string_or(value(1), "other") == "other");
}
