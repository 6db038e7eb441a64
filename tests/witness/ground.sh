# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The host that run.sh makes for itself: namespaces, and a control group in each hierarchy. It runs itself again in there.

enter() { # makes the ground and runs us in it
    local bin=${SB_BIN:-$here/../../build/bin} words=() line
    for ((i = 1; i <= $#; ++i)); do
        if [ "${!i}" = --bin ]; then i=$((i + 1)) && bin=${!i}; else words+=("${!i}"); fi
    done
    bin=$(cd "$bin" && pwd) || exit 2
    for line in "$bin/sb-exec" "$bin/../victims/victim" "$bin/../victims/soiler" "$bin/../witness/kill_at"; do
        [ -x "$line" ] || { echo "run.sh: $line is not built" >&2; exit 2; }
    done
    . "$here/../support/needs.sh"
    needs perl pgrep ipcmk setpriv unshare
    needs root isolation # root looks at everybody's keys and groups; with --nobody what is looked at is run by another user
    while IFS= read -r line; do
        case $line in
        shared*) shared+=("${line#shared }") ;;
        own*) forget_the_killed "${line#own }"; ! mkdir "${line#own }/sb-witness-$$" || made+=("${line#own }/sb-witness-$$") ;;
        esac
    done < <(hierarchies)
    trap 'leave' EXIT
    trap 'exit 130' INT TERM HUP
    for line in "${made[@]}"; do echo $$ >"$line/cgroup.procs"; done
    SB_WITNESS_BIN=$bin SB_WITNESS_OWN=$(IFS=:; echo "${made[*]-}") SB_WITNESS_SHARED=$(IFS=:; echo "${shared[*]-}") \
        unshare --mount --pid --ipc --uts --net --fork --kill-child --mount-proc bash "$here/run.sh" "${words[@]}" &
    ground=$!
    wait $ground
}
# an earlier one that was killed outright has left its groups, though nothing in them
forget_the_killed() {
    local folder
    for folder in "$1"/sb-witness-*/; do
        [ ! -d "$folder" ] || [ -d "/proc/$(basename "${folder##*sb-witness-}")" ] || find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null
    done
}
leave() {
    [ -z "${ground-}" ] || { kill -9 $ground && wait $ground; } 2>/dev/null # its first process dies with it, and all others with that
    for folder in "${made[@]}"; do echo $$ >"${folder%/*}/cgroup.procs"; done
    for try in 1 2 3 4 5 6 7 8 9 10; do
        [ "$try" = 1 ] || sleep 0.1
        for folder in "${made[@]}"; do [ ! -d "$folder" ] || find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null; done
        for folder in "${made[@]}"; do [ ! -d "$folder" ] || continue 2; done
        break
    done
}
# "own FOLDER": a hierarchy in which our own group can hold another; "shared FOLDER": one that hands out controllers by the
# newer rules, where groups are made beside ours
hierarchies() {
    local controllers path id root mount kind options
    while IFS=: read -r _ controllers path; do
        while read -r _ _ _ root mount _ kind options; do
            case $controllers in
            '') [ "$kind" = cgroup2 ] || continue ;;
            *memory* | *pids* | *cpu | *cpu,* | *cpuacct*) [[ $kind = cgroup && ,${options##* }, = *,${controllers%%,*},* ]] || continue ;;
            *) continue ;;
            esac
            [ "$root" = / ] || path=${path#"$root"}
            if [ "$kind" = cgroup2 ] && grep -qswE 'memory|pids|cpu' "$mount/cgroup.controllers"; then echo "shared $mount"; else echo "own $mount${path%/}"; fi
            break
        done < <(sed 's/ - / /; s/^\(\([^ ]* \)\{6\}\)\(.*\) \(cgroup2\? \)/\1\4/' /proc/self/mountinfo | grep ' cgroup2\? ')
    done </proc/self/cgroup
}
