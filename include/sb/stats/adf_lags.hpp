// SPDX-License-Identifier: MIT
// How many earlier differences the augmented Dickey-Fuller test takes in: by rule, and by what each of them explains.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/long_run.hpp>
#include <sb/stats/trend.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

namespace sb::stats {

/// How the number of earlier differences is found: given, by a criterion of information, or as the largest whose last
/// difference has a t value beyond 1.645.
enum class lag_choice : std::uint8_t { fixed, aic, bic, t_stat };

struct adf_request {
    trend with = trend::constant;
    lag_choice choice = lag_choice::aic;
    int most_lags = -1; ///< or, for `fixed`, how many; -1: by Schwert's rule, 12 (n / 100)^(1/4)
};

namespace detail {

/// The most earlier differences to look at, or why there is no answer for so many values.
struct lag_limit {
    no_answer why = no_answer::none;
    std::size_t lags = 0;
};
inline lag_limit lags_of(std::size_t values, adf_request const& asked) noexcept {
    int const cap = static_cast<int>(values / 2) - terms_of(asked.with) - 1;
    if (cap < 0) return {no_answer::too_short};
    if (asked.most_lags > cap) return {no_answer::bad_request};
    int const by_rule = static_cast<int>(schwert_lags(values));
    return {no_answer::none, static_cast<std::size_t>(asked.most_lags >= 0 ? asked.most_lags : std::min(cap, by_rule))};
}

/// Chooses, over the same rows for all, by what each further difference explains of the squares.
class lag_judge {
public:
    static constexpr double significant = 1.6448536269514722; // 5 % of a normal distribution lie above
    static constexpr double close = 1e-6; // a choice that rounding might turn

    lag_judge(lag_choice choice, std::size_t terms, std::size_t rows) noexcept
        : choice_{choice}, terms_{static_cast<double>(terms)}, rows_{static_cast<double>(rows)}, price_{choice == lag_choice::bic ? std::log(rows_) : 2},
          reward_{std::exp(-price_ / rows_)} {}

    struct verdict {
        std::size_t lag = 0;
        double criterion = 0;
        bool sure = false; ///< no other number of lags is as good
    };
    /// `explained[i]` by the difference i places before, 1 … lags; `rest` by none of them, in squares of 2^scale.
    verdict operator()(double const* explained, std::size_t lags, double rest, int scale) const noexcept {
        return choice_ == lag_choice::t_stat ? by_t(explained, lags, rest) : by_information(explained, lags, rest, scale);
    }

private:
    verdict by_t(double const* explained, std::size_t lags, double rest) const noexcept {
        verdict chosen{lags, 0, true};
        for (;; --chosen.lag) {
            double const freedom = rows_ - terms_ - 1 - static_cast<double>(chosen.lag);
            chosen.criterion = std::sqrt(explained[chosen.lag] / (rest / freedom));
            chosen.sure = chosen.sure && std::abs(chosen.criterion - significant) > close;
            if (chosen.lag == 0 || chosen.criterion >= significant) return chosen;
            rest += explained[chosen.lag];
        }
    }
    /// rows ln(rest) + price lags is least where rest exp(price lags / rows) is: one logarithm for all.
    verdict by_information(double const* explained, std::size_t lags, double rest, int scale) const noexcept {
        verdict chosen;
        double least = std::numeric_limits<double>::infinity(), second = least, best_rest = rest, weight = 1;
        for (auto lag = lags;; --lag) {
            double const value = rest * weight;
            if (value <= least) second = least, least = value, best_rest = rest, chosen.lag = lag;
            else second = std::min(second, value);
            if (lag == 0) break;
            rest += explained[lag], weight *= reward_;
        }
        chosen.criterion = rows_ * (std::log(2 * std::numbers::pi * best_rest / rows_) + 1 + 2 * std::numbers::ln2 * scale) + price_ * (terms_ + 1 + static_cast<double>(chosen.lag));
        chosen.sure = second - least > close / rows_ * least;
        return chosen;
    }

    lag_choice choice_;
    double terms_, rows_, price_, reward_; // what a lag costs, and what the squares may be worth less for one fewer
};

} // namespace detail
} // namespace sb::stats
