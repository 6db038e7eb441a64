// SPDX-License-Identifier: MIT
// sb-stat - one statistical test of a column of numbers, from a shell
#include "manual.hpp"
#include <sb/cli/tool.hpp>
#include <sb/record/test.hpp>
#include <sb/stats/adf.hpp>
#include <sb/stats/change_points.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/kpss.hpp>
#include <sb/stats/ks.hpp>
#include <sb/stats/levene.hpp>
#include <sb/stats/mann_whitney.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/psi.hpp>
#include <sb/stats/settled.hpp>
#include <sb/track/column.hpp>
#include <cmath>

namespace {

namespace stats = sb::stats;
using sb::object;
using sb::value;

struct choices {
    std::string test;
    std::vector<std::string> files;
    sb::track::column_question from;
    std::string regression = "c", autolag = "aic", lags = "auto", center = "median", ends = "clip", format = "auto";
    std::optional<std::int64_t> maxlag;
    double trim = 0.25, confidence = 0.95;
    std::optional<double> margin;
    bool paired = false;
    std::string mode = "stable";
    double alpha = 0.05;
    std::optional<std::int64_t> least;
    std::int64_t passes = 2, shuffles = 199, seed = 1;
    std::int64_t bins = 10;
};

using columns = std::vector<sb::track::column>;

sb::test_record begun(std::string test, std::size_t n) {
    sb::test_record r;
    r.test = std::move(test), r.n = static_cast<std::int64_t>(n);
    return r;
}
/// Statistic and p, or the reason.
template <class Answer>
void settle(sb::test_record& r, Answer const& got, double statistic) {
    if (got) r.statistic = statistic, r.p = got.p;
    else r.reason = stats::name_of(got.why);
}

sb::test_record adf_of(std::vector<double> const& values, choices const& asked) {
    stats::adf_request how;
    how.with = asked.regression == "n" ? stats::trend::none : asked.regression == "c" ? stats::trend::constant : asked.regression == "ct" ? stats::trend::linear : stats::trend::quadratic;
    how.choice = asked.autolag == "aic" ? stats::lag_choice::aic : asked.autolag == "bic" ? stats::lag_choice::bic : asked.autolag == "t-stat" ? stats::lag_choice::t_stat : stats::lag_choice::fixed;
    if (asked.maxlag) how.most_lags = static_cast<int>(*asked.maxlag);
    auto const got = stats::adf(values, how);
    auto r = begun("adf", got.n);
    settle(r, got, got.statistic);
    r.besides.set("regression", asked.regression);
    if (!got) return r;
    r.besides.set("lag", std::int64_t{got.lag}), r.besides.set("nobs", static_cast<std::int64_t>(got.used));
    if (how.choice != stats::lag_choice::fixed) r.besides.set("ic", got.criterion);
    r.besides.set("critical", object{{"1%", got.critical[0]}, {"5%", got.critical[1]}, {"10%", got.critical[2]}});
    return r;
}

sb::result<stats::kpss_request> kpss_request_of(choices const& asked) {
    stats::kpss_request how;
    if (asked.regression != "c" && asked.regression != "ct") return sb::caller_error(sb::cat("--regression ", asked.regression, ": kpss takes c or ct"));
    how.around = asked.regression == "c" ? stats::trend::constant : stats::trend::linear;
    if (asked.lags == "legacy") how.choice = stats::kpss_lags::legacy;
    else if (asked.lags != "auto") {
        how.choice = stats::kpss_lags::fixed;
        auto const [end, code] = std::from_chars(asked.lags.data(), asked.lags.data() + asked.lags.size(), how.lags);
        if (code != std::errc{} || end != asked.lags.data() + asked.lags.size() || how.lags < 0) return sb::caller_error(sb::cat("--lags: \"", asked.lags, "\" is neither auto, legacy nor a number from 0"));
    }
    return how;
}
sb::test_record kpss_of(std::vector<double> const& values, stats::kpss_request const& how, choices const& asked) {
    auto const got = stats::kpss(values, how);
    auto r = begun("kpss", got.n);
    settle(r, got, got.statistic);
    r.besides.set("regression", asked.regression);
    if (!got) return r;
    if (got.bound != stats::p_bound::none) r.p_bound = got.bound == stats::p_bound::at_most ? "<=" : ">=";
    r.besides.set("lag", std::int64_t{got.lags});
    return r;
}

sb::test_record interval_of(std::vector<double> const& values, choices const& asked) {
    auto r = begun("ci", values.size());
    r.besides.set("confidence", asked.confidence);
    auto const all = stats::moments::of(values);
    if (!stats::all_finite(values)) r.reason = stats::name_of(stats::no_answer::not_finite);
    else if (values.empty()) r.reason = stats::name_of(stats::no_answer::too_short);
    else {
        r.statistic = *all.mean();
        if (values.size() < 2) r.reason = stats::name_of(stats::no_answer::too_short);
        else if (!(all.squares() > 0)) r.reason = stats::name_of(stats::no_answer::constant);
        else {
            auto const [lo, hi] = stats::mean_interval(*all.mean(), *all.variance(), all.count(), asked.confidence);
            r.besides.set("lo", lo), r.besides.set("hi", hi);
        }
    }
    return r;
}

sb::test_record levene_of(columns const& groups, choices const& asked) {
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
sb::test_record ks_of(columns const& two) {
    auto const got = stats::ks(two[0].values, two[1].values);
    auto r = begun("ks", two[0].values.size() + two[1].values.size());
    settle(r, got, got.statistic);
    if (got) r.besides.set("exact", got.exact);
    return r;
}
sb::test_record psi_of(columns const& two, choices const& asked) {
    stats::psi_request how;
    how.bins = static_cast<std::size_t>(asked.bins);
    how.ends = asked.ends == "drop" ? stats::psi_ends::dropped : stats::psi_ends::into_end_bins;
    auto const got = stats::psi(two[0].values, two[1].values, how);
    auto r = begun("psi", got.baseline + got.recent);
    settle(r, got, got.index);
    if (got) r.besides.set("outside", static_cast<std::int64_t>(got.outside));
    return r;
}

sb::result<sb::test_record> compare(columns const& two, choices const& asked) {
    auto const &first = two[0].values, &second = two[1].values;
    if (asked.paired && first.size() != second.size()) return sb::caller_error(sb::cat("--paired: the samples have ", first.size(), " and ", second.size(), " values"));
    auto const means = asked.paired ? stats::paired_difference(first, second) : stats::difference_of_means(first, second);
    auto r = begun("compare", first.size() + second.size());
    settle(r, means, means.statistic);
    auto const finite = [](double x) { return std::isfinite(x) ? value{x} : value{}; };
    if (means) {
        auto const [lo, hi] = means.interval(asked.confidence);
        r.besides.set("difference", means.mean), r.besides.set("lo", lo), r.besides.set("hi", hi);
        if (asked.margin) r.besides.set("equivalence_p", means.equivalence_p(*asked.margin));
    }
    if (asked.paired) return r;
    if (auto const ranks = stats::mann_whitney(first, second, asked.confidence)) {
        auto const [lo, hi] = ranks.shift_interval;
        r.besides.set("rank_p", ranks.p), r.besides.set("effect", ranks.effect);
        r.besides.set("shift", ranks.shift), r.besides.set("shift_lo", finite(lo)), r.besides.set("shift_hi", finite(hi));
    }
    return r;
}

sb::test_record changes_of(std::vector<double> const& values, choices const& asked) {
    stats::change_request how;
    how.alpha = asked.alpha, how.least = static_cast<std::size_t>(asked.least.value_or(5));
    how.shuffles = static_cast<int>(asked.shuffles), how.seed = static_cast<std::uint64_t>(asked.seed);
    auto const got = stats::change_points(values, how);
    auto r = begun("changepoint", got.n);
    settle(r, got, got.most_gain);
    if (!got) return r;
    sb::array points;
    for (std::size_t i = 0; i < got.points.size(); ++i) {
        auto const& each = got.points[i];
        auto const begin = i == 0 ? 0 : got.points[i - 1].at, end = i + 1 == got.points.size() ? values.size() : got.points[i + 1].at;
        std::span<double const> const all{values};
        points.push_back(object{{"at", static_cast<std::int64_t>(each.at + 1)}, {"p", each.p}, {"mean_before", *stats::moments::of(all.subspan(begin, each.at - begin)).mean()}, {"mean_after", *stats::moments::of(all.subspan(each.at, end - each.at)).mean()}});
    }
    r.besides.set("points", std::move(points));
    return r;
}

/// One record for each series; all have to settle.
std::vector<sb::test_record> converged(columns const& all, choices const& asked, bool& yes) {
    std::vector<std::span<double const>> views;
    for (auto const& each : all) views.emplace_back(each.values);
    stats::settle_request how;
    how.margin = *asked.margin, how.alpha = asked.alpha;
    how.mode = asked.mode == "stable" ? stats::settle_mode::stable : stats::settle_mode::near_zero;
    how.least = static_cast<std::size_t>(asked.least.value_or(8)), how.passes = static_cast<int>(asked.passes);
    std::vector<stats::settle_request> const each_how(all.size(), how);
    std::vector<sb::test_record> answers;
    yes = !all.empty();
    auto const or_null = [](double x) { return std::isfinite(x) ? value{x} : value{}; };
    for (auto const& got : stats::settled(views, each_how)) {
        auto r = begun("converged", got.n);
        yes = yes && got.settled();
        r.besides.set("converged", got ? value{got.settled()} : value{});
        if (got) {
            r.statistic = got.change.mean;
            if (got.change.error > 0) r.p = std::max(got.change.equivalence_p(how.margin), got.drift.equivalence_p(how.margin)); // else nothing moves, and no chance is in it
            if (got.lacks != stats::unsettled::nothing) r.besides.set("because", stats::name_of(got.lacks));
            auto const [lo, hi] = got.change.interval(1 - 2 * how.alpha);
            auto const [drift_lo, drift_hi] = got.drift.interval(1 - 2 * how.alpha);
            r.besides.set("lo", lo), r.besides.set("hi", hi), r.besides.set("drift", got.drift.mean), r.besides.set("drift_lo", drift_lo), r.besides.set("drift_hi", drift_hi);
            r.besides.set("effective_n", got.effective);
            r.besides.set("spread_p", or_null(got.spread_p)), r.besides.set("adf_p", or_null(got.adf_p)), r.besides.set("kpss_p", or_null(got.kpss_p));
        } else r.reason = stats::name_of(got.why);
        answers.push_back(std::move(r));
    }
    return answers;
}

std::string shown(double x) {
    if (x != 0 && (std::abs(x) < 1e-4 || std::abs(x) >= 1e7)) {
        char text[32];
        return {text, std::to_chars(text, text + sizeof text, x, std::chars_format::scientific, 3).ptr};
    }
    return sb::fixed(x, std::abs(x) < 10 ? 4 : 2);
}
std::string shown(value const& v) {
    if (v.is_null()) return "-";
    if (v.if_integer() || v.if_bool()) return sb::json::text_of(v);
    if (v.is_number()) return shown(v.number_or(0));
    if (auto const* const points = v.if_array()) { // of changes
        std::string all;
        for (auto const& each : *points)
            if (auto const* const at = each.if_object() ? each.if_object()->find("at") : nullptr) all += sb::cat(all.empty() ? "" : " ", shown(*at));
        return all.empty() ? "-" : all;
    }
    return std::string{v.string_or({})};
}

/// Every member of every record has a column.
sb::cli::table table_of(std::vector<sb::test_record> const& all, bool full) {
    std::vector<std::string> keys;
    auto const flat = [](sb::test_record const& r) {
        object o;
        for (auto const& [key, v] : r.to_object()) {
            if (auto const* inner = v.if_object())
                for (auto const& [name, each] : *inner) o.set(sb::cat(key, " ", name), each);
            else if (key != "kind" && key != "v") o.set(key, v);
        }
        return o;
    };
    for (auto const& r : all)
        for (auto const& [key, v] : flat(r))
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    if (!full) std::erase(keys, "p_bound"); // for people it stands with p
    if (std::erase(keys, "reason") > 0) keys.emplace_back("reason"); // for people the last word
    sb::cli::table t;
    for (auto const& key : keys) t.column(key, key == "test" || key == "name" || key == "reason" ? sb::cli::table::align::left : sb::cli::table::align::right);
    for (auto const& r : all) {
        auto const o = flat(r);
        std::vector<std::string> row;
        for (auto const& key : keys) {
            auto const* const v = o.find(key);
            auto text = !v ? std::string{} : full ? (v->is_null() ? std::string{} : v->if_string() ? *v->if_string() : sb::json::text_of(*v)) : key == "reason" && v->is_null() ? std::string{} : shown(*v);
            if (key == "p" && r.p_bound && !full) text = *r.p_bound + text;
            row.push_back(std::move(text));
        }
        t.row(std::move(row));
    }
    return t;
}

sb::result<void> check(choices const& asked) {
    if (!(asked.confidence > 0 && asked.confidence < 1)) return sb::caller_error("--confidence: must lie between 0 and 1, as 0.95 does");
    if (!(asked.trim >= 0 && asked.trim < 0.5)) return sb::caller_error("--trim: the part of each end that is left out, from 0 to below 0.5");
    if (asked.margin && !(*asked.margin > 0)) return sb::caller_error("--margin: must be above 0");
    if (asked.test == "converged" && !asked.margin) return sb::caller_error("say with --margin how large a change does not matter, in the unit of the values");
    if (!(asked.alpha > 0 && asked.alpha < 0.5)) return sb::caller_error("--alpha: must lie between 0 and 0.5");
    auto const fewest = asked.test == "converged" ? 3 : 1;
    if (asked.least && (*asked.least < fewest || *asked.least > 1'000'000)) return sb::caller_error(sb::cat("--least: must be from ", fewest, " to 1000000"));
    if (asked.shuffles < 19 || asked.shuffles > 1'000'000) return sb::caller_error("--shuffles: must be from 19 to 1000000");
    if (asked.test == "changepoint" && asked.alpha * static_cast<double>(asked.shuffles + 1) < 1) return sb::caller_error(sb::cat("--alpha ", sb::cli::detail::show(asked.alpha), ": ", asked.shuffles, " --shuffles cannot show so little"));
    if (asked.passes < 1 || asked.passes > 1000) return sb::caller_error("--passes: must be from 1 to 1000");
    if (asked.bins < 2 || asked.bins > 10'000) return sb::caller_error("--bins: must be from 2 to 10000");
    if (asked.maxlag && (*asked.maxlag < 0 || *asked.maxlag > 1'000'000)) return sb::caller_error("--maxlag: must be from 0 to 1000000");
    if (asked.autolag == "none" && !asked.maxlag) return sb::caller_error("--autolag none: say with --maxlag how many lags there shall be");
    if (!asked.from.by.empty() && asked.from.field.empty()) return sb::caller_error("--by is for JSON lines: say with --field which number of them is meant");
    return {};
}

sb::result<void> work(sb::cli::io& io, choices asked) {
    SB_CHECK(check(asked));
    SB_TRY(auto const kpss_how, asked.test == "kpss" ? kpss_request_of(asked) : sb::result<stats::kpss_request>{stats::kpss_request{}});
    if (asked.files.empty()) {
        if (io.in_terminal) return sb::caller_error("give it a file of numbers, or numbers on its standard input");
        asked.files.emplace_back("-");
    }
    bool const named = asked.files.size() > 1;
    columns all;
    sb::track::column_reader reader{asked.from};
    for (auto const& file : asked.files) {
        SB_TRY(auto from, sb::source::open(file));
        SB_CHECK(reader.read(from, file, all, [&](std::int64_t line, std::size_t byte, std::string_view what) { io.reject(named ? file : "", line, byte, what); }));
    }
    if (io.bad_lines > 0) return {}; // an answer that leaves values out is another test's
    auto const& counts = reader.counts();
    if (counts.without > 0) io.log.info(sb::cat("lines without ", asked.from.field, asked.from.by.empty() ? "" : sb::cat(" or ", asked.from.by), ", passed over: ", counts.without));
    if (!asked.from.by.empty()) std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.name < b.name; });

    std::vector<sb::test_record> answers;
    if (asked.test == "levene" || asked.test == "ks" || asked.test == "psi" || asked.test == "compare") {
        bool const two = asked.test != "levene";
        if (two ? all.size() != 2 : all.size() < 2)
            return sb::caller_error(sb::cat(asked.test, " compares ", two ? "two" : "two or more", " samples, and there ", all.size() == 1 ? "is 1" : sb::cat("are ", all.size()),
                                            ": give a file for each, or --field and --by for JSON lines"));
        if (asked.test == "compare") {
            SB_TRY(auto answer, compare(all, asked));
            answers.push_back(std::move(answer));
        } else answers.push_back(asked.test == "levene" ? levene_of(all, asked) : asked.test == "ks" ? ks_of(all) : psi_of(all, asked));
    } else if (asked.test == "converged") {
        bool yes = false;
        answers = converged(all, asked, yes);
        io.answer_no = !yes;
        if (named || !asked.from.by.empty())
            for (std::size_t i = 0; i < all.size(); ++i) answers[i].name = all[i].name;
    } else {
        for (auto const& each : all) {
            answers.push_back(asked.test == "adf" ? adf_of(each.values, asked) : asked.test == "kpss" ? kpss_of(each.values, kpss_how, asked) : asked.test == "changepoint" ? changes_of(each.values, asked) : interval_of(each.values, asked));
            if (named || !asked.from.by.empty()) answers.back().name = each.name;
        }
    }
    for (auto const& each : answers) io.answer_no |= each.reason.has_value();
    auto const format = asked.format == "auto" ? (io.out_terminal ? "table" : "jsonl") : asked.format;
    if (format == "jsonl") {
        for (auto const& each : answers) io.out << sb::json::line(each);
    } else if (format == "csv") io.out << table_of(answers, true).csv();
    else if (format == "md") io.out << table_of(answers, false).markdown();
    else if (!answers.empty()) io.out << table_of(answers, false).text(io.out_color);
    return {};
}

} // namespace

int main(int argc, char** argv) {
    choices asked;
    sb::cli::tool tool{"sb-stat", "one statistical test of a column of numbers: its statistic, its p, or why it has no answer"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.writes<sb::test_record>();
    tool.verbs("tests",
               {{"adf", "does a series wander (a unit root)? A small p says that it does not (augmented Dickey-Fuller)"},
                {"kpss", "does a series stay around a level or a line? A small p says that it does not"},
                {"levene", "do two or more samples spread alike? A small p says that they do not"},
                {"ks", "do two samples come from one distribution? A small p says that they do not (Kolmogorov-Smirnov)"},
                {"psi", "how far has the second sample moved from the first? (population stability index)"},
                {"compare", "has the second sample another mean than the first, how much more has it, and does it tend to be larger?"},
                {"changepoint", "where does a series change, in whatever way? (e-divisive)"},
                {"ci", "the mean, and the interval that it lies in"},
                {"converged", "have all series settled? Shown by evidence that they change by less than a margin; exit status 1 when not"}},
               asked.test);
    tool.operands("TEST [FILE…]", "FILE has a number a line, or JSON lines with --field; - is standard input. Each is a series, or a sample of its own", asked.files);
    tool.option("--field", "NAME", "read JSON lines: this number of each (or of its `metrics`); a dot goes one level in", asked.from.field);
    tool.option("--by", "NAME", "lines that differ in this member are series, or samples, of their own", asked.from.by);
    tool.option("--regression", "TERMS", "what the series may have besides: nothing, a constant, a line, a parabola", asked.regression).choices({"n", "c", "ct", "ctt"}).of({"adf", "kpss"});
    tool.option("--autolag", "RULE", "how the number of lags is chosen", asked.autolag).choices({"aic", "bic", "t-stat", "none"}).of({"adf"});
    tool.option("--maxlag", "N", "lags at most; with --autolag none so many. Without it 12 (n/100)^(1/4)", asked.maxlag).of({"adf"});
    tool.option("--lags", "RULE", "auto is by the data, legacy 12 (n/100)^(1/4), or a number", asked.lags).of({"kpss"});
    tool.option("--center", "WHAT", "what spread is measured from", asked.center).choices({"median", "mean", "trimmed"}).of({"levene"});
    tool.option("--trim", "PART", "the part of each end that a trimmed mean leaves out", asked.trim).of({"levene"});
    tool.option("--bins", "N", "equal bins over the range of the first sample", asked.bins).of({"psi"});
    tool.option("--ends", "WHAT", "values of the second sample beyond that range: into the bins at the ends, or dropped", asked.ends).choices({"clip", "drop"}).of({"psi"});
    tool.option("--confidence", "PART", "how sure an interval is", asked.confidence).of({"ci", "compare"});
    tool.option("--margin", "X", "a change that does not matter, in the unit of the values", asked.margin).of({"compare", "converged"});
    tool.flag("--paired", "the samples belong together, value by value", asked.paired).of({"compare"});
    tool.option("--mode", "WHERE", "around some level, or around nothing, as changes do", asked.mode).choices({"stable", "near-zero"}).of({"converged"});
    tool.option("--alpha", "P", "the chance of a yes where it is no", asked.alpha).of({"converged", "changepoint"});
    tool.option("--least", "N", "values that a series must have (8), or a stretch between two changes (5)", asked.least).of({"converged", "changepoint"});
    tool.option("--passes", "K", "so many windows must pass: of all values, of all but the last, …", asked.passes).of({"converged"});
    tool.option("--shuffles", "N", "orders by chance that a change must stand out from", asked.shuffles).of({"changepoint"});
    tool.option("--seed", "N", "of those orders", asked.seed).of({"changepoint"});
    tool.option("--format", "FORMAT", "auto is a table on a terminal and jsonl elsewhere", asked.format).choices({"auto", "table", "jsonl", "csv", "md"});
    return tool.run(argc, argv, [&](sb::cli::io& io) { return work(io, asked); });
}
