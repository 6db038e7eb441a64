// SPDX-License-Identifier: MIT
// sb-stat - one statistical test of a column of numbers, from a shell
#include "manual.hpp"
#include <sb/app/stat.hpp>
#include <sb/cli/tool.hpp>
#include <sb/record/test.hpp>
#include <vector>

namespace {

void declare(sb::cli::tool& tool, sb::app::stat_choices& asked) {
    auto& test = asked.test;
    tool.about(sb::generated::version, sb::generated::manual);
    tool.writes<sb::test_record>();
    std::vector<sb::cli::declaration::verb> tests;
    for (auto const& each : sb::analysis::test_list) tests.push_back({each.name, each.asks});
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
}

} // namespace

int main(int argc, char** argv) {
    sb::app::stat_choices asked;
    sb::cli::tool tool{"sb-stat", "one statistical test of a column of numbers: its statistic, its p, or why it has no answer"};
    declare(tool, asked);
    return tool.run(argc, argv, [&](sb::cli::io& io) -> sb::result<void> {
        SB_CHECK(sb::app::check_use(tool.self(), asked.test));
        return sb::app::answer_test(io, asked);
    });
}
