#!/bin/bash
# SPDX-License-Identifier: MIT
# guest.sh [--whole]: what is tested in the virtual machine (run.sh … -- tests/vm/guest.sh), as root and as nobody: first that the guest is
# the machine it is meant to be, then sandbench in it. One line a check; a status other than 0 when one did not hold. Emulation is
# slow: what this kernel can hardly change, and the host shows every day, is left to the night (--whole).
set -uo pipefail
whole=no
[ "${1-}" != --whole ] || whole=yes
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$(command -v sb-exec)")/.." && pwd) || exit 2
user=$(id -u) job=/sys/fs/cgroup/job
work=$(mktemp -d) && cd "$work" || exit 2
export SB_SHARED=$source/../shared SB_BIN=$build/bin SB_MUST_ISOLATE=1
if [ "$user" = 0 ]; then who=root; else who="uid $user"; fi

passed=0 failed=0
# check WORDS COMMAND…: holds when COMMAND succeeds; what it says is shown only when it does not.
check() {
    local words=$1 began=${EPOCHREALTIME/./} status=0
    shift
    "$@" >"$work/said" 2>&1 || status=$?
    if [ $status = 0 ]; then
        passed=$((passed + 1)) && printf 'ok      %6s ms  %s\n' $(((${EPOCHREALTIME/./} - began) / 1000)) "$words"
    else
        failed=$((failed + 1)) && printf 'FAILED  status %-3s %s (as %s)\n' $status "$words" "$who" && sed 's/^/        /' "$work/said" | tail -n 40
    fi
}
not() { ! "$@"; }
contains() { grep -qF -e "$2" <<<"$1" || { printf 'no "%s" in: %s\n' "$2" "$1"; return 1; }; }
# inside OPTIONS… -- SCRIPT: a shell in new namespaces, root of a user namespace
inside() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    unshare --user --map-root-user "${options[@]}" sh -euc "$2"
}

# ---- the guest

debian_kernel() { contains "$(uname -v)" Debian && [ "$(printf '%s\n' 6.1 "$(uname -r)" | sort -V | head -n 1)" = 6.1 ]; }
cgroup2_alone() {
    [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ] && contains "$(cat /proc/self/cgroup)" '0::/job' &&
        for controller in cpu io memory pids cpuset; do contains " $(cat $job/cgroup.controllers) " " $controller " || return; done
}
has_files() { for file in memory.peak cgroup.kill pids.peak memory.oom.group cpu.stat; do [ -e $job/$file ] || { echo "no $file" && return 1; }; done; }
own_cgroups() { # leaves this script in a leaf, as a tool that is handed a cgroup must
    mkdir $job/guest && echo $$ >$job/guest/cgroup.procs && echo '+memory +pids +cpu' >$job/cgroup.subtree_control &&
        mkdir $job/trial && echo 16777216 >$job/trial/memory.max && [ "$(cat $job/trial/memory.max)" = 16777216 ] || return
    sleep 1000 &
    local status=0
    echo $! >$job/trial/cgroup.procs && echo 1 >$job/trial/cgroup.kill || return
    wait $! || status=$?
    [ $status = 137 ] && [ "$(cat $job/trial/pids.peak)" = 1 ] && rmdir $job/trial
}
overlay_over() { # over FOLDER, the upper one on a tmpfs
    inside --mount -- "mkdir -p $work/o && mount -t tmpfs tmpfs $work/o && cd $work/o && mkdir upper work merged
        mount -t overlay -o lowerdir=$1,upperdir=upper,workdir=work overlay merged && touch merged/new && test -e upper/new && test ! -e $1/new"
}
netem() {
    inside --net -- 'ip link set lo up && ip link add left type veth peer name right
        tc qdisc add dev left root netem delay 10ms && tc qdisc show dev left | grep -q "netem.*delay 10ms"'
}

check "the kernel is Debian's, 6.1 or newer: $(uname -r)" debian_kernel
check 'cgroup v2 with cpu, io, memory, pids, cpuset' cgroup2_alone
check 'memory.peak, pids.peak, cgroup.kill, memory.oom.group' has_files
check 'control groups can be made, limited and killed in' own_cgroups
export SANDBOX_CGROUP=$job # ours, and no process is in it any more
check 'user, pid, mount, network, ipc, uts, cgroup namespaces' \
    inside --pid --fork --mount --net --ipc --uts --cgroup -- 'test "$(id -u)" = 0 && test $$ = 1 && mount -t proc proc /proc'
mkdir -p lower
check 'overlay in a user namespace, over tmpfs' overlay_over "$work/lower"
check 'overlay in a user namespace, over 9p' overlay_over /usr
check 'netem on a veth in a network namespace' netem
check 'no network device but the loopback' test "$(ls /sys/class/net)" = lo
check 'this machine is read-only outside of the views' not sh -c 'echo x >/usr/vm-guest-trial'

# ---- sandbench in it

# By day not how trees are copied and removed, nor what a filter answers to a table; a user is shown what differs for users.
unit() { # LAYER [FILTER]
    check "${1}_test${2:+ $2}" "$build/tests/${1}_test" --warn NoTests --filenames-as-tags ${2+"$2"}
}
for layer in core cli run local cgroup; do unit $layer; done
if [ $whole = yes ]; then
    for layer in process machine files filter watch sandbox; do unit $layer; done
elif [ "$user" = 0 ]; then
    for layer in process machine watch sandbox; do unit $layer; done
    unit files '~[#remove_tree_test]~[#copy_tree_test]~[#own_folder_test]'
    unit filter '~[#filter_test]'
else
    for layer in process machine watch sandbox; do unit $layer '[sandbox]'; done
fi
ranked() {
    sb-presets --count 3 --seed 7 | sb-exec -- true | sb-rank >ranked || return
    cat ranked
    [ "$(grep -c '"kind":"rank"' ranked)" = 3 ]
}
check 'three presets run and ranked' ranked
doctor() { contains "$(sb-doctor | grep '"name":"cgroup"')" '"status":"ok"'; }
check 'sb-doctor sees cgroup v2' doctor

# below FOLDER: that is where a run in the group of somebody else's job, which holds a shell too, has its groups
below() {
    mkdir -p $job/batch gate && echo 64M >$job/batch/memory.high && chmod 777 gate && rm -f gate/* && mkfifo -m 666 gate/up gate/go || return
    (echo $BASHPID >$job/batch/cgroup.procs && sb-exec --bind "$work/gate:/gate:rw" -- sh -c 'echo >/gate/up && read -r _ </gate/go') >record &
    timeout 20 cat gate/up && find /sys/fs/cgroup -name 'sandbench-*' ! -name '*.supervisor' >groups && timeout 20 sh -c 'echo >gate/go' && wait $! || return
    contains "$(cat record)" '"class":"ok"' && [ -s groups ] || { cat record groups && return 1; }
    while read -r group; do
        [ "${group%/sandbench-*}" = "$1" ] || { echo "a group is made at $group" && return 1; }
    done <groups
}
stays_below() { (unset SANDBOX_CGROUP && below $job/batch); }
check 'in the group of a job no group outside of it is made' stays_below
check 'but where the caller names one' below $job
wrong_place() { # WORDS ARGUMENT
    local status=0
    sb-exec --cgroup "$2" -- true >wrong 2>&1 || status=$?
    [ $status = 2 ] && contains "$(cat wrong)" "$1" || { cat wrong && return 1; }
}
check 'a place that is no control group is refused' wrong_place 'not a control group' /tmp
check 'and one that is not there' wrong_place 'No such file' $job/nowhere

# ---- what sb-doctor advises

check 'a fully isolated run is possible' sb-doctor --require full
check 'where a piece of the sandbox is forbidden, one line says so' "$source/tests/doctor/crippled.sh" "$build/bin"
if [ "$user" = 0 ]; then check 'the advice of sb-doctor, followed, works' "$source/tests/doctor/advice.sh"; fi

overlay_truth() { # what it says of folders that were there before a run is what happens to one
    local class=ok
    mkdir -p marks/folder && touch marks/folder/file || return
    contains "$(cd marks && sb-doctor | grep '"name":"overlay"')" '"status":"ok"' || class=failed
    contains "$(cd marks && sb-exec -- rm -r folder)" "\"class\":\"$class\""
}
check 'what sb-doctor says of removing folders is so' overlay_truth
fresh() {
    sb-exec --fresh --repeat 8 --set MEMORY_LIMIT=64Mi --set PIDS_LIMIT=20 -- sh -c 'touch new && ! test -e last && touch last' >fresh.jsonl
    [ "$(jq -c '[.end.class, .fresh]' fresh.jsonl | sort | uniq -c | xargs)" = '8 [ok,true]' ] || { cat fresh.jsonl && return 1; }
}
check 'eight new sandboxes, limited by control groups' fresh
copies() { contains "$(cd marks && sb-exec --work-copy -- sh -c 'rm -r folder && mkdir folder')" '"class":"ok"'; }
check 'folders of a workspace that is copied can be removed' copies

# ---- probes, victims, and what records say; nothing may be skipped here, where every limit holds a whole tree

all_held() { # COMMAND…: it succeeds, and skips nothing
    local said
    said=$(timeout 300 "$@" 2>&1) || { echo "$said" | grep -vE '^[0-9 ]*[a-z_]+ +(held|shown) '; return 1; }
    contains "$said" ', 0 skipped'
}
export SB_PROBE_FULL=1 # nobody else is on this machine
check 'the probes are held' all_held "$source/tests/probes/run.sh"
if [ $whole = no ]; then :
elif [ "$user" = 0 ]; then check 'the probes succeed where nothing holds them' all_held "$source/tests/probes/run.sh" --controls
else check 'the probes that a user can show succeed where nothing holds them' timeout 300 "$source/tests/probes/run.sh" --controls; fi
check 'the victims are held' all_held "$source/tests/victims/run.sh"
check 'layers and limits of a record are what the kernel says' timeout 120 "$source/tests/run/layers_truth.sh" "$build/bin"
check 'the workspace stays as it was' timeout 200 "$source/tests/run/workspace_safe.sh" "$build/bin"
check 'earlier runs hide nothing of a peak' timeout 200 "$source/tests/run/peak_truth.sh" "$build/bin"
check 'what is kept takes no more room than it took' timeout 200 "$source/tests/run/kept.sh" "$build/bin"
check 'what lasts is flushed, and changes nobody' timeout 200 "$source/tests/run/lasting.sh" "$build/bin"
check 'nothing is executed from where a run may write' timeout 200 "$source/tests/run/written_code.sh" "$build/bin"
if [ "$user" = 0 ]; then
    check "groups of root's are not the payload's" timeout 200 "$source/tests/run/groups.sh" "$build/bin"
    [ $whole = no ] || check 'whoever exchanges folders is shown nothing' timeout 400 "$source/tests/run/swapped.sh" "$build/bin" "$build/run/swap"
fi

rm -rf "$work"
echo "$passed passed, $failed failed as $who"
[ $failed = 0 ]
