// SPDX-License-Identifier: MIT
// Tests reject what is true, and intervals miss it, as rarely as they say, and as often as docs/explanation/convergence.md says.
#include "support/catch.hpp"
#include "support/error_rates.hpp"
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace sb::test;

/// The rate in a row of the page, with what chance may have added; below 0: it is not there.
error_rate on_the_page(std::string const& page, error_row const& row, std::size_t which_size) {
    auto at = page.find(sb::cat("| ", row.words, " |"));
    if (at == std::string::npos) return {-1, 0, 0};
    at = page.find('|', at + 2); // behind the words
    for (std::size_t cells = 0; cells <= which_size; ++cells) at = page.find('|', at + 1);
    auto const from = page.find_first_of("0123456789", at);
    char* behind = nullptr;
    error_rate got;
    got.rate = std::strtod(page.c_str() + from, &behind) / 100;
    auto const error = page.find_first_of("0123456789", static_cast<std::size_t>(behind - page.c_str()));
    got.error = std::strtod(page.c_str() + error, nullptr) / 100;
    return got;
}

void check(std::string_view header) {
    auto const page = sb::read_file(SB_SOURCE_DIR + "/docs/explanation/convergence.md").value();
    int found = 0;
    for (std::span<error_row const> const rows : {std::span<error_row const>{tests_of_nothing}, std::span<error_row const>{intervals_of_something}})
        for (auto const& row : rows) {
            if (row.of != header) continue;
            ++found;
            for (std::size_t size = 0; size < std::size(error_sizes); ++size) {
                auto const here = rate_of(row, size, 800, 7 + size);
                auto const there = on_the_page(page, row, size);
                INFO(row.words << ", n " << error_sizes[size] << ": " << here.rate << " of " << here.rounds << ", on the page " << there.rate << " ± " << there.error);
                CHECK_FALSE(here.breaks(row.claim, 4));
                REQUIRE(there.rate >= 0);
                auto const error = std::sqrt(std::max(there.rate * (1 - there.rate), 1e-3) / here.rounds + there.error * there.error);
                CHECK(std::abs(here.rate - there.rate) <= 4 * error);
            }
        }
    CHECK(found > 0);
}

} // namespace

TEST_CASE("the Dickey-Fuller test takes walks for steady as often as the page says", "[adf:property]") { check("adf"); }
TEST_CASE("KPSS takes independent values for a walk as often as it says", "[kpss:property]") { check("kpss"); }
TEST_CASE("Levene's test finds spreads unlike that are alike as often as it says", "[levene:property]") { check("levene"); }
TEST_CASE("Kolmogorov's test finds a difference where there is none no more often than it says", "[ks:property]") { check("ks"); }
TEST_CASE("Mann and Whitney's test and its interval are wrong no more often than they say", "[mann_whitney:property][rates]") { check("mann_whitney"); }
TEST_CASE("tests and intervals of means are wrong as often as they say", "[means:property]") { check("means"); }
TEST_CASE("the stability index finds a move where there is none as often as the page says", "[psi:property]") { check("psi"); }
TEST_CASE("e-divisive splits a series that does not change as often as it says", "[change_points:property]") { check("change_points"); }
TEST_CASE("the interval of a mean misses it as often as it says", "[interval:property]") { check("interval"); }
TEST_CASE("Wilson's interval misses a share as often as the page says", "[proportion_interval:property]") { check("share"); }
TEST_CASE("intervals of a slope miss it as often as the page says", "[least_squares:property]") { check("least_squares"); }
TEST_CASE("Phillips and Perron's test takes walks for steady as often as the page says", "[phillips_perron:property]") { check("phillips_perron"); }
TEST_CASE("a correlation is found where there is none as often as it says, and its interval misses it so", "[correlation:property]") { check("correlation"); }
TEST_CASE("Spearman and Kendall find a correlation where there is none as often as the page says", "[rank_correlation:property]") { check("rank_correlation"); }
TEST_CASE("Theil and Sen's interval misses a slope no more often than it says", "[theil_sen:property]") { check("theil_sen"); }
TEST_CASE("the bootstrap misses a mean as often as the page says", "[bootstrap:property]") { check("bootstrap"); }
TEST_CASE("one value more lies outside its interval as often as is said", "[prediction:property]") { check("prediction"); }
TEST_CASE("the next value lies outside the interval of a chosen model as often as the page says", "[arima_choice:property][rates]") { check("arima_choice"); }
TEST_CASE("one error more lies outside its interval no more often than is said", "[conformal:property]") { check("conformal"); }
TEST_CASE("of all looks at a confidence sequence none misses, but as rarely as is said", "[confidence_sequence:property]") { check("confidence_sequence"); }
