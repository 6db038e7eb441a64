// SPDX-License-Identifier: MIT
// Objects of any size find their members by name.
#include "support/catch.hpp"
#include <sb/core/clock.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <string>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // g++ 12 takes the moves of a std::variant for reads of what is not there
#endif

using sb::object;
using sb::value;

TEST_CASE("a large object finds, replaces and forgets its members as a small one does") {
    for (int const size : {0, 1, 31, 32, 33, 34, 1000}) {
        object all;
        for (int i = 0; i < size; ++i) CHECK(all.set(sb::cat("key", i), value{i}));
        for (int i = 0; i < size; ++i) REQUIRE(all.find(sb::cat("key", i)) != nullptr);
        CHECK(all.find("none") == nullptr);
        if (size == 0) continue;
        CHECK_FALSE(all.set("key0", value{"again"}));
        CHECK(all.size() == static_cast<std::size_t>(size));
        CHECK(all.find("key0")->string_or("") == "again");
        auto const copy = all;
        CHECK(all.erase("key0"));
        CHECK(all.find("key0") == nullptr);
        CHECK(copy.find("key0")->string_or("") == "again");
        all.members().emplace_back("late", value{true}); // behind the back of the index
        REQUIRE(all.find("late") != nullptr);
        if (size > 1) CHECK(*all.find(sb::cat("key", size - 1))->if_integer() == size - 1);
        auto const moved = std::move(all);
        CHECK(moved.find("late") != nullptr);
    }
}

TEST_CASE("of equal names that were put in behind its back, an object finds the first") {
    object all;
    for (int i = 0; i < 100; ++i) all.members().emplace_back("same", value{i});
    CHECK(*all.find("same")->if_integer() == 0);
}
