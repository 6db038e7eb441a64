// SPDX-License-Identifier: MIT
// sb-stat - one statistical test of a column of numbers, from a shell
#include "manual.hpp"
#include <sb/cli/tool.hpp>
#include <sb/core/source.hpp>
#include <sb/record/test.hpp>
#include <sb/track/column.hpp>
#include <sb/track/shell_tests.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

using sb::object;
using sb::value;

struct choices {
    std::vector<std::string> files;
    sb::track::column_question from;
    sb::track::test_question test;
    std::string format;
};

/// The place of the first digit: 0 of 1 to 9, 3 of thousands.
int magnitude(double x) { return static_cast<int>(std::floor(std::log10(std::abs(x)))); }

/// `width`: of the interval that the number is known within; two digits of it are shown. 0: none is.
std::string shown(double x, double width = 0) {
    constexpr int digits = 16; // that a double has behind its first
    auto const size = std::abs(x);
    bool const has_width = std::isfinite(width) && width > 0;
    int const decimals = has_width ? 1 - magnitude(width) : 0;
    if (x != 0 && (size < 1e-4 || size >= 1e15)) {
        char text[64];
        return {text, std::to_chars(text, text + sizeof text, x, std::chars_format::scientific, has_width ? std::clamp(magnitude(x) + decimals, 3, digits) : 3).ptr};
    }
    int const least = size < 10 ? 4 : size < 1e7 ? 2 : 0;
    return sb::fixed(x, x == 0 ? least : std::max(least, std::min(decimals, digits - magnitude(x))));
}
std::string shown(value const& v, double width = 0) {
    if (v.is_null()) return "-";
    if (v.if_integer() || v.if_bool()) return sb::json::text_of(v);
    if (v.is_number()) return shown(v.number_or(0), width);
    if (auto const* const points = v.if_array()) { // of changes
        std::string all;
        for (auto const& each : *points)
            if (auto const* const at = each.if_object() ? each.if_object()->find("at") : nullptr) all += sb::cat(all.empty() ? "" : " ", shown(*at));
        return all.empty() ? "-" : all;
    }
    return std::string{v.string_or({})};
}

double width_between(object const& o, std::string_view lo, std::string_view hi) {
    auto const *const low = o.find(lo), *const high = o.find(hi);
    return low && high && low->is_number() && high->is_number() ? high->number_or(0) - low->number_or(0) : 0;
}
/// Of the interval that a record has for one of its members.
double width_of(object const& record, std::string const& key) {
    auto const& test = record.find("test")->string_or({});
    for (std::string const of : {"shift", "drift"})
        if (key.starts_with(of)) return width_between(record, of + "_lo", of + "_hi");
    if (key == "statistic" && test == "forecast") {
        auto const* const steps = record.find("steps");
        return steps && steps->if_array() && !steps->if_array()->empty() ? width_between(*steps->if_array()->front().if_object(), "lo", "hi") : 0;
    }
    if (key == "lo" || key == "hi" || key == (test == "compare" ? "difference" : "statistic")) return width_between(record, "lo", "hi");
    return 0;
}

std::string step_text(object const& step) {
    auto const of = [&](char const* key) { return shown(*step.find(key), width_between(step, "lo", "hi")); };
    return sb::cat(of("mean"), " (", of("lo"), " .. ", of("hi"), ")");
}

/// Every member of every record has a column.
sb::cli::table table_of(std::vector<sb::test_record> const& all, bool full) {
    std::vector<std::string> keys;
    auto const flat = [full](sb::test_record const& r) {
        object o;
        int ahead = 0;
        for (auto const& [key, v] : r.to_object()) {
            if (auto const* inner = v.if_object())
                for (auto const& [name, each] : *inner) o.set(sb::cat(key, " ", name), each);
            else if (key == "steps" && v.if_array() && !full) // a column for each step ahead
                for (auto const& each : *v.if_array()) o.set(sb::cat("+", ++ahead), step_text(*each.if_object()));
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
    for (auto const& key : keys) t.column(key, key == "test" || key == "name" || key == "first" || key == "second" || key == "reason" ? sb::cli::table::align::left : sb::cli::table::align::right);
    for (auto const& r : all) {
        auto const o = flat(r), whole = r.to_object();
        std::vector<std::string> row;
        for (auto const& key : keys) {
            auto const* const v = o.find(key);
            std::string text;
            if (v && full) text = v->is_null() ? std::string{} : v->if_string() ? *v->if_string() : sb::json::text_of(*v);
            else if (v && !(key == "reason" && v->is_null())) text = shown(*v, width_of(whole, key));
            if (key == "p" && r.p_bound && !full) text = *r.p_bound + text;
            row.push_back(std::move(text));
        }
        t.row(std::move(row));
    }
    return t;
}

sb::result<void> work(sb::cli::io& io, choices asked) {
    SB_CHECK(asked.test.check());
    SB_CHECK(asked.from.check());
    if (!asked.from.by.empty() && asked.from.field.empty()) return sb::caller_error("--by is for JSON lines: say with --field which number of them is meant");
    if (asked.files.empty()) {
        if (io.in_terminal) return sb::caller_error("give it a file of numbers, or numbers on its standard input");
        asked.files.emplace_back("-");
    }
    bool const several = asked.files.size() > 1;
    sb::track::columns all;
    if (std::count(asked.files.begin(), asked.files.end(), "-") > 1) return sb::caller_error("-: standard input can be read once");
    asked.from.holes = sb::track::goes_by_lines(asked.test);
    sb::track::column_reader reader{asked.from, several};
    for (auto const& file : asked.files) {
        SB_TRY(auto from, sb::source::open(file, io.waits()));
        SB_CHECK(reader.read(from, file, all, [&](std::int64_t line, std::size_t byte, std::string_view what) { io.reject(several ? file : "", line, byte, what); }));
    }
    if (io.bad_lines > 0) return {}; // an answer that leaves values out is another test's
    auto const& counts = reader.counts();
    bool const nothing = std::all_of(all.begin(), all.end(), [](auto const& each) { return each.values.empty(); });
    if (nothing && counts.without > 0) io.log.warn(sb::cat("no line has ", asked.from.field, asked.from.by.empty() ? "" : sb::cat(" and ", asked.from.by)));
    else if (counts.without > 0) io.log.info(sb::cat("lines without ", asked.from.field, asked.from.by.empty() ? "" : sb::cat(" or ", asked.from.by), ", passed over: ", counts.without));
    if (!asked.from.by.empty()) std::erase_if(all, [](auto const& each) { return each.values.empty(); }); // a group is one that has a number
    bool const each_alone = sb::track::find_test(asked.test.test)->fewest == 0; // samples stay in the order in which they came: which is first matters
    if (!asked.from.by.empty() && each_alone) std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.name < b.name; });

    auto const answered = sb::track::answered(all, asked.test, several || !asked.from.by.empty());
    if (answered.has_error()) return sb::caller_error(sb::cli::printable(answered.error().what)); // a group's name may hold anything
    auto const& answers = *answered;
    io.answer_no = answers.empty();
    for (auto const& each : answers) {
        io.answer_no |= sb::track::is_no(each);
        if (auto const* const left_out = each.besides.find("left_out"); left_out && left_out->if_integer()) {
            auto const count = *left_out->if_integer(), pairs = each.test == "compare" ? each.n / 2 : each.n;
            io.log.warn(sb::cat(count, " of ", count + pairs, count == 1 ? " pairs has one side only and is left out" : " pairs have one side only and are left out"));
        }
    }
    auto const format = io.format_of(asked.format);
    if (format == "jsonl") {
        for (auto const& each : answers) io.out << sb::json::line(each);
    } else if (format == "csv") io.out << table_of(answers, true).csv(io.out_terminal);
    else if (format == "md") io.out << table_of(answers, false).markdown();
    else if (!answers.empty()) io.out << table_of(answers, false).text(io.out_color);
    return {};
}

/// An option that would do nothing is a slip of the pen. One from the settings or the environment stands for other calls too.
sb::result<void> check_use(sb::cli::declaration const& tool, sb::track::test_question const& test) {
    auto const given = [&](std::string_view flag) { return std::any_of(tool.options.begin(), tool.options.end(), [&](auto const& each) { return each.flag == flag && each.source.starts_with("flag "); }); };
    if (test.test == "levene" && test.center != "trimmed" && given("--trim")) return sb::caller_error(sb::cat("--trim is for --center trimmed, not for ", test.center));
    if (test.test == "ci" && test.method != "bootstrap" && given("--seed")) return sb::caller_error(sb::cat("--seed is for --method bootstrap, not for ", test.method));
    return {};
}

} // namespace

int main(int argc, char** argv) {
    choices asked;
    auto& test = asked.test;
    sb::cli::tool tool{"sb-stat", "one statistical test of a column of numbers: its statistic, its p, or why it has no answer"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.writes<sb::test_record>();
    std::vector<sb::cli::declaration::verb> tests;
    for (auto const& each : sb::track::shell_tests) tests.push_back({each.name, each.asks});
    tool.verbs("tests", std::move(tests), test.test);
    tool.operands("TEST [FILE…]", "FILE has a number a line, or JSON lines with --field; - is standard input. Each is a series, or a sample of its own", asked.files);
    tool.option("--field", "NAME", "read JSON lines: this number of each (or of its `metrics`); a dot goes one level in", asked.from.field);
    tool.option("--by", "NAME", "lines that differ in this member are series, or samples, of their own", asked.from.by);
    tool.option("--regression", "TERMS", "what the series may have besides: nothing, a constant, a line, a parabola", test.regression).choices({"n", "c", "ct", "ctt"}).of({"adf", "kpss", "pp"});
    tool.option("--autolag", "RULE", "how the number of lags is chosen", test.autolag).choices({"aic", "bic", "t-stat", "none"}).of({"adf"});
    tool.option("--maxlag", "N", "lags at most; with --autolag none so many. Without it 12 (n/100)^(1/4)", test.maxlag).of({"adf"});
    tool.option("--lags", "RULE", "auto is by the data, legacy 12 (n/100)^(1/4), or a number", test.lags).of({"kpss", "pp"});
    tool.option("--center", "WHAT", "what spread is measured from", test.center).choices({"median", "mean", "trimmed"}).of({"levene"});
    tool.option("--trim", "PART", "the part of each end that a trimmed mean leaves out", test.trim).of({"levene"});
    tool.option("--bins", "N", "equal bins over the range of the first sample", test.bins).of({"psi"});
    tool.option("--ends", "WHAT", "values of the second sample beyond that range: into the bins at the ends, or dropped", test.ends).choices({"clip", "drop"}).of({"psi"});
    tool.option("--confidence", "PART", "how sure an interval is", test.confidence).of({"ci", "compare", "correlation", "trend", "forecast"});
    tool.option("--margin", "X", "a change that does not matter, in the unit of the values", test.margin).of({"compare", "converged"});
    tool.flag("--paired", "the samples belong together, value by value", test.paired).of({"compare"});
    tool.option("--mode", "WHERE", "around some level, or around nothing, as changes do", test.mode).choices({"stable", "near-zero"}).of({"converged"});
    tool.option("--alpha", "P", "the chance of a yes where it is no", test.alpha).of({"converged", "changepoint"});
    tool.option("--least", "N", "values that a series must have (8), or a stretch between two changes (5)", test.least).of({"converged", "changepoint"});
    tool.option("--passes", "K", "so many windows must pass: of all values, of all but the last, …", test.passes).of({"converged"});
    tool.option("--shuffles", "N", "orders by chance that a change must stand out from", test.shuffles).of({"changepoint"});
    tool.option("--method", "HOW", "the interval of a mean: by Student's t, whatever the distribution (BCa bootstrap), or one that holds however often you look (anytime)", test.method).choices({"t", "bootstrap", "anytime"}).of({"ci"});
    tool.option("--model", "MODEL", "what foretells: auto is smoothing below 20 values and arima from there on; the order, or what is smoothed, is chosen by AICc", test.model).choices({"auto", "arima", "smoothing"}).of({"forecast"});
    tool.option("--steps", "N", "steps ahead", test.steps).of({"forecast"});
    tool.option("--seed", "N", "of those orders, and of a bootstrap's draws", test.seed).of({"changepoint", "ci"});
    tool.formats(asked.format);
    return tool.run(argc, argv, [&](sb::cli::io& io) -> sb::result<void> {
        SB_CHECK(check_use(tool.self(), test));
        return work(io, asked);
    });
}
