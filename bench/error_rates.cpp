// SPDX-License-Identifier: MIT
// error_rates [FILE]: how often tests reject what is true and intervals miss it, where 5 % are asked for; by simulation with fixed
// seeds. As Markdown tables, on standard output or between the two marks of FILE. Exit 1 when a method breaks what it promises.
#include "page.hpp"
#include "support/error_rates.hpp"
#include <cstdio>
#include <span>
#include <string>

namespace {

bool broken = false;

std::string table(char const* head, std::span<sb::test::error_row const> rows) {
    constexpr int rounds = 20'000;
    constexpr char const* promises[] = {"exactly", "at most", "nearly"};
    std::string out = sb::cat("| ", head, " | 5 % hold | n = 20 | 50 | 200 |\n| --- | --- | ---: | ---: | ---: |\n");
    for (auto const& row : rows) {
        out += sb::cat("| ", row.words, " | ", promises[static_cast<int>(row.claim)], " |");
        for (std::size_t size = 0; size < std::size(sb::test::error_sizes); ++size) {
            auto const got = sb::test::rate_of(row, size, rounds, 2026 + size);
            bool const breaks = got.breaks(row.claim);
            out += sb::cat(breaks ? " **" : " ", sb::fixed(100 * got.rate, 1), " ± ", sb::fixed(100 * got.error, 1), breaks ? "** |" : " |");
            broken |= breaks;
        }
        out += "\n";
    }
    return out;
}

} // namespace

int main(int argc, char** argv) {
    auto const tables = sb::cat(table("false alarms, %", sb::test::tests_of_nothing), "\n", table("misses of 95 % intervals, %", sb::test::intervals_of_something));
    std::fwrite(tables.data(), 1, tables.size(), stdout);
    if (broken) std::fputs("bold: beyond three errors of the simulation  MISSED\n", stderr);
    auto const status = argc < 2 ? 0 : bench::put_between_marks(argv[1], "error_rates", tables);
    return status != 0 ? status : broken;
}
