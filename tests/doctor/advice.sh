#!/bin/bash
# SPDX-License-Identifier: MIT
# advice.sh: in the virtual machine, as its root: breaks a thing, sees sb-doctor name it, does what sb-doctor says, sees it
# mended. tests/vm/guest.sh runs it; it changes the kernel's settings and runs nowhere else.
set -u
[ "$(id -u)" = 0 ] && [ "$(hostname)" = sandbench-vm ] || { echo 'advice.sh: for the root of the virtual machine alone'; exit 77; }
work=$(mktemp -d) && chmod 755 "$work" && mkdir "$work/cwd" && chmod 777 "$work/cwd" && cd "$work/cwd" || exit 2
bad=0
wrong() { echo "WRONG: $*"; bad=1; }
mkdir "$work/home" && chown 65534 "$work/home"
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$work/home" "$@"; }
sudo() { "$@"; } # who reads the advice has it
status_of() { jq -r "select(.name == \"$1\").status"; }

# mended FINDING STATUS [HOW…]: the finding is STATUS under HOW, what mends it is done here, then it is ok
mended() {
    local finding=$1 expected=$2 mend
    shift 2
    "$@" sb-doctor >"$work/found"
    [ "$(status_of "$finding" <"$work/found")" = "$expected" ] || wrong "$finding is not $expected: $(grep "\"$finding\"" "$work/found")"
    mend=$(jq -r "select(.name == \"$finding\").mend" <"$work/found")
    echo "$finding ($expected): $mend"
    eval "$mend" >"$work/said" 2>&1 || wrong "$finding: the command fails: $(cat "$work/said")"
    "$@" sb-doctor --require "$finding" >"$work/found" || wrong "$finding is not mended: $(grep "\"$finding\"" "$work/found")"
}

sysctl -q -w user.max_user_namespaces=0
sb-exec -- true >out 2>err && wrong 'sb-exec goes on without user namespaces'
[ "$(wc -l <err)" = 1 ] && [ ! -s out ] || wrong "sb-exec says: $(cat err)"
mended namespaces missing as_user
sysctl -q -w user.max_user_namespaces=0
mended full missing
sysctl -q -w user.max_net_namespaces=0 user.max_ipc_namespaces=0
sb-doctor | grep -q 'but not network (.*), ipc (' || wrong 'the kinds that cannot be made are not named'
mended namespaces missing

clock=/sys/devices/system/clocksource/clocksource0
for slow in hpet acpi_pm refined-jiffies; do
    grep -qw $slow $clock/available_clocksource && echo $slow >$clock/current_clocksource && mended clock limited && break
done

# in mount namespaces of their own, as children of this script
within() { unshare --mount bash -c "$(declare -f wrong mended status_of sudo as_user); bad=0 work=$work; $1"'; exit $bad' || bad=1; }
within 'mkdir -p /run/ro && mount -t tmpfs -o ro tmpfs /run/ro && export TMPDIR=/run/ro; mended temp missing'
within 'as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent "$@"; }; mended data missing as_user'
within 'mount --bind /sys/fs/cgroup /sys/fs/cgroup && mount -o remount,bind,ro /sys/fs/cgroup; mended memory limited'
within 'named=$SANDBOX_CGROUP; unset SANDBOX_CGROUP; umount -l /sys/fs/cgroup; mended cgroup limited; SANDBOX_CGROUP=$named sb-doctor --require memory --require pids --require cpu >/dev/null || wrong "no controllers after the mount"'

# a chroot: what is advised names DIR and COMMAND
mkdir -p /run/other && within 'mount --rbind / /run/other
    said=$(chroot /run/other sb-doctor | jq -r "select(.name == \"namespaces\") | .status, .mend")
    grep -qx missing <<<"$said" || wrong "a chroot: $said"
    command=$(sed -n "s/.*: \(unshare .*\)/\1/p" <<<"$said") && command=${command//DIR//run/other} && command=${command//COMMAND/sb-doctor --data-dir /tmp/data --require namespaces}
    [ -n "$command" ] && echo "chroot: $command" || wrong "a chroot: no command in $said"
    eval "$command" >$work/found || wrong "pivot_root does not mend it: $(grep namespaces $work/found)"'

# a shell of an unprivileged user; what it says comes back through files
shell() { # shell GROUP: starts one there, with the files $work/to and $work/from
    rm -f "$work/to" "$work/from" && mkfifo -m 666 "$work/to" "$work/from"
    (echo $BASHPID >"$1/cgroup.procs" && exec setpriv --reuid 65534 --regid 65534 --clear-groups env -u SANDBOX_CGROUP HOME="$work/home" bash "$work/to") &
    user_shell=$!
    exec 5>"$work/to" # it reads from now on
}
ask() { echo "{ $1; } >$work/from 2>&1" >&5 && cat "$work/from"; }
limited() { # the three controllers are `limited` for that shell, and the same thing mends them
    ask 'sb-doctor; true' >"$work/found"
    for controller in memory pids cpu; do
        [ "$(status_of $controller <"$work/found")" = limited ] || wrong "$1: $controller is $(status_of $controller <"$work/found")"
    done
    [ "$(jq -r 'select(.name == "memory" or .name == "pids" or .name == "cpu").mend' <"$work/found" | sort -u | wc -l)" = 1 ] || wrong "$1: not one mend for the three"
    mend=$(jq -r 'select(.name == "memory").mend' <"$work/found")
    echo "$1: $mend"
}
now_ok() {
    ask 'sb-doctor --require memory --require pids --require cpu --require peaks --require full; echo status $?' >"$work/found"
    grep -qx 'status 0' "$work/found" || wrong "$1: not mended: $(grep -E '"(memory|pids|cpu|peaks|full)"|status' "$work/found")"
    ask 'sb-exec --set MEMORY_LIMIT=64Mi -- true' >"$work/found"
    grep -q '"by":"memory control group, the whole tree"' "$work/found" || wrong "$1: the limit does not hold: $(cut -c1-400 "$work/found")"
    exec 5>&- && wait $user_shell
}
top=/sys/fs/cgroup
mkdir $top/foreign && shell $top/foreign
limited 'a group that is not ours'
eval "${mend//\$\$/$user_shell}" >"$work/said" 2>&1 || wrong "the command fails: $(cat "$work/said")"
ask "${mend##* && }" >"$work/said" # who reads the advice types it all into that shell
[ ! -s "$work/said" ] || wrong "the shell says: $(cat "$work/said")"
now_ok 'a group that is not ours'

mkdir $top/handed && chown 65534 $top/handed $top/handed/{cgroup.procs,cgroup.subtree_control} && shell $top/handed
limited 'a group with others in it'
ask "$mend" >"$work/said"
now_ok 'a group with others in it'

# a file system that cannot lie below an overlay: two overlays already
mkdir -p /home/deep/{l,u1,w1,m1,u2,w2,m2} && mount -t overlay -o lowerdir=/home/deep/l,upperdir=/home/deep/u1,workdir=/home/deep/w1 overlay /home/deep/m1 &&
    mount -t overlay -o lowerdir=/home/deep/m1,upperdir=/home/deep/u2,workdir=/home/deep/w2 overlay /home/deep/m2 && chmod 777 /home/deep/m2 && cd /home/deep/m2 && touch a-file
as_user sb-doctor >"$work/found"
[ "$(status_of overlay <"$work/found")" = missing ] || wrong "overlays in a pile: $(grep overlay "$work/found")"
as_user sb-exec -- true >"$work/cwd/out" 2>"$work/cwd/err" && wrong 'overlays in a pile: sb-exec goes on'
[ "$(wc -l <"$work/cwd/err")" = 1 ] || wrong "overlays in a pile: sb-exec says $(cat "$work/cwd/err")"
mend=$(jq -r 'select(.name == "overlay").mend' <"$work/found") && echo "overlays in a pile: $mend"
as_user bash -c "$mend && test -e a-file && sb-doctor --require full" >"$work/found" && [ "$(status_of overlay <"$work/found")" != missing ] ||
    wrong "overlays in a pile: not mended: $(grep -E '"(overlay|full)"' "$work/found")"
sb-exec -- true | grep -q '"class":"ok"' || wrong 'overlays in a pile: root has a copy, and should go on'
exit $bad
