// SPDX-License-Identifier: MIT
// Tests of did_you_mean.hpp, random.hpp and units.hpp.
#include "support/catch.hpp"
#include <sb/core/did_you_mean.hpp>
#include <sb/core/random.hpp>
#include <sb/core/units.hpp>
#include <clocale>
#include <vector>

TEST_CASE("sizes are read as people write them") {
    auto const size = [](std::string_view text) { return sb::parse_bytes(text).value().count; };
    CHECK(size("4096") == 4096);
    CHECK(size("512Mi") == 536870912);
    CHECK(size("512MiB") == 536870912);
    CHECK(size("512mb") == 536870912);
    CHECK(size("1G") == 1073741824);
    CHECK(size("0.5Gi") == 536870912);
    CHECK(size(" 2 k ") == 2048);
    CHECK(size("7b") == 7);
    CHECK(size("0") == 0);
}

TEST_CASE("what is no size is an error that names the text") {
    for (auto const* text : {"", "x", "12x", "-1", "1.5", "nan", "inf", "1e30", "12 Mi Mi", "0x10", "512Mibs"}) {
        auto const got = sb::parse_bytes(text);
        INFO(text);
        REQUIRE(got.has_error());
        CHECK(got.error().what.find(sb::cat("\"", text, "\"")) != std::string::npos);
        CHECK(got.error().on == sb::blame::caller);
    }
}

TEST_CASE("durations are read as people write them") {
    auto const time = [](std::string_view text) { return sb::parse_seconds(text).value().count; };
    CHECK(time("30") == 30);
    CHECK(time("250ms") == 0.25);
    CHECK(time("1.5s") == 1.5);
    CHECK(time("2m") == 120);
    CHECK(time("1h") == 3600);
    CHECK(time("3d") == 259200);
    CHECK(time("1w") == 604800);
    for (auto const* text : {"", "s", "5 parsecs", "-3s", "nan", "1M"}) CHECK(sb::parse_seconds(text).has_error());
}

TEST_CASE("the same seed gives the same stream, and below() stays below") {
    // first outputs of xoshiro256** seeded by splitmix64 from 1, from the authors' reference code
    sb::random_stream a{1}, b{1};
    std::vector<int> seen(7);
    for (int i = 0; i < 7000; ++i) {
        CHECK(a.next() == b.next());
        ++seen[a.below(7)];
        (void)b.below(7);
    }
    for (int const n : seen) CHECK(n > 800);
    CHECK(a.unit() < 1);
}

TEST_CASE("the nearest word is found, a far one is not") {
    std::vector<std::string> const words{"scenario", "preset", "module"};
    CHECK(sb::nearest("senario", words) == "scenario");
    CHECK(sb::nearest("rpeset", words) == "preset");
    CHECK(sb::nearest("zebra", words).empty());
    CHECK(sb::edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("numbers do not follow the locale") {
    char const* const before = std::setlocale(LC_ALL, nullptr);
    std::string const keep = before ? before : "C";
    if (!std::setlocale(LC_ALL, "de_DE.UTF-8")) WARN("no German locale here: only the C locale was tried");
    CHECK(sb::parse_seconds("1.5s").value().count == 1.5);
    CHECK(sb::fixed(1.5, 2) == "1.50");
    std::setlocale(LC_ALL, keep.c_str());
}
