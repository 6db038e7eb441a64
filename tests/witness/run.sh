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
# of control groups are the machine's: all is as it would be outside. ground.sh makes it; controls.sh, sessions.sh, killed.sh and
# nested.sh hold the suites.
set -u
here=$(cd "$(dirname "$0")" && pwd)

if [ -z "${SB_WITNESS_BIN-}" ]; then
    . "$here/ground.sh"
    shared=() made=()
    enter "$@"
    exit
fi

# ---- in the ground
for part in picture controls sessions killed nested; do . "$here/$part.sh"; done # soon hidden, when they lie below /tmp
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

for suite in "${suites[@]}"; do
    declare -F "suite_$suite" >/dev/null || { echo "run.sh: $suite: no such suite" >&2; exit 2; }
    "suite_$suite"
done
[ $broken = 0 ]
