#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# doubts.sh BIN: what makes the times of an invocation doubtful is said where a person or a log reads it, and nowhere else.
. "$(dirname "$0")/../support/script.sh"
needs jq
trap 'rm -rf "$stage"; [ -z "${busy-}" ] || kill $busy 2>/dev/null || true' EXIT
unset "${!SANDBOX_@}" LOG_LEVEL
cd "$stage"
said() { grep -qE -- "$1" err || fail "$2: said: $(cat err)"; }
# the n-th run of a workload sleeps for as long as the n-th line of `times` says
cat >times.sh <<'END'
n=$(($(cat n 2>/dev/null || echo 0) + 1))
echo $n >n
sleep "$(sed -n ${n}p times)"
END
run() { # OPTION…: the runs that `times` has lines for
    rm -f n
    "$bin/sb-exec" --data-dir data --isolate basic --repeat "$(wc -l <times)" "$@" -- sh times.sh </dev/null >records 2>err
}
series() { for each; do echo "$each"; done >times; }

# far apart, thirty times: a busy machine must not hide what is looked for
series 1.5 .05 .05 .05 .05 .05 .05 .05
run -v
said 'normal: the first run took [1-9]\.[0-9]+ s, the 7 after it .* \(median\): caches were cold; --warmup 1 leaves it out' 'a slow first run'
run
! grep -q 'first run' err || fail "a pipe that nobody asked hears of it: $(cat err)"
[ "$(grep -c '"kind":"run"' records)" = 8 ] && [ "$(wc -l <records)" = 8 ] || fail 'standard output has more than records'
SANDBOX_JSON_LOGS=1 run
said '^\{"ts":"[^"]*","level":"warning","tool":"sb-exec","message":"normal: the first run took' 'the same as a log'
if command -v script >/dev/null; then
    rm -f n
    script -qec "'$bin/sb-exec' --data-dir data --isolate basic --repeat 8 -- sh times.sh </dev/null >records" err >/dev/null </dev/null
    said 'warning: normal: the first run took' 'the same on a terminal'
    [ "$(wc -l <records)" = 8 ] || fail 'records went elsewhere than to standard output'
fi

series .05 .05 .05 .05 .05 .05 1.5 .05 .05 # on a busy machine the first may be told apart from the rest
run -v
said 'normal: [1-9] of [89] runs (is an outlier|are outliers): [1-9]\.[0-9]+ s in (the worst, )?run 7, against a median of' 'an outlier'

series .05 .13 .21 .29 .37 .45 .53 .61 .69 .77 .85 .93
run -v
said "normal: the time rises with the order of runs: median .* in the first third, .* in the last \(Spearman's rho (1.00|0.[89][0-9]), p [^ ]+, n 12\)" 'a drift'

# work beside the runs, on every processor that there is
busy=
for _ in $(seq "$(nproc)"); do (while :; do :; done) & busy="$busy $!"; done
series .3 .3
run -v
said 'other processes used [0-9.]+ of [0-9]+ processors? while runs were made' 'a busy machine'
jq -es 'all(.[]; .noise.window_s >= 0.3 and .noise.others_cpu_s > 0.1 and .noise.steal_s >= 0 and (.host.load >= 0))' records >/dev/null || fail "noise: $(jq -c .noise records)"
kill $busy
busy=
series .001
run
jq -es 'all(.[]; .noise == null or .noise.window_s >= 0.1)' records >/dev/null || fail "a short run cannot tell of noise: $(jq -c .noise records)"
# what a run itself does is not others' work
"$bin/sb-exec" --data-dir data --isolate basic -- sh -c 'i=0; while [ $i -lt 1000000 ]; do i=$((i + 1)); done' </dev/null >records 2>err
jq -es 'all(.[]; .noise.others_cpu_s < .noise.window_s * .host.cpus - 0.8 * (.cpu_user_s + .cpu_sys_s))' records >/dev/null || fail "its own work counts as others': $(jq -c '[.cpu_user_s,.noise]' records)"
exit $failed
