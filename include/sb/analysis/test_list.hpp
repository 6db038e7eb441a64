// SPDX-License-Identifier: MIT
// The list of all tests that sb-stat offers: name, question, number of samples.
#pragma once
#include <sb/analysis/column_pairs.hpp>
#include <sb/analysis/forecast_answer.hpp>
#include <sb/analysis/sample_tests.hpp>
#include <sb/analysis/series_tests.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::analysis {

struct listed_test {
    char const* name;
    char const* asks; ///< for `--help`
    std::size_t fewest, most; ///< samples that it takes together; 0: any number, with an answer for each
    answers (*answer)(columns const&, test_question const&);
};

namespace detail {

template <test_record (*One)(std::vector<double> const&, test_question const&)>
answers of_each(columns const& samples, test_question const& asked) {
    answers said;
    for (auto const& each : samples) said.push_back(One(each.values, asked));
    return said;
}
template <test_record (*Together)(columns const&, test_question const&)>
answers of_all(columns const& samples, test_question const& asked) {
    return {Together(samples, asked)};
}
inline constexpr auto any_number = std::numeric_limits<std::size_t>::max();

} // namespace detail

inline constexpr listed_test test_list[] = {
    {"adf", "does a series wander (unit root)? A small p says no (augmented Dickey-Fuller)", 0, 0, detail::of_each<adf_of>},
    {"kpss", "does a series stay around a level or a line? A small p says no", 0, 0, detail::of_each<kpss_of>},
    {"pp", "does a series wander? Without lagged terms, corrected for dependent neighbours (Phillips-Perron)", 0, 0, detail::of_each<phillips_perron_of>},
    {"levene", "do two or more samples have the same spread? A small p says no", 2, detail::any_number, detail::of_all<levene_of>},
    {"ks", "do two samples come from one distribution? A small p says no (Kolmogorov-Smirnov)", 2, 2, detail::of_all<ks_of>},
    {"psi", "how far has the second sample moved from the first? (population stability index)", 2, 2, detail::of_all<psi_of>},
    {"compare", "do two samples have different means, by how much, and does the second tend to be larger?", 2, 2, detail::of_all<compare>},
    {"correlation", "are two columns correlated? By values (Pearson), ranks (Spearman) and pairs (Kendall)", 2, 2, detail::of_all<correlation_of>},
    {"trend", "does a series rise or fall, and by how much per step? A slope that outliers do not move (Theil-Sen), p by Kendall's tau", 0, 0, detail::of_each<trend_of>},
    {"forecast", "forecast the next values, with an interval for each step, and judge the model on the end of the series", 0, 0, detail::of_each<forecast_of>},
    {"changepoint", "where does the distribution of a series change? (e-divisive)", 0, 0, detail::of_each<changes_of>},
    {"ci", "the mean and its interval", 0, 0, detail::of_each<interval_of>},
    {"converged", "do all series change by less than a margin? Exit status 1 if that is not shown", 0, 0, converged},
};

/// Null if there is no test of that name.
inline listed_test const* find_test(std::string_view name) noexcept {
    auto const* const found = std::find_if(std::begin(test_list), std::end(test_list), [&](listed_test const& each) { return each.name == name; });
    return found == std::end(test_list) ? nullptr : found;
}

/// Whether the two samples are paired line by line.
inline bool goes_by_lines(test_question const& asked) { return asked.test == "correlation" || (asked.test == "compare" && asked.paired); }

namespace detail {

inline error wrong_number(listed_test const& test, columns const& samples) {
    constexpr std::size_t most_named = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(samples.size(), most_named); ++i) names += cat(i ? ", " : "", samples[i].name);
    if (samples.size() > most_named) names += ", …";
    return caller_error(cat(test.name, " compares ", test.most == test.fewest ? "two" : "two or more", " samples, but there ", samples.size() == 1 ? "is 1" : cat("are ", samples.size()), names.empty() ? "" : cat(" (", names, ")"),
                            samples.size() > test.most ? "; give two of them" : "; give a file for each, or --field and --by for JSON lines"));
}

/// Puts the names of the two samples before the other members.
inline void name_both(test_record& said, columns const& two) {
    object besides{{"first", two[0].name}, {"second", two[1].name}};
    for (auto& [key, v] : said.besides) besides[key] = std::move(v);
    said.besides = std::move(besides);
}

} // namespace detail

/// The answers to a checked question. With `named` each answer about a single series has the series' name.
inline result<answers> answered(columns const& samples, test_question const& asked, bool named) {
    auto const* const test = find_test(asked.test);
    if (!test) return caller_error(cat("\"", asked.test, "\" is not a test"));
    if (test->fewest > 0 && (samples.size() < test->fewest || samples.size() > test->most)) return detail::wrong_number(*test, samples);
    std::int64_t left_out = 0;
    answers said;
    if (goes_by_lines(asked)) {
        SB_TRY(auto const pairs, in_pairs(samples[0], samples[1], asked.test == "compare" ? "--paired" : "correlation"));
        said = test->answer(pairs.two, asked), left_out = pairs.one_sided;
    } else said = test->answer(samples, asked);
    if (test->most == 2) detail::name_both(said.front(), samples);
    if (left_out > 0) said.front().besides["left_out"] = left_out;
    if (named && test->fewest == 0)
        for (std::size_t i = 0; i < samples.size(); ++i) said[i].name = samples[i].name;
    return said;
}

/// Whether there is no answer, or the answer is no.
inline bool is_no(test_record const& said) {
    auto const* const converged = said.besides.if_contains("converged");
    return said.reason || (converged && converged->if_bool() && !*converged->if_bool());
}

} // namespace sb::analysis
