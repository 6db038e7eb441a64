#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# twins.sh finds a function that is written twice under other names, and none where only the beginning is the same or names differ.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
fail() { echo "twins_fails: $*" >&2; exit 1; }
cat >"$work/one.hpp" <<'END'
inline double middle_of(std::vector<double> const& values, double least, double most) {
    if (values.empty()) return 0;
    double sum = 0;
    std::size_t count = 0;
    for (double const each : values) {
        if (each < least || each > most) continue; // an outlier
        sum += each;
        ++count;
    }
    double const mean = sum / static_cast<double>(count);
    auto const above = std::count_if(values.begin(), values.end(), [&](double x) { return x > mean; });
    auto const below = std::count_if(values.begin(), values.end(), [&](double x) { return x < mean; });
    return above > below ? mean + 1 : mean - 1;
}
END
said() { "$here/twins.sh" "$work"; }
sed 's/values/numbers/g; s/sum/total/g; s/mean/centre/g; s/outlier/odd one/; s/0/7/; s/double middle_of/auto centre_of/' "$work/one.hpp" >"$work/two.hpp"
told=$(said) && fail 'a twin under other names is let pass'
[[ $told == "$work/one.hpp:"*" and $work/two.hpp:"*' lines are the same'* ]] || fail "this is no place: $told"
sed -i 's/x < mean/mean < x/; s/x < centre/centre < total/; s/x > centre/total > x/' "$work/two.hpp"
said || fail 'what begins the same is taken for a twin'
