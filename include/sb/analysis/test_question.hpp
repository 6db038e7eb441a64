// SPDX-License-Identifier: MIT
// The options of a statistical test, as sb-stat takes them, and their check.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/json/write.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace sb::analysis {

struct test_question {
    std::string test;
    std::string regression = "c", autolag = "aic", lags = "auto", center = "median", ends = "clip", mode = "stable", model = "auto", method = "t";
    std::optional<std::int64_t> maxlag, least;
    double trim = 0.25, confidence = 0.95, alpha = 0.05;
    std::optional<double> margin;
    bool paired = false;
    std::int64_t passes = 2, shuffles = 199, seed = 1, bins = 10, steps = 5;

    /// An option out of range is an error that names it and its range.
    result<void> check() const {
        if (!(confidence > 0 && confidence < 1)) return caller_error("--confidence: must be between 0 and 1, for example 0.95");
        if (!(trim >= 0 && trim < 0.5)) return caller_error("--trim: must be from 0 to below 0.5");
        if (margin && !(*margin > 0)) return caller_error("--margin: must be above 0");
        if (test == "converged" && !margin) return caller_error("--margin is missing: say how large a change does not matter, in the unit of the values");
        if (!(alpha > 0 && alpha < 0.5)) return caller_error("--alpha: must be between 0 and 0.5");
        auto const fewest = test == "converged" ? 3 : 1;
        if (least && (*least < fewest || *least > 1'000'000)) return caller_error(cat("--least: must be from ", fewest, " to 1000000"));
        if (shuffles < 19 || shuffles > 1'000'000) return caller_error("--shuffles: must be from 19 to 1000000");
        if (test == "changepoint" && alpha * static_cast<double>(shuffles + 1) < 1) return caller_error(cat("--alpha ", json::text_of(value(alpha)), ": ", shuffles, " --shuffles are too few to show it; give more"));
        if (passes < 1 || passes > 1000) return caller_error("--passes: must be from 1 to 1000");
        if (bins < 2 || bins > 10'000) return caller_error("--bins: must be from 2 to 10000");
        if (maxlag && (*maxlag < 0 || *maxlag > 1'000'000)) return caller_error("--maxlag: must be from 0 to 1000000");
        if (autolag == "none" && !maxlag) return caller_error("--autolag none needs --maxlag, the number of lags");
        if (method == "bootstrap" && !(confidence <= 0.9999)) return caller_error("--confidence: must be at most 0.9999 for a bootstrap");
        if (steps < 1 || steps > 10'000) return caller_error("--steps: must be from 1 to 10000");
        if (test == "pp" && regression == "ctt") return caller_error("--regression ctt: pp takes n, c or ct");
        if (test == "kpss" && regression != "c" && regression != "ct") return caller_error(cat("--regression ", regression, ": kpss takes c or ct"));
        if (lags != "auto" && lags != "legacy" && !fixed_lags()) return caller_error(cat("--lags: \"", lags, "\" is neither auto, legacy nor a number from 0"));
        return {};
    }
    /// The number, if `lags` is one.
    std::optional<int> fixed_lags() const {
        int number = 0;
        auto const* const past = lags.data() + lags.size();
        auto const [end, code] = std::from_chars(lags.data(), past, number);
        return code == std::errc{} && end == past && number >= 0 ? std::optional{number} : std::nullopt;
    }
};

} // namespace sb::analysis
