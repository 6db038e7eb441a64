#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [OPTION…] -- COMMAND…: runs COMMAND in a virtual machine with Debian's own kernel, on this machine's files.
#
# How it works: prepare.sh unpacks Debian's kernel and makes an initramfs; qemu boots them under software emulation, as the
# caller, without a network device. This machine's root is shared by 9p, read-only, and becomes the guest's root (switch_root,
# for in a plain chroot nobody can make a user namespace). In the guest /tmp, /var/tmp, /run, /root, /home and /dev/shm are fresh
# tmpfs; the source tree, the build folder and the current folder are overlays, so they can be written to and this machine's
# stay as they are; cgroup2 is at /sys/fs/cgroup with all controllers handed down, and nothing but tests/vm/init runs there.
# A module that is not in yet is put in when the kernel asks for it.
#
# COMMAND runs in the caller's current folder with the tools first in its PATH, standard input empty, in a cgroup of its own
# (/sys/fs/cgroup/job). Its standard output and error come out here as they are written, each by a virtio channel of its own;
# a third one brings its exit status. The kernel's messages go to a serial line that is shown only when the guest fails.
# When COMMAND ends, what it left running is killed.
#
# The machine dies with this script, however that dies (parent death signal); a watcher, told by the end of a pipe, removes the
# temporary folder. Were the watcher killed too, the next run removes it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
source=${here%/tests/vm}

usage() {
    cat <<'END'
usage: tests/vm/run.sh [OPTION...] -- COMMAND [ARGUMENT...]
       tests/vm/run.sh [OPTION...] --shell

  --shell            a prompt on this terminal (or COMMAND on it)
  --user NAME        root (default), nobody, or a user's number
  --no-delegate      the user's cgroup belongs to root
  --memory MIB       the guest's memory (2048)
  --time-limit S     seconds until the guest is stopped, boot included (600; 0 with --shell: none)
  --build FOLDER     whose bin/ is first in PATH (build)
  --view FOLDER      show this folder too, writable, changes lost (what lies under /home, /root, /tmp is not shown by itself)
  --share-rw FOLDER  share this folder itself: what COMMAND writes there is written here
  --env NAME=VALUE   put this in COMMAND's environment
  --cache FOLDER     where the kernel is kept (build/vm)
  --console          show the kernel's messages at the end, too

Exit status: COMMAND's; 124 the time limit was reached, 125 the guest failed, 77 no guest can be made here.
END
}
say() { echo "vm: $*" >&2; }
skip() { say "skipped: $*"; exit 77; }
wrong() { say "$*"; exit 2; }

shell=no user=root delegate=yes memory=2048 limit='' build=$source/build cache=$source/build/vm console=no
views=() shares=() environment=()
folder() { # folder WORD: its real path
    [ -d "$1" ] || wrong "$1: no such folder"
    (cd "$1" && pwd -P)
}
while [ $# -gt 0 ]; do
    case $1 in
    --user | --memory | --time-limit | --build | --view | --share-rw | --env | --cache) [ $# -ge 2 ] || wrong "$1 wants a value" ;;
    esac
    case $1 in
    --shell) shell=yes && shift ;;
    --no-delegate) delegate=no && shift ;;
    --console) console=yes && shift ;;
    --user) user=$2 && shift 2 ;;
    --memory) memory=$2 && shift 2 ;;
    --time-limit) limit=$2 && shift 2 ;;
    --build) build=$(folder "$2") && shift 2 ;;
    --view) views+=("$(folder "$2")") && shift 2 ;;
    --share-rw) shares+=("$(folder "$2")") && shift 2 ;;
    --env) environment+=("$2") && shift 2 ;;
    --cache) cache=$2 && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    --) shift && break ;;
    *) wrong "$1: no such option (--help)" ;;
    esac
done
case $user in
root) user=0 ;;
nobody) user=65534 ;;
'' | *[!0-9]*) wrong "--user $user: root, nobody, or a number" ;;
esac
[[ $memory =~ ^[1-9][0-9]{2,5}$ ]] || wrong "--memory $memory: MiB, 100 or more"
[ -n "$limit" ] || { limit=600 && [ $shell = no ] || limit=0; }
[[ $limit =~ ^[0-9]{1,6}$ ]] || wrong "--time-limit $limit: seconds"
for pair in "${environment[@]}"; do [[ $pair =~ ^[A-Za-z_][A-Za-z_0-9]*= ]] || wrong "--env $pair: NAME=VALUE"; done
if [ $shell = yes ]; then
    { [ -t 0 ] && [ -t 1 ]; } || wrong '--shell wants a terminal'
    [ $# -gt 0 ] || set -- /bin/bash
fi
[ $# -gt 0 ] || { usage >&2 && exit 2; }

qemu=qemu-system-x86_64
for program in $qemu xz setpriv flock; do
    command -v $program >/dev/null || skip "no $program here: scripts/dependencies vm"
done
mkdir -p "$cache"
"$here/prepare.sh" --cached "$cache"
set=$(cd "$cache/current" && pwd -P)
exec {held}<"$set/kernel"
flock -s $held # prepare.sh removes no set that is in use

# A folder of ours whose lock nobody holds belongs to a run whose watcher was killed as well.
for left in "${TMPDIR:-/tmp}"/sandbench-vm.*/; do
    if [ -O "$left/lock" ]; then flock -n "$left/lock" rm -rf --one-file-system "$left" || true; fi # in use: another machine runs
done
# The watcher makes our folder, holds its lock, and reads until this script, the only writer, is gone. It is in a session of its
# own, out of reach of a killed group. It keeps our error output open: whoever reads that to its end knows that the folder is gone.
# shellcheck disable=SC2016
coproc watching {
    exec {held}<&-
    exec setsid sh -c 'trap "" INT TERM HUP PIPE # PIPE: this script may be gone before it has read where the folder is
        work=$(mktemp -d "$1/sandbench-vm.XXXXXX") || exit
        exec 9>"$work/lock" && flock 9 && echo "$work" && cat >/dev/null
        rm -rf --one-file-system "$work"' watcher "${TMPDIR:-/tmp}" 8>&2 2>/dev/null
}
watcher=$watching_PID alive=${watching[1]}
read -r work <&"${watching[0]}" || { say "cannot make a folder in ${TMPDIR:-/tmp}" && exit 125; }
machine='' terminal='' outlets=()
finish() {
    [ -z "$machine" ] || { kill -KILL "$machine" && wait "$machine"; } 2>/dev/null || true
    [ -z "$terminal" ] || stty "$terminal" || true
    [ ${#outlets[@]} = 0 ] || kill "${outlets[@]}" 2>/dev/null || true
    exec {alive}>&-
    wait "$watcher" || true
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

quote() { # each argument, for a shell
    local word
    for word; do printf "'%s' " "${word//\'/\'\\\'\'}"; done
}
mkdir "$work/job"
[ -d "$build" ] && build=$(cd "$build" && pwd -P)
here_now=$(pwd -P)
shown=''
{
    for view in "$source" "$build" "${views[@]}" "$here_now"; do
        # the first folder that holds it shows it
        case $shown in *":$view:"*) continue ;; esac
        inside=no part=$view
        while [ "$part" != / ] && [ -n "$part" ]; do
            case $shown in *":$part:"*) inside=yes ;; esac
            part=${part%/*}
        done
        [ $inside = no ] && [ -d "$view" ] && [ "$view" != / ] || continue
        shown="$shown:$view:"
        echo "view $(quote "$view")"
    done
    for ((n = 0; n < ${#shares[@]}; ++n)); do echo "share_rw rw$n $(quote "${shares[n]}")"; done
    echo "modules $(quote "$set/lib/modules")"
} >"$work/job/mounts"
home=/root
[ "$user" = 0 ] || home=/home/nobody
{
    echo "user=$user"
    echo "delegate=$delegate"
    echo "terminal=$shell"
    echo 'echo $$ >/sys/fs/cgroup/job/cgroup.procs'
    if [ $shell = yes ] && [ "$(stty size)" != '0 0' ]; then echo "stty $(stty size | sed 's/\(.*\) \(.*\)/rows \1 columns \2/')"; fi
    printf 'cd %s || exit 126\n' "$(quote "$here_now")"
    drop=()
    [ "$user" = 0 ] || drop=(/usr/bin/setpriv --reuid "$user" --regid "$user" --clear-groups --)
    printf 'exec /usr/bin/env -i %s\n' "$(quote "PATH=$build/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "HOME=$home" \
        "USER=$([ "$user" = 0 ] && echo root || echo nobody)" LANG=C.UTF-8 "TERM=${TERM:-dumb}" "${environment[@]}" "${drop[@]}" "$@")"
} >"$work/job/command"

machine_options=(
    -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m "$memory" -nodefaults -no-user-config -display none -nic none -no-reboot
    -sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny
    -kernel "$set/kernel" -initrd "$set/initramfs"
    -append 'console=ttyS0 panic=-1 quiet mitigations=off random.trust_cpu=on tsc=reliable'
    -chardev "file,id=console,path=${work//,/,,}/console" -serial chardev:console
    -fsdev 'local,id=host,path=/,security_model=none,readonly=on,multidevs=remap' -device virtio-9p-pci,fsdev=host,mount_tag=host
    -fsdev "local,id=job,path=${work//,/,,}/job,security_model=none,readonly=on" -device virtio-9p-pci,fsdev=job,mount_tag=job
    -device virtio-serial-pci
)
for ((n = 0; n < ${#shares[@]}; ++n)); do
    machine_options+=(-fsdev "local,id=rw$n,path=${shares[n]//,/,,},security_model=none,multidevs=remap" -device "virtio-9p-pci,fsdev=rw$n,mount_tag=rw$n")
done
channel() { machine_options+=(-chardev "file,id=$1,path=${work//,/,,}/$1" -device "virtserialport,chardev=$1,name=sb.$1"); }
mkfifo "$work/status" "$work/out" "$work/err"
channel status
if [ $shell = yes ]; then
    machine_options+=(-chardev stdio,id=terminal,signal=off -device virtconsole,chardev=terminal)
    terminal=$(stty -g)
fi
channel out
channel err

# Each stream goes through a pipe of its own: what the caller's descriptors are like is never changed. Opened for both ways, a
# named pipe waits for nobody; it ends when those ends are closed, that of the status with the machine, which inherits it.
exec {out}<>"$work/out" {err}<>"$work/err" {started}<>"$work/status" {status}<"$work/status"
for stream in out err; do
    ( # when nobody reads here any more, the guest is not to wait
        exec <"$work/$stream" {held}<&- {out}>&- {err}>&- {started}>&- {status}<&-
        [ $stream = out ] || exec >&2
        cat || cat >/dev/null
    ) &
    outlets+=($!)
done
exec {stdin}<&0 {stdout}>&1
# The shell between looks whether its parent still lives now that its death would be heard of.
(
    if [ $shell = yes ]; then exec <&$stdin >&$stdout; else exec >"$work/qemu"; fi
    exec 2>"$work/qemu" {stdin}<&- {stdout}>&- {held}<&- {out}>&- {err}>&- {status}<&-
    # shellcheck disable=SC2016
    exec setpriv --pdeathsig KILL sh -c '[ "$PPID" = "$0" ] && exec "$@"' $$ $qemu "${machine_options[@]}"
) &
machine=$!
exec {stdin}<&- {stdout}>&- {started}>&-

# What comes through: "booted", then "exit STATUS". The end of the stream is the end of the machine.
boot_limit=120
[ "$limit" -gt 0 ] && [ "$limit" -lt $boot_limit ] && boot_limit=$limit
deadline=$boot_limit booted=no code='' late=''
began=$SECONDS
while [ -z "$code" ]; do
    timeout=()
    if [ "$deadline" -gt 0 ]; then
        left=$((began + deadline - SECONDS))
        timeout=(-t $((left > 0 ? left : 1)))
    fi
    got=0
    read -r "${timeout[@]}" -u $status line || got=$?
    [ $got -le 128 ] || late=yes
    [ $got = 0 ] || break
    case $line in
    booted) booted=yes && deadline=$limit ;;
    'exit '*) code=${line#exit } ;;
    esac
done
{ kill -KILL $machine && wait $machine; } 2>/dev/null || true
machine=''
exec {out}>&- {err}>&-
wait "${outlets[@]}" || true # all that COMMAND said is out
outlets=()

console() {
    [ ! -s "$work/qemu" ] || { say 'qemu said:' && tail -n 20 "$work/qemu" >&2; }
    say 'the last lines of the console:' && tail -n 60 "$work/console" 2>/dev/null | tr -d '\r' >&2
}
if [ -n "$code" ]; then
    [ $console = no ] || console
    exit "$code"
elif [ -n "$late" ] && [ $booted = yes ]; then
    say "stopped: the time limit of $limit s was reached"
    console
    exit 124
elif [ -n "$late" ]; then
    say "the guest did not start within $boot_limit s"
else
    say "the guest came to its end before the command had"
fi
console
exit 125
