#!/bin/sh
# SPDX-License-Identifier: MIT
# Each limit against the programs that try to break it: run.sh [--bin FOLDER] [--nobody] [--bare] [VICTIM…]. Judged by the
# record of the run: the class of its end, limits_hit, and what the row says beside that. --bare shows that without a
# limit each victim gets what it wants. SB_PROBE_OPTIONS is given to sb-exec; --nobody is for root and gives up being it.
set -u
flags=--bare
. "$(dirname "$0")/../support/runner.sh"
victim=$bin/../victims/victim
for each in "$victim" "$bin/../support/kernel_gives"; do [ -x "$each" ] || { echo "run.sh: $each is not built" >&2; exit 2; }; done
only=" $* "

mkdir "$stage/work" "$stage/tmp" "$stage/home" "$stage/data" && cp "$victim" "$stage/work/victim" && cd "$stage/work" || exit 2
tag=sbvictim$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
echo "$tag" >"$stage/tag"

printed() { printf '%s\n' "$record" | sed -n 's/.*"stdout":{[^}]*"head":"\([^"\\]*\).*/\1/p'; } # the first line of it
reason() { printf '%s\n' "$record" | sed -n 's/.*"end":{[^}]*"reason":"\([^"]*\)".*/\1/p'; }
number_of() { printf '%s\n' "$record" | sed -n "s/.*\"$1\":\\([-0-9.e]*\\).*/\\1/p"; }
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }'; }
in_session() { # WORDS…: in a session of its own, whose number is in $stage/session
    # shellcheck disable=SC2016
    setsid -w sh -c 'echo $$ >"$1/session" && shift && exec timeout -k 5 60 "$@"' - "$stage" "$@"
}
left() { # processes that still carry the tag, and helpers of sb-exec of that session, which have no command line
    {
        grep -lszFf "$stage/tag" /proc/[0-9]*/cmdline
        grep -lsx 'sb-exec [a-z]*' /proc/[0-9]*/comm | sed 's/comm$/stat/' | while read -r stat; do
            cat "$stat" 2>/dev/null
        done | sed 's/^[0-9]* (.*) //' | awk -v of="$(cat "$stage/session")" '$1 != "Z" && $4 == of { print "helper" }'
    } | wc -l
}

not_for_the_tree() { # the record says of $key that nothing, or a limit of each process, holds it
    case $key in CPU_LIMIT | MEMORY_LIMIT | PIDS_LIMIT | DISK_LIMIT) ;; *) return 1 ;; esac
    printf '%s\n' "$record" | grep -q "\"key\":\"$key\"[^}]*\(\"why\"\|each process\|whole processors\|sched_setaffinity\)"
}

held=0 broken=0 skipped=0 names=' '
verdict() { # held|broken|skipped NAME WHY
    printf '%-16s %-8s %s\n' "$2" "$1" "$3"
    case $1 in held | shown) held=$((held + 1)) ;; skipped) skipped=$((skipped + 1)) ;; *) broken=$((broken + 1)) ;; esac
}

# A check of the check: helpers of a session that runs are among what is left.
if [ "$given" != " --bare " ]; then
    : >"$stage/session"
    in_session env HOME="$stage/home" TMPDIR="$stage/tmp" "$bin/sb-exec" --allow-degraded --data-dir "$stage/data" -- sleep 50 </dev/null >/dev/null 2>&1 &
    n=0
    for _ in $(seq 400); do
        [ ! -s "$stage/session" ] || n=$(left)
        [ "$n" = 0 ] || break
        sleep 0.05
    done
    kill "$(cat "$stage/session")" 2>/dev/null
    wait
    [ "$n" != 0 ] || { echo 'run.sh: helpers of sb-exec are not seen, so none that is left would be'; exit 1; }
fi

# row NAME WORDS PRESET CLASSES LIMIT [CHECK…]: the classes that are right, the key that limits_hit must name ("-": none)
row() {
    name=$1 words=$2 preset=$3 classes=$4 limit=$5 names="$names$1 "
    shift 5
    case $only in '  ' | *" $name "*) ;; *) return ;; esac
    if [ "$given" = " --bare " ]; then
        case " $* " in *' endless '*) return ;; esac
        # shellcheck disable=SC2086
        if timeout 60 ./victim $words "$tag" >"$stage/out" 2>/dev/null; then verdict shown "$name" "$(head -c 60 "$stage/out" | head -1 | tr -cd '[:print:]')"; else verdict broken "$name" 'it fails without a limit too'; fi
        return
    fi
    # shellcheck disable=SC2086
    record=$(printf '{"SCENARIO_NAME":"%s","TIMEOUT":20,%s}\n' "$name" "$preset" |
        in_session env HOME="$stage/home" TMPDIR="$stage/tmp" "$bin/sb-exec" ${SB_PROBE_OPTIONS-} --data-dir "$stage/data" -- ./victim $words "$tag" 2>"$stage/err")
    class=$(printf '%s\n' "$record" | sed -n 's/.*"end":{"class":"\([a-z]*\)".*/\1/p')
    hit=$(printf '%s\n' "$record" | sed -n 's/.*"limits_hit":\[\([^]]*\)\].*/\1/p')
    key=$(printf '%s' "$preset" | sed 's/^"\([A-Z_]*\)".*/\1/')
    why=
    [ -n "$class" ] || why="no record: $(head -1 "$stage/err")"
    case " $classes " in *" $class "*) ;; *) why="${why:+$why; }class $class, not $classes ($(reason))" ;; esac
    case $limit in -) ;; *) case $hit in *"\"$limit\""*) ;; *) why="${why:+$why; }limits_hit [$hit] does not name $limit" ;; esac ;; esac
    for check; do
        case $check in
        late) at_most "$(number_of wall_s)" 1.05 || why="${why:+$why; }wall_s $(number_of wall_s) under a TIMEOUT of 1" ;;
        cut) case $record in *'"truncated":true'*) ;; *) why="${why:+$why; }no stream is truncated" ;; esac ;;
        head=*) [ "$(printed)" = "${check#head=}" ] || why="${why:+$why; }it printed $(printed), not ${check#head=}" ;;
        share=*) not_for_the_tree && why="${why:+$why; }the record says of $key that nothing holds a share"
            at_most "$(printed)" "${check#share=}" || why="${why:+$why; }it got $(printed) % of a processor, not ${check#share=}" ;;
        esac
    done
    n=$(left)
    [ "$n" = 0 ] || { sleep 1; n=$(left); }
    [ "$n" = 0 ] || why="${why:+$why; }$n processes are left"
    [ -z "$(ls -A "$stage/tmp")" ] || why="${why:+$why; }left in TMPDIR: $(ls -A "$stage/tmp" | head -3 | tr '\n' ' ')"
    if [ -z "$why" ]; then verdict held "$name" "$class $hit"
    elif not_for_the_tree; then
        if grep -qx "$name" "$here/may_skip" && ! "$bin/../support/kernel_gives" group memory; then verdict skipped "$name" "$key is not enforced for the tree here"
        else verdict broken "$name" "$why; not to be skipped here: $key is not enforced for the tree"; fi
    else verdict broken "$name" "$why"; fi
}

row share 'share 2' '"CPU_LIMIT":0.5' ok - share=60
row cpu_seconds 'stubborn 4' '"CPU_SECONDS":1' signalled CPU_SECONDS
row memory 'memory 128' '"MEMORY_LIMIT":"64Mi"' memory MEMORY_LIMIT
row memory_shm 'memory_shm 128' '"MEMORY_LIMIT":"64Mi"' 'memory disk failed' -
row memory_tmp 'memory_tmp 128' '"MEMORY_LIMIT":"64Mi"' 'memory disk failed' -
row memory_memfd 'memory_memfd 128' '"MEMORY_LIMIT":"64Mi"' memory MEMORY_LIMIT
row memory_tree 'memory_tree 128' '"MEMORY_LIMIT":"64Mi"' memory MEMORY_LIMIT
row processes 'processes 500' '"PIDS_LIMIT":64' pids PIDS_LIMIT
row threads 'threads 500' '"PIDS_LIMIT":64' pids PIDS_LIMIT
row fill 'fill 64' '"DISK_LIMIT":"16Mi"' disk DISK_LIMIT
row inodes 'inodes 50000' '"DISK_LIMIT":"16Mi"' disk DISK_LIMIT
row big_file 'big_file 4194304' '"FILE_LIMIT":"1Mi"' disk FILE_LIMIT
row open_files 'open_files' '"OPEN_FILES_LIMIT":16' ok - 'head=16 Too many open files'
row deaf 'stubborn 60' '"TIMEOUT":1' timeout TIMEOUT late endless
row stopped 'stop_itself' '"TIMEOUT":1' timeout TIMEOUT late endless
row steal_back 'steal_back 30' '"TIMEOUT":1' timeout TIMEOUT late endless
row daemon 'daemon_and_stay 60' '"TIMEOUT":1' timeout TIMEOUT late endless
row hydra 'hydra 20000' '"TIMEOUT":5' 'ok timeout' - endless
row flood 'flood 1000000000' '"OUTPUT_LIMIT":"1Mi"' output OUTPUT_LIMIT cut
row flood_err 'flood_err 1000000000' '"OUTPUT_LIMIT":"1Mi"' output OUTPUT_LIMIT cut

for name in $(sed 's/#.*//' "$here/may_skip"); do
    case $names in *" $name "*) ;; *) verdict broken "$name" 'may_skip names it, and there is no such victim' ;; esac
done
echo "$held $([ "$given" = " --bare " ] && echo shown || echo held), $broken broken, $skipped skipped"
[ $broken = 0 ]
