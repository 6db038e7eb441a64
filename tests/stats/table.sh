#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which tests hold what sb::stats answers, as docs/reference/stats.md says: by numbers from elsewhere (oracle), by what must be so
# for any input (property), and for input that has no answer (degenerate). Each answer needs all three. table.sh [--write]
# Tests say it by their tags: [HEADER:KIND].
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
page=docs/reference/stats.md
parts='answer arma_likelihood arma_search dot energy_walk energy_split forecast incomplete_beta invert_tail minimise orthogonal saddle_point smoothing_filter smoothing_search adf_lags gram long_run tie_tables trend' # of the others, and tested through them
answers() { # question | header | what it gives
    cat <<'END'
Summaries|moments|count, mean and spread; covariance of two streams; autocorrelation; mergeable
Summaries|scaled_moments|mean and spread of a stream of any magnitude
Summaries|sums|vectorized sums: of values, of distances from a point
Summaries|ewm|exponentially weighted mean and spread
Summaries|rolling_summary|any summary of the last N values
Summaries|weighted|weighted mean and spread, mergeable
Summaries|quantile|exact quantiles, by four rules
Summaries|quantile_sketch|quantiles of a stream with a bound on the error, mergeable
Summaries|robust|median, and the bounds beyond which a value is an outlier
Distributions|normal|the normal: tail and inverse
Distributions|student_t|Student's t: tail, density and inverse
Distributions|f_distribution|Fisher's F: tail and inverse
Distributions|chi_square|chi square: tail and inverse
Distributions|kolmogorov|Kolmogorov's limit: tail and inverse
Distributions|mackinnon|Dickey and Fuller's: p values and critical values
Intervals|interval|a mean, by Student's t
Intervals|proportion_interval|a proportion (Wilson)
Intervals|means|a mean, a difference (Welch), a paired difference; effective n; equivalence (TOST)
Intervals|bootstrap|any statistic (BCa)
Intervals|prediction|one more observation
Intervals|conformal|the next error of any forecaster, also under drift
Tests|adf|a unit root (augmented Dickey-Fuller)
Tests|rolling_adf|the same of each window of a series
Tests|phillips_perron|a unit root without lagged terms (Phillips-Perron)
Tests|kpss|a steady level or line (KPSS)
Tests|levene|spreads (Levene, Brown and Forsythe, trimmed)
Tests|ks|two distributions (Kolmogorov and Smirnov, exact with ties)
Tests|mann_whitney|two samples by ranks, with the shift between them (Hodges and Lehmann)
Tests|psi|a distribution that has shifted (stability index)
Tests|multiple_testing|several tests at once (Holm, Benjamini and Hochberg)
Regression|least_squares|coefficients with HAC errors and leverage; ridge
Regression|theil_sen|a slope that outliers do not move, with its interval
Regression|correlation|Pearson's, with its interval; over windows without drift
Regression|rank_correlation|Spearman's and Kendall's, exact where possible
Forecasts|arima|ARIMA by exact likelihood, with regressors; forecasts
Forecasts|lag_polynomial|roots and coefficients of ARMA models
Forecasts|row_filter|filters by ARMA models
Forecasts|arima_choice|the order of an ARIMA model
Forecasts|smoothing|exponential smoothing: level, trend, damped trend; forecasts
Forecasts|rolling_origin|the past errors of a forecaster, never looking ahead
Changes|change_points|where a series changes (e-divisive)
Changes|cusum|a change in a live stream (CUSUM), at a given rate of false alarms
Changes|cusum_run_length|the run length of a CUSUM, and the threshold for a given one
Decisions|confidence_sequence|intervals and decisions that hold at every look
Decisions|betting_sequence|the same for bounded values, tighter with few
Decisions|settled|convergence: changes below a margin
END
}
tags() { grep -ohE '^TEST_CASE\("[^"]*", "[^"]*"\)' tests/stats/*_test.cpp tests/views/*_test.cpp 2>/dev/null | grep -oE '\[[a-z_]+:[a-z]+\]' | tr -d '[]'; }
counted() { grep -c "^$1:$2\$" <<<"$all"; }
all=$(tags)
bad=0
say() { echo "$*" >&2; bad=1; }

table() {
    cat <<'END'
<!-- SPDX-License-Identifier: MIT -->
# Statistics

Each header of `include/sb/stats/`, what it gives, and how many tests check it. `tests/stats/table.sh --write` makes this page from the tests.

- *oracle*: against numbers that this code did not produce (exact arithmetic, certified values, statsmodels, scipy, R)
- *property*: what must hold for any input (units, offsets, order, error rates by simulation, the same bytes on every instruction set)
- *degenerate*: input that has no answer (too few values, constant, not finite) gives a reason and never a number

| | header `sb/stats/` | what it gives | oracle | property | degenerate |
| --- | --- | --- | ---: | ---: | ---: |
END
    local last=
    while IFS='|' read -r kind header what; do
        printf '| %s | `%s.hpp` | %s | %s | %s | %s |\n' "$([ "$kind" = "$last" ] || echo "$kind")" "$header" "$what" \
            "$(counted "$header" oracle)" "$(counted "$header" property)" "$(counted "$header" degenerate)"
        last=$kind
    done < <(answers)
}

known=" $parts $(answers | cut -d'|' -f2 | tr '\n' ' ')"
for header in include/sb/stats/*.hpp; do
    name=$(basename "$header" .hpp)
    [[ $known == *" $name "* ]] || say "$name.hpp stands neither among the answers nor among the parts of tests/stats/table.sh"
done
while IFS='|' read -r _ header _; do
    [ -e "include/sb/stats/$header.hpp" ] || say "$header.hpp: no such header"
    for kind in oracle property degenerate; do
        [ "$(counted "$header" $kind)" -gt 0 ] || say "$header.hpp: no test is tagged [$header:$kind]"
    done
done < <(answers)
while IFS=: read -r header kind; do
    [[ $known == *" $header "* && ' oracle property degenerate ' == *" $kind "* ]] || say "[$header:$kind]: a tag of nothing"
done < <(sort -u <<<"$all")

if [ "${1-}" = --write ]; then table >"$page"
else table | diff -u --label "$page" --label 'what the tests say' "$page" - || say 'to rewrite it: tests/stats/table.sh --write'; fi
exit $bad
