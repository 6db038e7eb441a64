#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nothing stays: run.sh [--bin FOLDER] [--nobody] [--runs N] [--kills N] [--every N] [SUITE…]. Takes a picture of the host
# (picture.sh), lets sb-exec do its worst, and compares. The suites:
#   controls  each kind of thing that may be left is left, and must be seen by its name
#   mixed     N runs of all kinds of end, at all levels, reused and fresh, with and without walls
#   jobs      eight at the same time
#   pair      sessions beside each other in one folder, with one data folder
#   kills     N times SIGKILL of sb-exec at a moment by chance, and N/4 times of a helper of it; what is left goes with the next start
#   points    the same at every Nth system call that each of them makes, one after the other
#   nested    within containers, and within its own sandbox
#
# How it works: the host is one of our own: mount, process, ipc, host-name and network namespaces, and a control group in each
# hierarchy, so that nobody else's doing is taken for ours and whatever we do is gone with it. Users, keys and the hierarchies
# of control groups are the machine's: all is as it would be outside.
set -u
here=$(cd "$(dirname "$0")" && pwd)

enter() { # makes the ground and runs us in it
    local bin=${SB_BIN:-$here/../../build/bin} words=() line
    for ((i = 1; i <= $#; ++i)); do
        if [ "${!i}" = --bin ]; then i=$((i + 1)) && bin=${!i}; else words+=("${!i}"); fi
    done
    bin=$(cd "$bin" && pwd) || exit 2
    for line in "$bin/sb-exec" "$bin/../victims/victim" "$bin/../victims/soiler" "$bin/../witness/kill_at"; do
        [ -x "$line" ] || { echo "run.sh: $line is not built" >&2; exit 2; }
    done
    for line in perl pgrep ipcmk setpriv unshare; do command -v $line >/dev/null || { echo "SKIPPED: needs $line"; exit 77; }; done
    if [ "$(id -u)" != 0 ]; then
        echo 'SKIPPED: needs root, to look at everybody'"'"'s keys and groups; with --nobody what is looked at is run by another user'
        exit 77
    fi
    unshare --mount --pid --ipc --uts --net --fork --mount-proc true 2>/dev/null || { echo 'SKIPPED: no namespaces of our own can be made here'; exit 77; }
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
if [ -z "${SB_WITNESS_BIN-}" ]; then
    shared=() made=()
    enter "$@"
    exit
fi

# ---- in the ground
. "$here/picture.sh" # soon hidden, when it lies below /tmp
IFS=: read -ra own_groups <<<"$SB_WITNESS_OWN"
IFS=: read -ra shared_groups <<<"$SB_WITNESS_SHARED"
bin=$SB_WITNESS_BIN
unset SB_WITNESS_BIN SB_WITNESS_OWN SB_WITNESS_SHARED "${!SANDBOX_@}"
as=() runs=200 kills=20 every=40 suites=()
while [ $# -gt 0 ]; do
    case $1 in
    --nobody) as=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all); shift ;;
    --runs) runs=$2; shift 2 ;;
    --kills) kills=$2; shift 2 ;;
    --every) every=$2; shift 2 ;;
    -*) echo "run.sh: $1: no such option" >&2; exit 2 ;;
    *) suites+=("$1"); shift ;;
    esac
done
[ ${#suites[@]} -gt 0 ] || suites=(controls mixed jobs pair kills points nested)
[ "$(id -u)" = 0 ] || as=(setpriv --ambient-caps=-all --inh-caps=-all)

# all that is written to has a file system of its own, whose free space nobody else changes
mount --bind "$bin/.." /mnt && mount -t tmpfs -o mode=1777 none /tmp && mkdir /tmp/tools &&
    cp /mnt/bin/sb* /mnt/victims/victim /mnt/victims/soiler /mnt/witness/kill_at /tmp/tools && umount /mnt &&
    mount -t tmpfs -o mode=755 none /mnt && cp -r /tmp/tools /mnt && rm -r /tmp/tools || exit 2
for folder in /run /var/tmp /dev/shm; do mount -t tmpfs -o mode=1777 none $folder || exit 2; done
{ mkdir -p /dev/mqueue 2>/dev/null; mount -t mqueue none /dev/mqueue; } || exit 2
mount --make-rshared / # as an init system makes it: a mount of a child that is not its own alone would be seen
stage=/mnt work=/mnt/work
mkdir "$stage/pictures" "$stage/tmp" "$stage/data" "$stage/home" "$stage/shown" "$stage/door" "$work"
cp "$stage/tools/victim" "$stage/tools/soiler" "$stage/shown"
echo original >"$work/file"
cat >"$work/way" <<'WAY'
case $1 in
ok) echo well ;;
failed) exit 7 ;;
signalled) kill -SEGV $$ ;;
slow) sleep 60 ;;
daemon) "$SHOWN/victim" daemon_and_leave daemon ;;
deaf) (trap '' TERM HUP INT; setsid sleep 600 >/dev/null 2>&1 &) ;;
writes) echo x >"$HOME/file" && echo x >"$TMPDIR/file" && echo x >new && rm file ;;
victim*) exec "$SHOWN"/$1 ;;
soil*) exec "$SHOWN/soiler" ${1#soil } ;;
esac
WAY
[ ${#as[@]} = 0 ] || [ "$(id -u)" != 0 ] || chown -R 65534:65534 "$stage/tmp" "$stage/data" "$stage/home" "$stage/door" "$work"
mount -t tmpfs -o mode=1777 none "$stage/pictures" || exit 2
export TMPDIR=$stage/tmp HOME=$stage/home XDG_STATE_HOME=$stage/data LC_ALL=C.UTF-8
cd "$work" || exit 2

us=$("${as[@]}" id -u)
# files that are more than others make meanwhile, and few of those that there may be
read -r many </proc/sys/fs/file-max
if [ ${#many} -lt 8 ]; then many=$((many / 80)); else many=40000; fi
broken=0
note() { [ -z "$1" ] || wrong+=$1$'\n'; }
verdict() { # NAME WHAT: what is empty is well
    if [ -z "$2" ]; then printf '%-9s held    %s\n' "$1" "$3"; return; fi
    printf '%-9s broken  %s\n' "$1" "$3" && printf '%s\n' "$2" | head -20 | sed 's/^/          /'
    broken=$((broken + 1))
}
sandbox() { timeout --kill-after 5 120 "${as[@]}" "$stage/tools/sb-exec" "$@"; }
picture_of_rest() { # what is there once sb-exec has been here: its data folder
    sandbox -- true </dev/null >/dev/null 2>"$stage/pictures/err" || { echo "run.sh: sb-exec does not run here: $(cat "$stage/pictures/err")" >&2; exit 2; }
    picture "$stage/pictures/before"
}

# presets: one for each way to end, at a level that changes from one to the next
level=0
preset() { level=$((level % 5 + 1)) && printf '{"SCENARIO_NAME":"%s","ENV_WAY":"%s","SECURITY_LEVEL":%s%s}\n' "${1// /-}" "$1" "${3:-$level}" "${2:+,$2}"; }
harmless() {
    preset ok && preset failed && preset signalled && preset slow '"TIMEOUT":0.2' && preset deaf
    preset 'victim flood 10000000' '"OUTPUT_LIMIT":"64Ki"'
    preset 'victim stop_itself' '"TIMEOUT":0.2' && preset ok '"CONCURRENCY_LEVEL":3'
}
all_ways() {
    harmless
    preset daemon && preset writes && preset 'victim big_file 1048576' '"FILE_LIMIT":"64Ki"' && preset 'victim stubborn 60' '"TIMEOUT":0.2' && preset 'victim daemon_and_stay 60' '"TIMEOUT":0.2'
    preset 'victim memory 128' '"MEMORY_LIMIT":"48Mi"' && preset 'victim memory_shm 128' '"MEMORY_LIMIT":"48Mi"'
    preset 'victim processes 200' '"PIDS_LIMIT":24' && preset 'victim threads 200' '"PIDS_LIMIT":24' && preset 'victim fork_bomb 200' '"PIDS_LIMIT":24,"TIMEOUT":0.5'
    preset 'victim fill 32' '"DISK_LIMIT":"8Mi"' && preset 'victim inodes 5000' '"DISK_LIMIT":"8Mi"' && preset 'victim hydra 200' '"TIMEOUT":5'
    preset "victim hoard_files $many" && preset 'victim hoard_user 400' && preset 'victim hoard_tcp 16' && preset 'victim hoard_filters 30' && preset 'victim hoard_attributes 100'
    preset ok '"CPU_LIMIT":0.5' && preset ok '"CPU_LIMIT":1,"MEMORY_LIMIT":"256Mi","PIDS_LIMIT":64'
    for way in "${soils[@]}"; do preset "soil $way" '"DISK_LIMIT":"8Mi","TIMEOUT":1'; done
}
"$stage/tools/soiler" >"$stage/pictures/soils" && mapfile -t soils <"$stage/pictures/soils"
# a command that ends in the way that its preset names; what it needs lies in a folder that is bound, since from level 4 on nothing
# in the workspace can be executed
run_ways='exec sh ./way "$WAY"'
export SHOWN=$stage/shown
shown=(--env SHOWN --bind "$SHOWN")

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

suite_controls() {
    local number=0 wrong=''
    picture "$stage/pictures/before"
    # seen PATTERN LEAVE REMOVE
    seen() {
        local found
        number=$((number + 1))
        eval "$2" >/dev/null 2>&1
        sleep 0.1 # a process that is to hold something has to get there
        picture "$stage/pictures/now"
        found=$(grown "$stage/pictures/before.amounts" "$stage/pictures/now.amounts"; comm -13 "$stage/pictures/before" "$stage/pictures/now"; comm -23 "$stage/pictures/before" "$stage/pictures/now")
        grep -qE "^$1" <<<"$found" || wrong+="\"$2\" is not seen as \"$1\", but as: ${found:-nothing}"$'\n'
        eval "$3" >/dev/null 2>&1
        found=$(differences "$stage/pictures/before") || wrong+="\"$3\" does not take away \"$2\": $found"$'\n'
    }
    # add_key("user", "sb-witness", "x", 1, the user's keyring); its opposite is keyctl(KEYCTL_UNLINK, the key, that keyring)
    add_key() { perl -e 'my ($kind, $name, $text) = ("user", "sb-witness", "x"); print syscall(248, $kind, $name, $text, 1, -4)'; }
    # a victim that keeps what it has got; what counts for its user is got as that user
    hoards() {
        local user=(setpriv --reuid $([ "$us" != 0 ] && echo "$us" || echo 1879100000) --clear-groups --inh-caps=-all)
        [ "$1" = hoard_user ] || user=()
        rm -f "$stage/pictures/hoarded"
        "${user[@]}" "$stage/tools/victim" "$1" "$2" stay >"$stage/pictures/hoarded" &
        until [ -s "$stage/pictures/hoarded" ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
    }
    holder() { perl -e "use strict; use Socket; $1; \$SIG{ALRM} = 'DEFAULT'; alarm 60; sleep" & }
    # shellcheck disable=SC2016
    {
        seen 'process [0-9]+ sleep' 'sleep 60 &' 'kill $!; wait $!'
        seen 'process [0-9]+ sleep' '(setsid sleep 61 &)' 'kill -9 $(pgrep -f "sleep 61")'
        seen 'process [0-9]+ .* Z' 'perl -e "fork or exit; sleep 60" &' 'kill $!; wait $!'
        seen 'mount .* /mnt/home ' 'mount -t tmpfs none "$HOME"' 'umount "$HOME"'
        seen 'mount .* /tmp/inner ' 'mkdir /tmp/inner; mount --bind /usr /tmp/inner' 'umount /tmp/inner; rmdir /tmp/inner'
        for kind in mnt:mount net:net pid:pid uts:uts ipc:ipc cgroup:cgroup user:user; do
            seen "namespace (held open )?${kind%:*}:" "unshare --${kind#*:} $([ ${kind%:*} != pid ] || echo --fork) sleep 62 &" 'kill -9 $(pgrep -f "sleep 62"); wait' 2>/dev/null
        done
        seen 'namespace held open net:' 'unshare --net sleep 63 & sleep 0.1; exec 9</proc/$(pgrep -f "^sleep 63")/ns/net; kill -9 $(pgrep -f "sleep 63"); wait' 'exec 9<&-'
        for group in "${own_groups[@]}"; do seen "control group $group/sandbench-000000000000.slot0" "mkdir $group/sandbench-000000000000.slot0" "rmdir $group/sandbench-000000000000.slot0"; done
        [ "$(id -u)" != 0 ] || for group in "${shared_groups[@]}"; do seen "control group $group/sandbench-000000000000.slot0" "mkdir $group/sandbench-000000000000.slot0" "rmdir $group/sandbench-000000000000.slot0"; done
        seen 'System V shm' 'ipcmk -M 4096' 'ipcrm --all=shm'
        seen 'System V sem' 'ipcmk -S 1' 'ipcrm --all=sem'
        seen 'System V msg' 'ipcmk -Q' 'ipcrm --all=msg'
        seen 'file /dev/mqueue/left' ': >/dev/mqueue/left' 'rm /dev/mqueue/left'
        seen 'file /dev/shm/left' ': >/dev/shm/left' 'rm /dev/shm/left'
        [ "$(uname -m)" != x86_64 ] ||
            seen 'key of .* sb-witness' 'key=$(add_key)' 'perl -e "syscall(250, 9, $key, -4)"'
        seen 'socket /proc/net/tcp .* 0A' 'holder "socket(S, PF_INET, SOCK_STREAM, 0); bind(S, sockaddr_in(0, INADDR_ANY)); listen(S, 1)"' 'kill $!; wait $!'
        seen 'socket /proc/net/udp' 'holder "socket(S, PF_INET, SOCK_DGRAM, 0); bind(S, sockaddr_in(0, INADDR_ANY))"' 'kill $!; wait $!'
        seen 'socket unix [0-9]+ @left' 'holder "socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, pack(q(Sa*), 1, qq(\\0left)))"' 'kill $!; wait $!'
        seen "space on $stage" 'exec 9>"$TMPDIR/gone"; head -c 100000 /dev/zero >&9; rm "$TMPDIR/gone"' 'exec 9>&-'
        seen "space on $stage.*files free" 'exec 9>"$TMPDIR/gone"; rm "$TMPDIR/gone"' 'exec 9>&-'
        for folder in "$TMPDIR" "$stage/data" "$HOME" /tmp /run /var/tmp; do seen "file $folder/left" ": >$folder/left" "rm $folder/left"; done
        seen "untouched $work/way" 'stamp=$(stat -c %y way); touch way' 'true; picture "$stage/pictures/before"'
        seen 'more files: ' 'hoards hoard_files $((many * 2))' 'kill $!; wait $!'
        seen 'more tcp-pages: ' 'hoards hoard_tcp 16' 'kill $!; wait $!'
        seen 'more kernel-kib: ' 'cd /tmp; hoards hoard_attributes 2000' 'kill $!; wait $!; cd "$work"'
        [ ! -r /proc/vmallocinfo ] || seen 'more translated-filters-kib: ' 'hoards hoard_filters 400' 'kill $!; wait $!'
        seen 'user [0-9]+: no descriptor can be sent' 'hoards hoard_user 0' 'kill $!; wait $!'
        seen 'user [0-9]+: pipes of (4096|8192) bytes' 'hoards hoard_user 1000' 'kill $!; wait $!'
        if [ "$(id -u)" = 0 ]; then # what a session's own user leaves
            seen 'process [0-9]+ sleep' 'setpriv --reuid 1879100777 --regid 1879100777 --clear-groups sleep 64 &' 'kill $!; wait $!'
            seen 'file /tmp/left [^ ]+ 1879100777:' ': >/tmp/left; chown 1879100777 /tmp/left' 'rm /tmp/left'
        fi
        seen 'knob /proc/sys/kernel/hostname' 'name=$(cat /proc/sys/kernel/hostname); echo left >/proc/sys/kernel/hostname' 'echo "$name" >/proc/sys/kernel/hostname'
    }
    verdict controls "$wrong" "$number things that were left are seen"
}

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

# container PREPARE COMMAND…: with a root of its own by pivot_root, in namespaces of its own, where PREPARE is done first. Root has
# all its users there, others are who they are.
container() {
    local prepare=$1 inside outside pid
    shift
    # shellcheck disable=SC2016
    inside='
        set -e
        mount -t tmpfs none /tmp && cd /tmp && mkdir usr proc dev etc tmp old work data run sys
        for folder in usr etc; do mount --rbind /$folder $folder; done
        for link in bin sbin lib lib32 lib64 libx32; do [ ! -L /$link ] || ln -s "$(readlink /$link)" $link; [ -L /$link ] || [ ! -d /$link ] || { mkdir $link && mount --rbind /$link $link; }; done
        for device in null zero full random urandom; do : >dev/$device && mount --bind /dev/$device dev/$device; done
        mkdir dev/shm tools && mount -t tmpfs none dev/shm && mount --bind '"$stage/tools"' tools
        mount -t proc proc proc
        pivot_root . old && umount -l old && cd /work
        eval "$1" && shift
        exec env HOME=/data TMPDIR=/tmp PATH=/usr/bin:/bin $([ "$(id -u)" = 0 ] || echo setpriv --ambient-caps=-all --inh-caps=-all) "$@"'
    local spaces=(--mount --pid --fork --kill-child --ipc --uts --net --cgroup)
    if [ ${#as[@]} != 0 ]; then
        timeout --kill-after 5 120 "${as[@]}" unshare --user --map-current-user --keep-caps "${spaces[@]}" sh -c "$inside" sh "$prepare" "$@"
        return
    fi
    # its users come from outside, and its rights with the next exec
    # shellcheck disable=SC2016
    timeout --kill-after 5 120 unshare --user "${spaces[@]}" sh -c 'until grep -q . /proc/self/uid_map && grep -q . /proc/self/gid_map; do sleep 0.01; done; exec sh -c "$0" sh "$@"' "$inside" "$prepare" "$@" &
    outside=$!
    until pid=$(pgrep -P $outside unshare) && [ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do kill -0 $outside || break; sleep 0.01; done
    for ids in uid gid; do echo '0 0 2000000000' >"/proc/$pid/${ids}_map"; done
    wait $outside
}
# works NAME COMMAND…: makes its runs. tells NAME COMMAND…: refuses with status 4 and one line
works() {
    local name=$1 status=0
    shift
    "$@" </dev/null >"$stage/pictures/session" 2>"$stage/pictures/err" || status=$?
    { [ $status = 0 ] && grep -q '"class":"ok"' "$stage/pictures/session"; } || echo "$name: exit status $status: $(head -3 "$stage/pictures/err")$(sed -n 's/.*"end":\({[^}]*}\).*/\1/p' "$stage/pictures/session" | sort | uniq -c | head -3)"
}
tells() {
    local name=$1 status=0
    shift
    "$@" </dev/null >"$stage/pictures/session" 2>"$stage/pictures/err" || status=$?
    { [ $status = 4 ] && [ "$(wc -l <"$stage/pictures/err")" = 1 ] && [ ! -s "$stage/pictures/session" ]; } || echo "$name: exit status $status, not 4 with one line: $(head -3 "$stage/pictures/err")"
}
# the same, the outer one being sb-exec: what the inner one did stands in the record
within() { # NAME STATUS PATTERN OPTION…
    local name=$1 status=$2 pattern=$3 got
    shift 3
    printf '#!/bin/sh\n"$SHOWN/sb-exec" %s -- true </dev/null 2>&1\necho "status $?"\n' "$*" >"$SHOWN/inner"
    got=$(sandbox "${shown[@]}" -- sh "$SHOWN/inner" </dev/null 2>&1 | sed -n 's/.*"stdout":{[^}]*"head":"\(.*\)","truncated.*"stderr".*/\1/p')
    rm "$SHOWN/inner"
    [[ $got = *"status $status\\n" ]] && grep -qE "$pattern" <<<"$got" || echo "$name: $got"
}

suite_nested() {
    local wrong='' done=() left
    cp "$stage/tools/sb-exec" "$stage/shown"
    picture_of_rest
    if "${as[@]}" unshare --user --map-root-user --mount true 2>/dev/null; then
        # every namespace that a run made is gone again: two hundred fit in where forty are allowed
        note "$(works 'a container, 200 new sandboxes' container 'for kind in user mnt pid net ipc uts cgroup; do echo 40 >/proc/sys/user/max_${kind}_namespaces; done' /tools/sb-exec --fresh --repeat 200 -- true)"
        [ "$(wc -l <"$stage/pictures/session")" = 200 ] || wrong+="a container: $(wc -l <"$stage/pictures/session") records, not 200"$'\n'
        note "$(works 'a container, reused' container : /tools/sb-exec --jobs 4 --repeat 20 -- true)"
        note "$(tells 'a container without user namespaces' container 'echo 0 >/proc/sys/user/max_user_namespaces' /tools/sb-exec -- true)"
        note "$(tells 'a container that hides parts of /proc' container 'mount -t tmpfs none /proc/sys' /tools/sb-exec -- true)"
        note "$(works 'a container that hides parts of /proc, basic' container 'mount -t tmpfs none /proc/sys' /tools/sb-exec --isolate basic -- true)"
        done+=('unshare and pivot_root')
    fi
    if command -v bwrap >/dev/null; then
        local user=(--uid 1000 --gid 1000) shell=(timeout 120 "${as[@]}" bwrap --unshare-user --unshare-ipc --unshare-uts --die-with-parent --bind / / --tmpfs /tmp --dev /dev
            --ro-bind "$stage/tools" /tmp/tools --dir /tmp/work --chdir /tmp/work --setenv HOME /tmp --setenv TMPDIR /tmp)
        local closed=("${shell[@]}" --unshare-pid --unshare-net --unshare-cgroup --proc /proc)
        if "${shell[@]}" true 2>/dev/null; then
            note "$(works bwrap "${shell[@]}" "${user[@]}" /tmp/tools/sb-exec --repeat 20 -- true)"
            # what covers them is needed, and there, for root alone
            note "$($([ ${#as[@]} = 0 ] && echo tells || echo works) 'bwrap with a /proc of its own' "${closed[@]}" "${user[@]}" /tmp/tools/sb-exec -- true)"
            note "$(tells 'bwrap that forbids user namespaces' "${shell[@]}" "${user[@]}" --disable-userns /tmp/tools/sb-exec -- true)"
            note "$(tells 'bwrap without a user but root' "${shell[@]}" --uid 0 --gid 0 /tmp/tools/sb-exec -- true)"
            done+=(bwrap)
        fi
    fi
    if command -v docker >/dev/null && timeout 10 docker info >/dev/null 2>&1; then
        docker image inspect debian:stable-slim >/dev/null 2>&1 && note "$(tells docker docker run --rm -v "$stage/tools:/tools:ro" debian:stable-slim /tools/sb-exec -- true) && done+=(docker)"
    else
        echo 'nested    skipped the part with docker: no daemon answers' # its kind of container, with parts of /proc hidden, is above
    fi
    note "$(within 'sb-exec in sb-exec' 4 '^sb-exec: full isolation cannot be had here: [^\\]*\\nstatus')"
    note "$(within 'sb-exec in sb-exec, basic' 0 'class' --isolate basic)"
    note "$(within 'sb-exec in sb-exec, degraded' 0 'class' --allow-degraded)"
    done+=('sb-exec itself')
    left=$(differences "$stage/pictures/before") || wrong+="the host: $left"
    rm "$stage/shown/sb-exec"
    verdict nested "$wrong" "in $(printf '%s, ' "${done[@]}" | sed 's/, $//')"
}

for suite in "${suites[@]}"; do
    declare -F "suite_$suite" >/dev/null || { echo "run.sh: $suite: no such suite" >&2; exit 2; }
    "suite_$suite"
done
[ $broken = 0 ]
