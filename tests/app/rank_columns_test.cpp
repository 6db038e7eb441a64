// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/app/rank_columns.hpp>
#include <string>
#include <vector>

namespace {

sb::rank_record row(std::string name, double total, std::int64_t n) {
    sb::rank_record r;
    r.by = "scenario", r.name = std::move(name), r.metric = "roi", r.total = total, r.n = n, r.mean = total / static_cast<double>(n);
    return r;
}
std::string text(std::vector<sb::rank_record> const& rows) { return sb::cli::table_of(rows, sb::app::rank_columns(rows, "scenario")).text(); }

} // namespace

TEST_CASE("rows are numbered, and marks say what is not settled") {
    auto first = row("a", 3, 2), second = row("b", 3, 1);
    first.lo = 1, first.hi = 2, first.effect = 0.25, first.tie = true, first.overlaps_next = true, first.overlaps_baseline = true, first.last_security_score = 7;
    CHECK(text({first, second}) == "#  scenario  total   mean   95 % interval  n  security  effect\n"
                                   "1  a         3.000  1.500  1.000 .. 2.000  2       7.0  +0.250  =~b\n"
                                   "2  b         3.000  3.000               -  1         -       -\n");
}

TEST_CASE("all rows have the digits that the smallest difference needs, and an exponent where decimals would show nothing") {
    auto near = row("a", 1, 1);
    near.effect = -0.0002; // its first digit is the fourth decimal; one more is shown
    CHECK(text({near}).find("1.00000  1.00000") != std::string::npos);
    CHECK(text({near}).find("-0.00020") != std::string::npos);
    CHECK(text({row("a", 0.00002, 1)}).find("2.000e-05") != std::string::npos);
    CHECK(text({row("a", -0.0001, 1)}).find(" -0") == std::string::npos); // zero has no sign
}

TEST_CASE("a note stands below for each mark that there is, and for no other") {
    auto first = row("a", 3, 2), second = row("b", 3, 1);
    first.lo = 1, first.hi = 2, second.lo = 1, second.hi = 2;
    CHECK(sb::app::rank_notes({first, first}, "normal", false).empty());
    CHECK(sb::app::rank_notes({first, second}, "normal", false) == "ordered by total; n differs (1 to 2): --sort mean compares single runs\n");
    CHECK(sb::app::rank_notes({first, second}, "normal", true).empty());
    first.effect = 0, first.tie = true, second.overlaps_baseline = true;
    CHECK(sb::app::rank_notes({first, second}, "\x1b[1m", true) == "effect: mean against \\x1b[1m\n=  the same mean as another row: ordered by total, then by name\n"
                                                                   "b  the interval overlaps the baseline's: the effect is not settled\n");
    CHECK(sb::app::rank_notes({row("a", 1, 1)}, "normal", false) == "-  no interval from fewer than two values\n");
}
