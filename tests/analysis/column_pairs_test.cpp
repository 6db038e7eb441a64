// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/analysis/column_pairs.hpp>
#include <vector>

using sb::analysis::column;
using sb::analysis::in_pairs;

TEST_CASE("values of one line are a pair, whatever either side lacks") {
    column const l{"l", {1, 3, 4, 5, 6.5}, {1}}, r{"r", {10, 20, 30, 40, 51}, {5}};
    auto const got = in_pairs(l, r, "correlation");
    REQUIRE_FALSE(got.has_error());
    CHECK(got->two[0].values == std::vector<double>{1, 3, 4, 5});
    CHECK(got->two[1].values == std::vector<double>{10, 30, 40, 51});
    CHECK(got->two[0].name == "l");
    CHECK(got->two[1].name == "r");
    CHECK(got->one_sided == 2);
}

TEST_CASE("a line that neither side has is no pair") {
    column const l{"l", {1, 2}, {0, 2, 4}}, r{"r", {3, 4}, {0, 2, 4}};
    auto const got = in_pairs(l, r, "correlation");
    REQUIRE_FALSE(got.has_error());
    CHECK(got->two[0].values == l.values);
    CHECK(got->two[1].values == r.values);
    CHECK(got->one_sided == 0);
    auto const nothing = in_pairs({"l", {1}, {1}}, {"r", {2}, {0}}, "correlation");
    REQUIRE_FALSE(nothing.has_error());
    CHECK(nothing->two[0].values.empty());
    CHECK(nothing->one_sided == 2);
}

TEST_CASE("columns of different lengths are no pairs, and as many numbers do not make them any") {
    CHECK(in_pairs({"l", {1, 2, 3}}, {"r", {1, 2}}, "--paired").error().what == "--paired: the samples have 3 and 2 lines");
    CHECK(in_pairs({"l", {1, 2}, {0}}, {"r", {1, 2}}, "--paired").error().what == "--paired: the samples have 3 and 2 lines, though 2 numbers each; pairs are formed by line");
    CHECK_FALSE(in_pairs({"l"}, {"r"}, "--paired").has_error());
}
