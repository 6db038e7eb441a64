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
    tool.operands("TEST [FILE…]", "FILE has one number per line, or JSON lines with --field; - is standard input. Each file is one series or sample", asked.files);
    tool.option("--field", "NAME", "read JSON lines and take this number of each (or of its `metrics`); a dot goes one level down", asked.from.field);
    tool.option("--by", "NAME", "split the lines into series or samples by this member", asked.from.by);
    tool.option("--regression", "TERMS", "deterministic terms: none, constant, line, parabola", test.regression).choices({"n", "c", "ct", "ctt"}).of({"adf", "kpss", "pp"});
    tool.option("--autolag", "RULE", "how the number of lags is chosen", test.autolag).choices({"aic", "bic", "t-stat", "none"}).of({"adf"});
    tool.option("--maxlag", "N", "maximum number of lags; with --autolag none exactly this number; default: 12 (n/100)^(1/4)", test.maxlag).of({"adf"});
    tool.option("--lags", "RULE", "number of lags; auto chooses by the data, legacy is 12 (n/100)^(1/4)", test.lags).of({"kpss", "pp"});
    tool.option("--center", "WHAT", "centre from which spread is measured", test.center).choices({"median", "mean", "trimmed"}).of({"levene"});
    tool.option("--trim", "PART", "fraction of each end that the trimmed mean leaves out", test.trim).of({"levene"});
    tool.option("--bins", "N", "number of equal bins over the range of the first sample", test.bins).of({"psi"});
    tool.option("--ends", "WHAT", "values of the second sample outside that range: count them in the end bins, or drop them", test.ends).choices({"clip", "drop"}).of({"psi"});
    tool.option("--confidence", "PART", "confidence of intervals", test.confidence).of({"ci", "compare", "correlation", "trend", "forecast"});
    tool.option("--margin", "X", "largest change that does not matter, in the unit of the values", test.margin).of({"compare", "converged"});
    tool.flag("--paired", "the samples are pairs, value by value", test.paired).of({"compare"});
    tool.option("--mode", "WHERE", "stable: around any level; near-zero: around zero, for values that are changes", test.mode).choices({"stable", "near-zero"}).of({"converged"});
    tool.option("--alpha", "P", "probability of a false yes", test.alpha).of({"converged", "changepoint"});
    tool.option("--least", "N", "minimum number of values of a series (8), or between two changes (5)", test.least).of({"converged", "changepoint"});
    tool.option("--passes", "K", "number of windows that must pass: all values, all but the last, …", test.passes).of({"converged"});
    tool.option("--shuffles", "N", "number of random orders to compare a change with", test.shuffles).of({"changepoint"});
    tool.option("--method", "HOW", "interval of a mean: Student's t; BCa bootstrap, for any distribution; or anytime, valid at every look", test.method).choices({"t", "bootstrap", "anytime"}).of({"ci"});
    tool.option("--model", "MODEL", "forecasting method: auto is smoothing below 20 values, else arima; AICc chooses the order, or what is smoothed", test.model).choices({"auto", "arima", "smoothing"}).of({"forecast"});
    tool.option("--steps", "N", "number of steps ahead", test.steps).of({"forecast"});
    tool.option("--seed", "N", "seed of the random orders or of the bootstrap", test.seed).of({"changepoint", "ci"});
    tool.formats(asked.format);
}

} // namespace

int main(int argc, char** argv) {
    sb::app::stat_choices asked;
    sb::cli::tool tool{"sb-stat", "run one statistical test on a column of numbers"};
    declare(tool, asked);
    return tool.run(argc, argv, [&](sb::cli::io& io) -> sb::result<void> {
        SB_CHECK(sb::app::check_use(tool.self(), asked.test));
        return sb::app::answer_test(io, asked);
    });
}
