#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stuck.sh BIN: a session ends, and nothing of it lives on, whatever keeps one of its slots from hearing a word: a payload that takes
# back what it has written, a helper that does not answer, an answer that comes in two parts.
. "$(dirname "$0")/../support/script.sh"
needs isolation
victim=$bin/../victims/victim
[ -x "$victim" ] || { echo "stuck: $victim is not built" >&2; exit 2; }
main=
all=()
trap 'end_all; rm -rf "$stage"' EXIT
mkdir "$stage/work" "$stage/tmp" && mkdir -m 777 "$stage/shared" && cp "$victim" "$stage/work" && cd "$stage/work"
export TMPDIR=$stage/tmp

began() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
below() { # PID…: those and all that come from them, with the moment of their birth, for a number may be given anew
    local each
    for each; do
        echo "$each:$(began "$each")"
        # shellcheck disable=SC2046
        below $(cat "/proc/$each/task/$each/children" 2>/dev/null)
    done
}
alive() { # those of `all` that are
    local each
    for each in ${all[@]+"${all[@]}"}; do
        case $(sed 's/.*) //; s/ .*//' "/proc/${each%%:*}/stat" 2>/dev/null) in '' | Z | X) continue ;; esac
        [ "$(began "${each%%:*}")" != "${each#*:}" ] || echo "${each%%:*}($(cat "/proc/${each%%:*}/comm" 2>/dev/null))"
    done
}
end_all() { # a number that is another's by now is not among them
    # shellcheck disable=SC2046
    kill -9 $(alive | sed 's/(.*//') 2>/dev/null || true
    [ -z "$main" ] || ! jobs -pr | grep -qx "$main" || kill -9 "$main" 2>/dev/null || true
    [ -z "$main" ] || wait "$main" 2>/dev/null || true
    main=
}
named() { # NAME: the first of them that is called so
    local each
    for each in "${all[@]}"; do
        [ "$(cat "/proc/${each%%:*}/comm" 2>/dev/null)" != "$1" ] || { echo "${each%%:*}"; return; }
    done
}
begin() { # OPTION… -- COMMAND…
    end_all
    rm -f "$stage"/shared/*
    "$bin/sb-exec" --data-dir "$stage/data" --bind "$stage/shared:/shared:rw" "$@" </dev/null >"$stage/records" 2>"$stage/err" &
    main=$!
}
until_there() { # FILE: which a payload makes
    for _ in $(seq 200); do
        [ ! -e "$stage/shared/$1" ] || { mapfile -t all < <(below "$main"); return 0; }
        kill -0 "$main" 2>/dev/null || break
        sleep 0.05
    done
    fail "no payload came to $1: $(cat "$stage/err")"
    return 1
}
ends_within() { # SECONDS NAME
    local until=$((SECONDS + $1))
    while [ $SECONDS -le $until ]; do
        [ -n "$(alive)" ] || { wait "$main" 2>/dev/null || true; main=; return 0; }
        sleep 0.05
    done
    fail "$2: after $1 s there is still $(alive | tr '\n' ' ')"
    end_all
}
no_helper_answers() { # of a run that has to have new memory before the next
    begin --repeat 2 -- sh -c 'mkdir -p d/d && : >/shared/begun; sleep 1'
    until_there begun || return 1
    local supervisor
    supervisor=$(named 'sb-exec mounts')
    [ -n "$supervisor" ] || { fail "no supervisor in ${all[*]}"; return 1; }
    kill -STOP "$supervisor"
    sleep 2
}

# a payload that takes back what it has written
begin --set TIMEOUT=2 -- ./victim steal_back 30 && { mapfile -t all < <(sleep 1; below "$main"); ends_within 10 'a payload that steals, with a TIMEOUT'; }
grep -q '"class":"timeout"' "$stage/records" || fail "a payload that steals ended as $(cut -c 1-300 "$stage/records")"
for signal in TERM KILL; do
    begin -- sh -c ': >/shared/begun; exec ./victim steal_back 30'
    until_there begun && sleep 2 && kill -$signal "$main" && ends_within 5 "a payload that steals, SIG$signal"
done

# a helper that does not answer: the slot waits for it and looks for nothing else
for signal in TERM KILL; do
    no_helper_answers && kill -$signal "$main" && ends_within 30 "a supervisor that was stopped, SIG$signal"
done

# an answer that is larger than the socket between, so that its other part comes when the next run is over
# shellcheck disable=SC2016 # for the payload
begin --repeat 300 -- sh -c 'n=0; [ ! -e /shared/n ] || read -r n </shared/n; echo $((n + 1)) >/shared/n; case $n in 200) head -c 262144 /dev/zero >&3 ;; 201) : >/shared/begun; exec sleep 100 ;; esac'
until_there begun && sleep 0.5 && kill -TERM "$main" && ends_within 5 'an answer in two parts, SIGTERM'

# what a killed session left goes with the next one, though it was still ending when that began: its lock says so
begin -- sh -c ': >/shared/begun; exec sleep 100'
if until_there begun && kill -KILL "$main" && ends_within 5 'a session that is killed'; then
    left=()
    for each in "$TMPDIR"/sb-exec-* "$stage"/data/leases/*; do [ ! -e "$each" ] || left+=("$each"); done # no lease where there are no groups
    [ ${#left[@]} -gt 0 ] || [ "$(id -u)" != 0 ] || fail 'a killed session left nothing to be held' # without rights none has to stay
    holders=()
    for each in ${left[@]+"${left[@]}"}; do
        flock "$each" sh -c ": >'$stage/held.${#holders[@]}'; exec sleep 0.5" &
        holders+=($!)
    done
    for ((i = 0; i < ${#holders[@]}; ++i)); do timeout 10 sh -c "until [ -e '$stage/held.$i' ]; do sleep 0.01; done" || fail 'no lock is to be had'; done
    "$bin/sb-exec" --data-dir "$stage/data" -- sleep 2 </dev/null >/dev/null || fail "a session after a killed one ended with $?"
    wait ${holders[@]+"${holders[@]}"}
    for each in ${left[@]+"${left[@]}"}; do
        [ ! -e "$each" ] || fail "$each is still there after the next session"
        [ -z "$(find /sys/fs/cgroup -maxdepth 5 -name "sandbench-${each##*/}*" 2>/dev/null)" ] || fail 'control groups are still there after the next session'
    done
fi

[ $failed = 0 ] && echo 'stuck slots end with their session, and nothing of them is left'
exit $failed
