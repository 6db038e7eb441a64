# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The suites `kills` and `points`: a process of a session is killed, at a moment by chance and at each of its system calls.

processes_of() { # NAME: those of our host that are called so
    local process name
    for process in /proc/[0-9]*; do
        { read -r name <"$process/comm"; } 2>/dev/null && [ "$name" = "$1" ] && echo "${process#/proc/}"
    done
}
helpers() { # the names of the processes of a session, itself first
    local process name found=()
    sandbox --jobs 2 -- sleep 1 </dev/null >/dev/null 2>&1 &
    sleep 0.5
    for process in /proc/[0-9]*; do
        { read -r name <"$process/comm"; } 2>/dev/null && [[ $name = 'sb-exec '* ]] && found+=("$name")
    done
    wait $!
    echo sb-exec
    printf '%s\n' "${found[@]}" | sort -u
}

# next_start NAME: whatever a killed session left is gone after the next
next_start() {
    local said
    sandbox -- true </dev/null >"$stage/pictures/session" 2>"$stage/pictures/err" || { echo "$1: the next start fails: $(cat "$stage/pictures/err")"; return; }
    said=$(cat "$stage/pictures/err") && [ -z "$said" ] || echo "$1: the next start says: $said"
    differences "$stage/pictures/before" >"$stage/pictures/said" || sed "s|^|$1: |" "$stage/pictures/said"
}
# gone NAME: every process of it has ended, and that of whatever it ran
gone() {
    local wait process name left
    for wait in $(seq 200); do
        left=
        for process in /proc/[0-9]*; do
            { read -r name <"$process/comm"; } 2>/dev/null && grep -qx "process ${process#/proc/} .*" "$stage/pictures/before" || case $name in sb-exec* | victim | sh | sleep) left+=" $name" ;; esac
        done
        [ -n "$left" ] || return 0
        sleep 0.05
    done
    echo "$1: after 10 s there are still:$left"
}

suite_kills() {
    local wrong='' names=() n i target pid moment status record_count by='' left
    picture_of_rest
    helpers >"$stage/pictures/names" && mapfile -t names <"$stage/pictures/names"
    for ((i = 0; i < kills + kills / 4; ++i)); do
        if [ $i -lt "$kills" ]; then target=sb-exec; else target=${names[1 + RANDOM % (${#names[@]} - 1)]}; fi
        local options=(--jobs $((1 + RANDOM % 2)) --repeat 3 --env SHOWN)
        case $((RANDOM % 6)) in 0) options+=(--fresh) ;; 1) options+=(--keep) ;; 2) [ "$target" != sb-exec ] || options+=(--isolate basic) ;; 3) options+=(--check 'cat >/dev/null') ;; esac
        case " ${options[*]} " in *' --isolate '*) ;; *) options+=(--bind "$SHOWN") ;; esac
        { preset ok && preset deaf && case " ${options[*]} " in *' --isolate '*) preset failed ;; *) preset writes ;; esac && preset 'victim daemon_and_stay 60' '"TIMEOUT":0.1' && preset slow '"TIMEOUT":0.1' && preset 'victim memory 64' '"MEMORY_LIMIT":"48Mi"'; } >"$stage/pictures/presets"
        # half of them in the first moments, where everything is made
        moment=$((RANDOM % (i % 2 ? 60 : 800)))
        "${as[@]}" "$stage/tools/sb-exec" "${options[@]}" -- sh -c "$run_ways" <"$stage/pictures/presets" >"$stage/pictures/session" 2>"$stage/pictures/err" &
        pid=$!
        sleep "0.$(printf %04d $((moment * 10 % 10000)))"
        n="kill $i of $target (${options[*]}) after $moment ms"
        if [ "$target" = sb-exec ]; then kill -9 $pid 2>/dev/null
        else
            processes_of "$target" >"$stage/pictures/targets"; mapfile -t targets <"$stage/pictures/targets"
            [ ${#targets[@]} = 0 ] || kill -9 "${targets[RANDOM % ${#targets[@]}]}" 2>/dev/null
        fi
        status=0
        {
            timeout 30 tail --pid=$pid -f /dev/null || wrong+="$n: it hangs"$'\n'
            kill -9 $pid
            wait $pid || status=$?
        } 2>/dev/null # where the shell tells of every job that was killed
        left=$(gone "$n") || true
        [ -z "$left" ] || wrong+=$left$'\n'
        if [ "$target" != sb-exec ]; then
            case $status in
            0) [ "$(wc -l <"$stage/pictures/session")" = 18 ] || wrong+="$n: exit status 0 and $(wc -l <"$stage/pictures/session") records, not 18"$'\n' ;;
            4) [ "$(wc -l <"$stage/pictures/err")" = 1 ] || wrong+="$n: exit status 4 and not one line: $(head -3 "$stage/pictures/err")"$'\n' ;;
            *) wrong+="$n: exit status $status"$'\n' ;;
            esac
        fi
        find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'sb-exec-*' ! -name '*.new' ! -exec test -e {}/owner \; -exec rm -rf {} + # what --keep left: it was asked for
        left=$(next_start "$n")
        [ -z "$left" ] || { wrong+=$left$'\n'; break; }
        by+="$target"$'\n'
    done
    verdict kills "$wrong" "$(sort <<<"$by" | uniq -c | awk 'NF > 1 { printf "%s%s of %s", sep, $1, substr($0, index($0, $2)); sep = ", " }')"
}

suite_points() {
    local wrong='' names=() name n status by='' points left first
    picture_of_rest
    helpers >"$stage/pictures/names" && mapfile -t names <"$stage/pictures/names"
    for name in "${names[@]}"; do
        points=0
        first=$((every > 1 ? 1 + RANDOM % every : 1))
        for ((n = first;; n += every)); do
            status=0
            { preset deaf '' 3 && preset writes '' 3; } | timeout --kill-after 5 40 "${as[@]}" "$stage/tools/kill_at" "$name" $n "$stage/tools/sb-exec" "${shown[@]}" -- sh -c "$run_ways" >"$stage/pictures/session" 2>"$stage/pictures/err" || status=$?
            case $status in
            0) ;;
            1) break ;;
            *) wrong+="$name, call $n: not all have ended after 20 s ($status)"$'\n' ;;
            esac
            points=$((points + 1))
            left=$(gone "$name, call $n")$(next_start "$name, $(grep -a 'killed at' "$stage/pictures/session")")
            [ -z "$left" ] || { wrong+=$left$'\n'; picture "$stage/pictures/before"; }
        done
        by+="${by:+, }$points of $name"
    done
    verdict points "$wrong" "$by"
}
