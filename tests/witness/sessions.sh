# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The suites `mixed`, `jobs` and `pair`: sessions that come to their end, one after the other, with eight runs at a time, and beside
# each other.

# session NAME OPTION… <PRESETS: its records go to pictures/records; what is wrong with it is printed
session() {
    local wanted=$1 status=0
    shift
    case " $* " in *' --isolate '*) set -- --env SHOWN "$@" ;; *) set -- "${shown[@]}" "$@" ;; esac
    sandbox "$@" -- sh -c "$run_ways" >"$stage/pictures/session" 2>"$stage/pictures/err" || status=$?
    cat "$stage/pictures/session" >>"$stage/pictures/records"
    [ $status = 0 ] || echo "sb-exec $*: exit status $status: $(head -3 "$stage/pictures/err"), after $(tail -1 "$stage/pictures/session" | sed 's/.*"scenario":"\([^"]*\)".*/\1/')"
    [ "$wanted" = any ] || [ "$(wc -l <"$stage/pictures/session")" = "$wanted" ] || echo "sb-exec $*: $(wc -l <"$stage/pictures/session") records, not $wanted"
}
tally() { sed -n 's/.*"end":{"class":"\([a-z]*\)".*/\1/p' "$stage/pictures/records" | sort | uniq -c | awk '{ printf "%s%s %s", sep, $1, $2; sep = ", " }'; }

suite_mixed() {
    local wrong='' made=0 n left
    : >"$stage/pictures/records"
    picture_of_rest
    while :; do
        all_ways >"$stage/pictures/presets" && n=$(wc -l <"$stage/pictures/presets")
        note "$(session "$n" <"$stage/pictures/presets")"
        harmless >"$stage/pictures/presets" && n=$(wc -l <"$stage/pictures/presets")
        note "$(session "$n" --fresh <"$stage/pictures/presets")"
        note "$(session $((n * 2)) --isolate basic --repeat 2 <"$stage/pictures/presets")"
        note "$(session "$n" --isolate none --timeout 0.5 <"$stage/pictures/presets")"
        note "$(session $((n * 2)) --repeat 2 --warmup 1 --check 'cat >/dev/null; echo x >checked' --bind "$stage/door:/door:rw" <"$stage/pictures/presets")"
        grep -v deaf "$stage/pictures/presets" | note "$(session any --wait-tree)"
        note "$(session "$n" --keep <"$stage/pictures/presets")"
        left=$(sed -n 's|.*kept: \(.*\)/RUN_ID.*|\1|p' "$stage/pictures/err")
        [ "$(find "$left" -name stdout | wc -l)" = "$n" ] || wrong+="--keep kept nothing, or not all: $left"$'\n'
        rm -rf "$left"
        # interrupted in the middle: what was made is recorded, and the rest is not there
        sandbox "${shown[@]}" --timeout 1 -- sh -c "$run_ways" <"$stage/pictures/presets" >>"$stage/pictures/records" 2>/dev/null &
        sleep 0.3 && kill -TERM $! && wait $!
        [ $? = 143 ] || wrong+='SIGTERM does not end it with 143'$'\n'
        for level in 1 2 3 4 5; do
            for way in "${soils[@]}"; do preset "soil $way" '"DISK_LIMIT":"8Mi","TIMEOUT":1' $level; done >"$stage/pictures/presets"
            [ "$(($(wc -l <"$stage/pictures/records") + ${#soils[@]}))" -le "$runs" ] || break
            note "$(session ${#soils[@]} $([ $level != 3 ] || echo --fresh) <"$stage/pictures/presets")"
        done
        made=$(wc -l <"$stage/pictures/records")
        [ "$made" -lt "$runs" ] || break
    done
    for class in ok failed signalled timeout pids disk output $([ "$(id -u)${as[*]-}" != 0 ] || echo memory); do
        grep -q "\"end\":{\"class\":\"$class\"" "$stage/pictures/records" || wrong+="no run ended as $class"$'\n'
    done
    left=$(differences "$stage/pictures/before") || wrong+="the host: $left"
    verdict mixed "$wrong" "$made runs: $(tally)"
}

suite_jobs() {
    local wrong='' n left
    : >"$stage/pictures/records"
    picture_of_rest
    all_ways >"$stage/pictures/presets" && n=$(wc -l <"$stage/pictures/presets")
    note "$(session "$n" --jobs 8 <"$stage/pictures/presets")"
    note "$(session "$n" --jobs 8 --fresh <"$stage/pictures/presets")"
    harmless >"$stage/pictures/presets"
    note "$(session $(($(wc -l <"$stage/pictures/presets") * 4)) --jobs 8 --repeat 4 --isolate basic <"$stage/pictures/presets")"
    left=$(differences "$stage/pictures/before") || wrong+="the host: $left"
    verdict jobs "$wrong" "$(wc -l <"$stage/pictures/records") runs, eight at a time: $(tally)"
}

suite_pair() {
    local wrong='' n left i begun=() sessions=0
    picture_of_rest
    harmless >"$stage/pictures/presets" && n=$(wc -l <"$stage/pictures/presets")
    for i in 1 2 3; do
        sandbox "${shown[@]}" --repeat 3 -- sh -c "$run_ways" <"$stage/pictures/presets" >"$stage/pictures/pair$i" 2>"$stage/pictures/pair$i.err" &
        begun+=($!)
    done
    for i in 1 2 3; do
        wait "${begun[i - 1]}" || wrong+="session $i of three: exit status $?: $(head -2 "$stage/pictures/pair$i.err")"$'\n'
        [ "$(wc -l <"$stage/pictures/pair$i")" = $((n * 3)) ] || wrong+="session $i of three: $(wc -l <"$stage/pictures/pair$i") records, not $((n * 3))"$'\n'
    done
    # short ones come and go: none may take another's folder or lease for a dead one's
    for i in 1 2 3 4; do
        (for _ in $(seq $((runs / 20 + 2))); do sandbox $([ $i != 4 ] || echo --isolate basic) -- true </dev/null 2>&1 >/dev/null || echo "exit status $?"; done) >"$stage/pictures/pair$i" &
    done
    wait
    for i in 1 2 3 4; do
        sessions=$((sessions + runs / 20 + 2))
        left=$(grep -v '^sb-exec: warning: plain backend' "$stage/pictures/pair$i") && wrong+=$left
    done
    rm "$stage"/pictures/pair*
    left=$(differences "$stage/pictures/before") || wrong+="the host: $left"
    verdict pair "$wrong" "three sessions of $((n * 3)) runs at once, then $sessions short ones, four at a time"
}
