// SPDX-License-Identifier: MIT
// Every test that can be asked from a shell: its name, what it says, and how many samples it takes.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/track/forecast_test.hpp>
#include <sb/track/pairs.hpp>
#include <sb/track/sample_tests.hpp>
#include <sb/track/series_tests.hpp>
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::track {

struct shell_test {
    char const* name;
    char const* asks; ///< for `--help`
    std::size_t fewest, most; ///< samples that it takes together; 0: any number, an answer for each
    answers (*answer)(columns const&, test_question const&);
};

namespace detail {

template <test_record (*One)(std::vector<double> const&, test_question const&)>
answers of_each(columns const& all, test_question const& asked) {
    answers said;
    for (auto const& each : all) said.push_back(One(each.values, asked));
    return said;
}
template <test_record (*Together)(columns const&, test_question const&)>
answers of_all(columns const& all, test_question const& asked) {
    return {Together(all, asked)};
}
inline constexpr auto any_number = std::numeric_limits<std::size_t>::max();

} // namespace detail

inline constexpr shell_test shell_tests[] = {
    {"adf", "does a series wander (a unit root)? A small p says that it does not (augmented Dickey-Fuller)", 0, 0, detail::of_each<adf_of>},
    {"kpss", "does a series stay around a level or a line? A small p says that it does not", 0, 0, detail::of_each<kpss_of>},
    {"pp", "does a series wander? Asked without lagged terms, whatever its neighbours do to each other (Phillips-Perron)", 0, 0, detail::of_each<phillips_perron_of>},
    {"levene", "do two or more samples spread alike? A small p says that they do not", 2, detail::any_number, detail::of_all<levene_of>},
    {"ks", "do two samples come from one distribution? A small p says that they do not (Kolmogorov-Smirnov)", 2, 2, detail::of_all<ks_of>},
    {"psi", "how far has the second sample moved from the first? (population stability index)", 2, 2, detail::of_all<psi_of>},
    {"compare", "has the second sample another mean than the first, how much more has it, and does it tend to be larger?", 2, 2, detail::of_all<compare>},
    {"correlation", "do two columns go together, value by value? By lines (Pearson), ranks (Spearman) and pairs (Kendall)", 2, 2, detail::of_all<correlation_of>},
    {"trend", "does a series rise or fall, and by how much a step? The slope that wild values do not move (Theil-Sen), p by Kendall's tau", 0, 0, detail::of_each<trend_of>},
    {"forecast", "what comes next, with an interval for each step, and how such forecasts did on the end of the series", 0, 0, detail::of_each<forecast_of>},
    {"changepoint", "where does a series change, in whatever way? (e-divisive)", 0, 0, detail::of_each<changes_of>},
    {"ci", "the mean, and the interval that it lies in", 0, 0, detail::of_each<interval_of>},
    {"converged", "have all series settled? Shown by evidence that they change by less than a margin; exit status 1 when not", 0, 0, converged},
};

/// The two samples belong together line by line.
inline bool goes_by_lines(test_question const& asked) { return asked.test == "correlation" || (asked.test == "compare" && asked.paired); }

/// The answers to a question that has been checked; an answer to each series bears its name where `named`.
inline result<answers> answered(columns const& all, test_question const& asked, bool named) {
    auto const* const test = std::find_if(std::begin(shell_tests), std::end(shell_tests), [&](shell_test const& each) { return each.name == asked.test; });
    if (test == std::end(shell_tests)) return caller_error(cat("\"", asked.test, "\" is none of the tests"));
    if (test->fewest > 0 && (all.size() < test->fewest || all.size() > test->most))
        return caller_error(cat(asked.test, " compares ", test->most == test->fewest ? "two" : "two or more", " samples, and there ", all.size() == 1 ? "is 1" : cat("are ", all.size()),
                                ": give a file for each, or --field and --by for JSON lines"));
    if (goes_by_lines(asked)) {
        SB_TRY(auto const pairs, in_pairs(all[0], all[1], asked.test == "compare" ? "--paired" : "correlation"));
        auto said = test->answer(pairs.two, asked);
        if (pairs.one_sided > 0) said.front().besides.set("left_out", pairs.one_sided);
        return said;
    }
    auto said = test->answer(all, asked);
    if (named && test->fewest == 0)
        for (std::size_t i = 0; i < all.size(); ++i) said[i].name = all[i].name;
    return said;
}

/// What was asked has no answer, or the answer is no.
inline bool is_no(test_record const& said) {
    auto const* const converged = said.besides.find("converged");
    return said.reason || (converged && converged->if_bool() && !*converged->if_bool());
}

} // namespace sb::track
