#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stats.sh BUILD [ROUNDS]: include/sb/stats/ beside statsmodels, scipy, arch, apache/otava and R, all with the same series, in turn,
# so that what else the machine does falls on all alike. A ratio is the middle one of ROUNDS (3), of medians of the processor time of
# warm calls; it counts only where the answers are the same (the statistic to 1e-8, the lag), or, of a likelihood, where ours is not lower.
# The Python peers live in a virtual environment under BUILD. What is not there is skipped aloud. Exit 1 when a number that
# must hold does not.
set -uo pipefail
build=$(cd "${1:?usage: stats.sh BUILD [ROUNDS]}" && pwd) rounds=${2:-3}
here=$(cd "$(dirname "$0")" && pwd)
bin=$build/bin peers=$build/bench
work=${SB_BENCH_DIR:-$build/bench-data}/stats
mkdir -p "$work/series"
missed=0
skip() { echo "skipped: $1" >&2; }

# row | peer | must | goal | how answers compare (same; no-lower; not at all) | in words. With the peer "-" must is in nanoseconds.
table() {
    cat <<'END'
adf-50|statsmodels|700|1000|same|ADF, lag by AIC, n = 50
adf-50|arch|150||same|
adf-50|urca||||
adf-250|statsmodels|700|1000|same|ADF, lag by AIC, n = 250
adf-250|arch|150||same|
adf-250|urca||||
adf-1000|statsmodels|700|1000|same|ADF, lag by AIC, n = 1,000
adf-1000|arch|150||same|
adf-1000|urca||||
adf-10000|statsmodels|2500|3000|same|ADF, lag by AIC, n = 10,000
adf-10000|arch||50|same|
adf-10000|urca||||
rolling-adf|statsmodels|1000|4000|same|rolling ADF, window 50, a step
arima|statsmodels|50|150|no-lower|ARIMA, choice among four orders, n = 50
arima|R||35|no-lower|
e-divisive|otava|120|400|same|e-divisive, first split, n = 1,000
levene|scipy|20|30|same|Levene, two samples of 250
kpss|statsmodels|20|40|same|KPSS, n = 250
ks|scipy|20|8|same|Kolmogorov-Smirnov, two samples of 250
t-interval|scipy|20|350|same|interval of a mean, n = 250
sequence-normal|-|100|||bounds that hold at any time: a further normal value
sequence-bounded|-|100|||the same, of values between bounds
sequence-share|-|100|||the same, of a share
END
}

# ---- the peers
# Everything by number, so that next year's run measures the same; wheels alone, for nothing is to be compiled.
base="numpy==2.2.0 scipy==1.16.3 pandas==3.1.1 patsy==1.0.3 packaging==26.3 python-dateutil==2.9.0.post0 six==1.17.0 statsmodels==0.15.0"
more="arch==8.0.0 apache-otava==0.8.0"
python=$work/venv/bin/python
if ! [ "$(cat "$work/venv/made-of" 2>/dev/null)" = "$base $more" ]; then
    rm -rf "$work/venv"
    if ! command -v python3 >/dev/null || ! python3 -m venv "$work/venv" >/dev/null 2>&1; then skip 'statsmodels, scipy, arch and otava (no python3 with venv)'
    else
        pip() { timeout 600 "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps "$@" >"$work/pip" 2>&1; }
        # shellcheck disable=SC2086 # words are meant
        if ! pip $base; then
            skip "statsmodels, scipy, arch and otava ($(tail -n 1 "$work/pip"))"
            rm -rf "$work/venv"
        else
            whole=yes
            for each in $more; do pip "$each" || { skip "$each ($(tail -n 1 "$work/pip"))" && whole=; }; done
            [ -z "$whole" ] || echo "$base $more" >"$work/venv/made-of"
        fi
    fi
fi
rscript=$(command -v Rscript) || skip 'R (not installed: r-base-core, r-cran-urca, r-cran-forecast)'

# ---- the rounds
"$peers/stats" write "$work/series" || exit 4
: >"$work/rounds"
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
for round in $(seq "$rounds"); do
    "$peers/stats" measure "$work/series" | sed "s/^/$round\t/" >>"$work/rounds" || exit 4
    # what they skip they say once
    if [ -x "$python" ]; then "$python" "$here/peer_stats.py" "$work/series" 2>"$work/said" | sed "s/^/$round\t/" >>"$work/rounds"; fi
    [ "$round" = 1 ] && [ -s "$work/said" ] && cat "$work/said" >&2
    if [ -n "$rscript" ]; then "$rscript" --vanilla "$here/peer_stats.R" "$work/series" 2>"$work/said" | sed "s/^/$round\t/" >>"$work/rounds"; fi
    [ "$round" = 1 ] && [ -n "$rscript" ] && [ -s "$work/said" ] && cat "$work/said" >&2
done

# ---- the table
table | awk -F '|' -v rounds="$rounds" -v data="$work/rounds" '
    function middle(all, n,    i, j, t) {
        for (i = 2; i <= n; ++i) for (j = i; j > 1 && all[j] < all[j - 1]; --j) { t = all[j]; all[j] = all[j - 1]; all[j - 1] = t }
        return n % 2 ? all[(n + 1) / 2] : (all[n / 2] + all[n / 2 + 1]) / 2
    }
    function size(x) { return x < 0 ? -x : x }
    # the first answer that is not as it should be, in words
    function differ(row, peer, how,    ours, theirs, n, i, m) {
        n = split(answers[row, "ours"], ours, "\t"); m = split(answers[row, peer], theirs, "\t")
        if (n != m) return n " answers against " m
        for (i = 1; i <= n; ++i) {
            ours[i] += 0; theirs[i] += 0
            if (how == "no-lower" ? ours[i] < theirs[i] - 1e-3 : size(ours[i] - theirs[i]) > 1e-8 * (size(theirs[i]) > 1e-4 ? size(theirs[i]) : 1e-4))
                return sprintf("%.15g against %.15g", ours[i], theirs[i])
        }
    }
    BEGIN {
        while ((getline line < data) > 0) {
            n = split(line, field, "\t")
            us[field[2], field[3], field[1]] = field[4]
            rest = ""
            for (i = 5; i <= n; ++i) rest = rest (i > 5 ? "\t" : "") field[i]
            answers[field[2], field[3]] = rest
        }
    }
    {
        row = $1; peer = $2; must = $3; goal = $4
        n = had = 0
        for (round = 1; round <= rounds; ++round) {
            if (!((row, "ours", round) in us)) continue
            own[++had] = us[row, "ours", round]
            if (!((row, peer, round) in us)) continue
            other[++n] = us[row, peer, round]
            ratio[n] = other[n] / own[had]
        }
        if ($6 != "" && !had) { print "             ?     " $6 ": ours gave no answer  MISSED"; ++missed }
        if (!had) next
        what = middle(own, had)
        if ($6 != "") printf "%12.3f us  %s\n", what, $6
        if (!n && peer != "-") next
        bad = 0
        if (peer == "-") { bad = 1000 * what > must; printf "%14.0f ns; must %s ns%s\n", 1000 * what, must, bad ? "  MISSED" : "" }
        else {
            why = $5 == "" ? "" : differ(row, peer, $5)
            times = middle(ratio, n)
            bad = why != "" || (must != "" && times < must)
            printf "%14.0fx  %s (%.5g us)%s%s%s%s\n", times, peer, middle(other, n), must == "" ? "" : "; must " must "x", goal == "" ? "" : (must == "" ? "; goal " : ", goal ") goal "x",
                why == "" ? "" : "; the answers differ: " why, bad ? "  MISSED" : ""
        }
        missed += bad
    }
    END { exit missed > 0 }' || missed=1

# ---- what it costs to use them
cxx=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
echo '#include <sb/stats/adf.hpp>
int main(int n, char**) { double const x[] = {1, 2, 4, 3, static_cast<double>(n)}; return sb::stats::adf(x).lag; }' >"$work/only_adf.cpp"
"$peers/interleave" 3 "compile=$cxx -std=c++20 -O2 -I $here/../include $work/only_adf.cpp -o $work/only_adf" |
    awk -F '\t' '{ printf "%14.2f s   of processor time to compile and link a program that includes sb/stats/adf.hpp alone; must 3 s%s\n", $5, ($5 <= 3 ? "" : "  MISSED"); exit !($5 > 0 && $5 <= 3) }' || missed=1

head -n 1 "$work/series/ar-50" | tr ' ' '\n' >"$work/small"
# on a busy machine the best of three medians tells most of the tool and least of the neighbours
said=$(cd "$work" && for _ in 1 2 3; do RECORD=small "$peers/latency" start 150 "$bin/sb-stat" adf small; done | sort -g | head -n 1)
awk '{ printf "%14.0f us  from start to end of sb-stat adf on one small file (p99 %.0f); must 1500 us, goal 1000 us%s\n", $1, $2, ($1 <= 1500 ? "" : "  MISSED"); exit !($1 > 0 && $1 <= 1500) }' <<<"$said" || missed=1
if [ -x "$python" ]; then
    (cd "$work" && RECORD=small "$peers/latency" start 3 "$python" -c 'import sys; from statsmodels.tsa.stattools import adfuller; print(adfuller([float(x) for x in sys.stdin]))') |
        awk -v ours="${said%% *}" '{ printf "%14.0fx  python -c adfuller (%.0f us); goal 1000x\n", $1 / ours, $1 }'
fi
exit $missed
