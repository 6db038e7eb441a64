// SPDX-License-Identifier: MIT
// What two or more samples are asked together, and the record that answers.
#pragma once
#include <sb/stats/correlation.hpp>
#include <sb/stats/ks.hpp>
#include <sb/stats/levene.hpp>
#include <sb/stats/mann_whitney.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/psi.hpp>
#include <sb/stats/rank_correlation.hpp>
#include <sb/track/column.hpp>
#include <sb/track/test_answer.hpp>
#include <sb/track/test_question.hpp>
#include <cmath>
#include <span>
#include <vector>

namespace sb::track {

inline test_record levene_of(columns const& groups, test_question const& asked) {
    stats::levene_request how;
    how.center = asked.center == "median" ? stats::levene_center::median : asked.center == "mean" ? stats::levene_center::mean : stats::levene_center::trimmed;
    how.trim = asked.trim;
    std::vector<std::span<double const>> all;
    for (auto const& each : groups) all.emplace_back(each.values);
    auto const got = stats::levene(all, how);
    auto r = begun("levene", got.n);
    settle(r, got, got.statistic);
    r.besides.set("center", asked.center), r.besides.set("groups", static_cast<std::int64_t>(got.groups));
    return r;
}

inline test_record ks_of(columns const& two, test_question const&) {
    auto const got = stats::ks(two[0].values, two[1].values);
    auto r = begun("ks", two[0].values.size() + two[1].values.size());
    settle(r, got, got.statistic);
    if (got) r.besides.set("exact", got.exact);
    return r;
}

inline test_record psi_of(columns const& two, test_question const& asked) {
    stats::psi_request how;
    how.bins = static_cast<std::size_t>(asked.bins);
    how.ends = asked.ends == "drop" ? stats::psi_ends::dropped : stats::psi_ends::into_end_bins;
    auto const got = stats::psi(two[0].values, two[1].values, how);
    auto r = begun("psi", got.baseline + got.recent);
    settle(r, got, got.index);
    if (got) r.besides.set("outside", static_cast<std::int64_t>(got.outside));
    return r;
}

inline test_record compare(columns const& two, test_question const& asked) {
    auto const &first = two[0].values, &second = two[1].values;
    auto const means = asked.paired ? stats::paired_difference(first, second) : stats::difference_of_means(first, second);
    auto r = begun("compare", first.size() + second.size());
    settle(r, means, means.statistic);
    if (means) {
        auto const [lo, hi] = means.interval(asked.confidence);
        r.besides.set("difference", means.mean), r.besides.set("lo", lo), r.besides.set("hi", hi);
        if (asked.margin) r.besides.set("equivalence_p", means.equivalence_p(*asked.margin));
    } else if (std::isfinite(means.mean)) r.besides.set("difference", means.mean); // known, but there is no doubt in it to judge by
    if (asked.paired) return r;
    if (auto const ranks = stats::mann_whitney(first, second, asked.confidence)) {
        auto const [lo, hi] = ranks.shift_interval;
        r.besides.set("rank_p", ranks.p), r.besides.set("rank_exact", ranks.exact), r.besides.set("effect", ranks.effect);
        r.besides.set("shift", ranks.shift), r.besides.set("shift_lo", finite_or_null(lo)), r.besides.set("shift_hi", finite_or_null(hi));
    }
    return r;
}

/// Two columns, value by value: as lines go together, as ranks do, and as pairs do.
inline test_record correlation_of(columns const& two, test_question const& asked) {
    auto const &x = two[0].values, &y = two[1].values;
    auto r = begun("correlation", x.size());
    r.besides.set("confidence", asked.confidence);
    auto const got = stats::correlation(x, y, asked.confidence);
    if (!got) {
        r.reason = stats::name_of(got.why);
        if (got.why == stats::no_answer::perfect_fit) r.statistic = got.r; // known, but there is no doubt in it to judge by
        return r;
    }
    r.statistic = got.r, r.p = got.p;
    r.besides.set("lo", finite_or_null(got.bounds.lo)), r.besides.set("hi", finite_or_null(got.bounds.hi));
    auto const ranks = stats::spearman(x, y), pairs = stats::kendall(x, y);
    r.besides.set("spearman", finite_or_null(ranks.r)), r.besides.set("spearman_p", finite_or_null(ranks.p)), r.besides.set("spearman_exact", ranks ? value{ranks.exact} : value{});
    r.besides.set("kendall", finite_or_null(pairs.r)), r.besides.set("kendall_p", finite_or_null(pairs.p)), r.besides.set("kendall_exact", pairs ? value{pairs.exact} : value{});
    return r;
}

} // namespace sb::track
