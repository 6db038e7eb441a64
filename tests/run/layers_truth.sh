#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# layers_truth.sh BIN: what a record says of layers and limits is what the kernel says of the run's processes. A
# witness outside looks at them while the run waits for it, in /proc and in the control groups, and compares.
. "$(dirname "$0")/../support/script.sh"
needs isolation
[ -z "$cgroup" ] || export SANDBOX_CGROUP=$cgroup
mkdir "$stage/work" "$stage/data" && mkdir -m 777 "$stage/door"
cd "$stage/work"
same() { [ "$2" = "$3" ] || fail "$1: the record says $2, the kernel $3"; }

cat >"$stage/presets" <<'END'
{"SCENARIO_NAME":"truth","MEMORY_LIMIT":"64Mi","PIDS_LIMIT":50,"CPU_LIMIT":1,"DISK_LIMIT":"16Mi","FILE_LIMIT":"1Mi","OPEN_FILES_LIMIT":64,"CPU_SECONDS":7,"TIMEOUT":60,"SECURITY_LEVEL":3}
END
tag=truth$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
# shellcheck disable=SC2016 # for the workload's shell
workload='(LC_ALL=C; : 1<>/pipe) 2>/door/refusal
echo $$ >/door/ready
while [ ! -e /door/go ]; do sleep 0.05; done'
mkfifo "$stage/pipe" && chmod 666 "$stage/pipe"
HUSH=secret "$bin/sb-exec" --data-dir "$stage/data" --bind "$stage/door:/door:rw" --bind "$stage/pipe:/pipe" -- /bin/sh -c "$workload" "$tag" <"$stage/presets" >"$stage/record" 2>"$stage/err" &
session=$!
for _ in $(seq 400); do
    [ ! -s "$stage/door/ready" ] || break
    kill -0 $session 2>/dev/null || break
    sleep 0.05
done
if [ ! -s "$stage/door/ready" ]; then
    wait $session || true
    fail "the run did not begin: $(cat "$stage/err")"
    exit 1
fi

# The payload has the tag among its words and, unlike whoever started it, a number in the innermost namespace below ours.
payload='' deepest=2
for each in $(grep -alF "$tag" /proc/[0-9]*/cmdline 2>/dev/null | tr -dc '0-9\n'); do
    numbers=$(awk '/^NSpid:/ { print NF }' "/proc/$each/status" 2>/dev/null) || continue
    [ "${numbers:-0}" -gt $deepest ] && payload=$each deepest=$numbers
done
[ -n "$payload" ] || { fail 'the payload is not to be found'; touch "$stage/door/go"; exit 1; }
at=/proc/$payload
status_of() { awk -v name="$1:" '$1 == name { $1 = ""; print substr($0, 2) }' "$at/status"; }

seen=
found() { seen="$seen $1 "; }
while read -r layer kind; do
    inside=$(readlink "$at/ns/$kind") && [ "$inside" != "$(readlink "/proc/self/ns/$kind")" ] && found "$layer"
done <<'END'
user user
pid pid
mount mnt
network net
ipc ipc
uts uts
cgroup cgroup
END
mounts=$(cat "$at/mountinfo")
mount_at() { awk -v at="$1" '$5 == at { print }' <<<"$mounts"; }
[ "$(stat -Lc %d:%i "$at/root/.")" != "$(stat -c %d:%i /)" ] && [[ $(mount_at / | head -1) == *' / ro,'*' - tmpfs '* ]] && found root
[[ $(mount_at "$PWD") == *' - overlay '* ]] && [ "$(readlink "$at/cwd")" = "$PWD" ] && found workspace
[[ $(mount_at /proc) == *' - proc '*hidepid=* ]] && [[ $(mount_at /proc/sys) == *' ro,'* ]] && found proc
[[ $(mount_at /dev/null) == *' - '* ]] && [ ! -e "$at/root/dev/kmsg" ] && [ ! -e "$at/root/dev/tty" ] && found dev
[ "$(status_of NoNewPrivs)" = 1 ] && found no_new_privs
[ "$(for set in CapInh CapPrm CapEff CapBnd CapAmb; do status_of $set; done | sort -u)" = 0000000000000000 ] && found capabilities
[ "$(status_of Seccomp)" = 2 ] && found seccomp
# the user's own group may be named among them
[ -z "$(status_of Groups | tr ' \t' '\n\n' | grep -vx -e "$(status_of Gid | awk '{ print $2 }')" -e '')" ] && found groups
# a read-only mount lets everybody write to a named pipe whose mode allows it: Landlock alone does not
[[ $(<"$stage/door/refusal") == *': Permission denied' ]] && found landlock
sid() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 4; }
[ "$(sid "$payload")" != "$(sid $$)" ] && [ "$(sid "$payload")" != "$(sid $session)" ] && found session
variables=$(tr '\0' '\n' <"$at/environ")
! grep -q '^HUSH=' <<<"$variables" && found environment
grep -qx 'HOME=/home/sandbox' <<<"$variables" && [[ $(mount_at /home/sandbox) == *' - tmpfs '* ]] && found home
grep -qx 'TMPDIR=/tmp' <<<"$variables" && [[ $(mount_at /tmp) == *' - tmpfs '* ]] && found tmpdir
# 3 is the report channel; dash keeps what it has redirected at 10 for a moment
[ -z "$(find "$at/fd" -mindepth 1 -printf '%f\n' | grep -vx '[0123]')" ] && found descriptors
[ "$(awk '/^Max core file size/ { print $5 $6 }' "$at/limits")" = 11 ] && found rlimits # 1: a program that takes cores is not even started

# What holds whom: the figures while it runs.
limit_of() { awk -v name="$1" 'index($0, name) == 1 { sub(name, ""); print $1 }' "$at/limits"; }
group_of() { # CONTROLLER: the folder that holds the payload, on whichever side of a hybrid host
    local path
    path=$(awk -F: -v c="$1" '{ n = split($2, all, ","); for (i = 1; i <= n; ++i) if (all[i] == c) print $3 }' "$at/cgroup")
    if [ -n "$path" ]; then echo "/sys/fs/cgroup/$1$path"; else echo "/sys/fs/cgroup$(sed -n 's/^0:://p' "$at/cgroup")"; fi
}
figure() { # CONTROLLER V1-FILE V2-FILE
    local folder
    folder=$(group_of "$1")
    cat "$folder/$2" 2>/dev/null || cat "$folder/$3" 2>/dev/null || echo none
}
memory=$(figure memory memory.limit_in_bytes memory.max) pids=$(figure pids pids.max pids.max)
quota=$(figure cpu cpu.cfs_quota_us cpu.max) period=$(figure cpu cpu.cfs_period_us cpu.max)
case $quota in *' '*) period=${quota#* } quota=${quota% *} ;; esac
as=$(limit_of 'Max address space') processes=$(limit_of 'Max processes') files=$(limit_of 'Max open files') size=$(limit_of 'Max file size') cpu=$(limit_of 'Max cpu time')
processors=$(status_of Cpus_allowed_list)
parent_of() { awk '/^PPid:/ { print $2 }' "/proc/$1/status"; }
between=$(parent_of "$(parent_of "$payload")") # the init's parent
numbers=$(nsenter --preserve-credentials --user --pid --target "$between" cat /proc/sys/kernel/pid_max 2>/dev/null || echo none)
scratch=$(stat -fc '%b %S' "$at/root/tmp" | awk '{ print $1 * $2 }')
uids=$(status_of Uid | tr '\t' '\n' | tr ' ' '\n' | sort -u | tr -d '\n')
touch "$stage/door/go"
wait $session || fail "sb-exec ended with $?: $(cat "$stage/err")"
record=$(cat "$stage/record")
[[ $record == *'"class":"ok"'* ]] || fail "the run did not end well: $record"

says=$(sed 's/.*"layers":\[\([^]]*\)\].*/\1/' <<<"$record" | tr -d '"' | tr ',' '\n')
for layer in $says; do
    case $seen in *" $layer "*) ;; *) fail "layer $layer is in the record, and the kernel knows nothing of it" ;; esac
done
for layer in $seen; do
    grep -qx "$layer" <<<"$says" || fail "layer $layer holds, and the record does not say so"
done
achieved() { sed -n "s/.*{\"key\":\"$1\",\"requested\":[^,]*,\"achieved\":\([^,]*\),\"by\":\"\([^\"]*\)\".*/\1/p" <<<"$record"; }
by() { sed -n "s/.*{\"key\":\"$1\",\"requested\":[^,]*,\"achieved\":\([^,]*\),\"by\":\"\([^\"]*\)\".*/\2/p" <<<"$record"; }
case $(by MEMORY_LIMIT) in
*'control group'*) same MEMORY_LIMIT "$(achieved MEMORY_LIMIT)" "$memory" ;;
*RLIMIT_AS*) same MEMORY_LIMIT "$(achieved MEMORY_LIMIT)" "$as" ;;
*) fail "MEMORY_LIMIT: by \"$(by MEMORY_LIMIT)\"" ;;
esac
# who keeps the sandbox is counted where it cannot be told apart: up to three processes in a control group, one in a user namespace
case $(by PIDS_LIMIT) in
*'control group'*) [ "$pids" != none ] && [ $((pids - $(achieved PIDS_LIMIT))) -ge 0 ] && [ $((pids - $(achieved PIDS_LIMIT))) -le 3 ] || fail "PIDS_LIMIT: the record says $(achieved PIDS_LIMIT), the kernel $pids" ;;
'pid_max'*) same PIDS_LIMIT $(($(achieved PIDS_LIMIT) + 301)) "$numbers" ;; # the first 300 are given once, and one is the init's
'RLIMIT_NPROC'*) same PIDS_LIMIT $(($(achieved PIDS_LIMIT) + 1)) "$processes" ;;
*) fail "PIDS_LIMIT: by \"$(by PIDS_LIMIT)\"" ;;
esac
case $(by CPU_LIMIT) in
*'control group'*) same CPU_LIMIT "$(achieved CPU_LIMIT)" "$(awk -v q="$quota" -v p="$period" 'BEGIN { printf "%.1f", q / p }')" ;;
*sched_setaffinity*) [[ $processors =~ ^[0-9]+$ ]] || fail "CPU_LIMIT: the record says one processor, the kernel $processors" ;;
*) fail "CPU_LIMIT: by \"$(by CPU_LIMIT)\"" ;;
esac
same DISK_LIMIT "$(achieved DISK_LIMIT)" "$scratch"
same FILE_LIMIT "$(achieved FILE_LIMIT)" "$size"
same OPEN_FILES_LIMIT "$(achieved OPEN_FILES_LIMIT)" "$files"
same CPU_SECONDS "$(achieved CPU_SECONDS)" "$cpu"
[ "$uids" != 0 ] && [ -n "$uids" ] || fail "the payload runs as user $uids"
[ "$(id -u)" = 0 ] || same 'the user' "$(id -u)" "$uids"

[ $failed = 0 ] && echo "layers:$(printf ' %s' $says); limits as recorded, user $uids"
exit $failed
