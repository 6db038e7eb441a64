// SPDX-License-Identifier: MIT
// The tests of two or more samples together; each answers with a record.
#pragma once
#include <sb/analysis/column.hpp>
#include <sb/analysis/test_answer.hpp>
#include <sb/analysis/test_question.hpp>
#include <sb/stats/correlation.hpp>
#include <sb/stats/ks.hpp>
#include <sb/stats/levene.hpp>
#include <sb/stats/mann_whitney.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/psi.hpp>
#include <sb/stats/rank_correlation.hpp>
#include <cmath>
#include <span>
#include <vector>

namespace sb::analysis {

inline test_record levene_of(columns const& groups, test_question const& asked) {
    stats::levene_request how;
    how.center = asked.center == "median" ? stats::levene_center::median : asked.center == "mean" ? stats::levene_center::mean : stats::levene_center::trimmed;
    how.trim = asked.trim;
    std::vector<std::span<double const>> samples;
    for (auto const& each : groups) samples.emplace_back(each.values);
    auto const answer = stats::levene(samples, how);
    auto r = begun("levene", answer.n);
    settle(r, answer, answer.statistic);
    r.besides["center"] = asked.center, r.besides["groups"] = static_cast<std::int64_t>(answer.groups);
    return r;
}

inline test_record ks_of(columns const& two, test_question const&) {
    auto const answer = stats::ks(two[0].values, two[1].values);
    auto r = begun("ks", two[0].values.size() + two[1].values.size());
    settle(r, answer, answer.statistic);
    if (answer) r.besides["exact"] = answer.exact;
    return r;
}

inline test_record psi_of(columns const& two, test_question const& asked) {
    stats::psi_request how;
    how.bins = static_cast<std::size_t>(asked.bins);
    how.ends = asked.ends == "drop" ? stats::psi_ends::dropped : stats::psi_ends::into_end_bins;
    auto const answer = stats::psi(two[0].values, two[1].values, how);
    auto r = begun("psi", answer.baseline + answer.recent);
    settle(r, answer, answer.index);
    if (answer) r.besides["outside"] = static_cast<std::int64_t>(answer.outside);
    return r;
}

inline test_record compare(columns const& two, test_question const& asked) {
    auto const &first = two[0].values, &second = two[1].values;
    auto const means = asked.paired ? stats::paired_difference(first, second) : stats::difference_of_means(first, second);
    auto r = begun("compare", first.size() + second.size());
    settle(r, means, means.statistic);
    if (means) {
        auto const [lo, hi] = means.interval(asked.confidence);
        r.besides["difference"] = means.mean, r.besides["lo"] = lo, r.besides["hi"] = hi;
        if (asked.margin) r.besides["equivalence_p"] = means.equivalence_p(*asked.margin);
    } else if (std::isfinite(means.mean)) r.besides["difference"] = means.mean; // known, but without a spread to judge it by
    if (asked.paired) return r;
    if (auto const ranks = stats::mann_whitney(first, second, asked.confidence)) {
        auto const [lo, hi] = ranks.shift_interval;
        r.besides["rank_p"] = ranks.p, r.besides["rank_exact"] = ranks.exact, r.besides["effect"] = ranks.effect;
        r.besides["shift"] = ranks.shift, r.besides["shift_lo"] = finite_or_null(lo), r.besides["shift_hi"] = finite_or_null(hi);
    }
    return r;
}

/// How two columns correlate value by value: linearly (Pearson), by ranks (Spearman) and by pairs (Kendall).
inline test_record correlation_of(columns const& two, test_question const& asked) {
    auto const &x = two[0].values, &y = two[1].values;
    auto r = begun("correlation", x.size());
    r.besides["confidence"] = asked.confidence;
    auto const answer = stats::correlation(x, y, asked.confidence);
    if (!answer) {
        r.reason = stats::name_of(answer.why);
        if (answer.why == stats::no_answer::perfect_fit) r.statistic = answer.r; // known, but without a spread to judge it by
        return r;
    }
    r.statistic = answer.r, r.p = answer.p;
    r.besides["lo"] = finite_or_null(answer.bounds.lo), r.besides["hi"] = finite_or_null(answer.bounds.hi);
    auto const ranks = stats::spearman(x, y), pairs = stats::kendall(x, y);
    r.besides["spearman"] = finite_or_null(ranks.r), r.besides["spearman_p"] = finite_or_null(ranks.p), r.besides["spearman_exact"] = ranks ? value(ranks.exact) : value();
    r.besides["kendall"] = finite_or_null(pairs.r), r.besides["kendall_p"] = finite_or_null(pairs.p), r.besides["kendall_exact"] = pairs ? value(pairs.exact) : value();
    return r;
}

} // namespace sb::analysis
