# SPDX-License-Identifier: MIT
# What the host looks like, a line for each thing: sourced by run.sh, inside of the ground that it makes. Everything there is
# ours alone, so any difference is ours too.
# shellcheck shell=bash

# folders that have a file system each, which nobody else writes to
private=(/mnt /tmp /run /var/tmp /dev/shm)

picture() { # into the file $1; built-in commands first, for those that are not are processes themselves
    local process pid name stat state link group
    {
        for process in /proc/[0-9]*; do
            pid=${process#/proc/} name='' stat=''
            case $pid in $$ | "$BASHPID") continue ;; esac
            { read -r name <"$process/comm" && read -r stat <"$process/stat"; } 2>/dev/null
            state=${stat##*) }
            [ -z "$stat" ] || echo "process $pid $name${state:+ ${state%%[!Z]*}}"
        done
        readlink /proc/[0-9]*/ns/* 2>/dev/null | sort -u | sed 's/^/namespace /'
        find /proc/[0-9]*/fd -lname '*:\[*' -printf '%l\n' 2>/dev/null | grep -E '^(mnt|net|pid|user|uts|ipc|cgroup|time):' | sed 's/^/namespace held open /'
        sed 's/^/mount /' /proc/self/mountinfo
        for group in "${own_groups[@]}"; do find "$group" -mindepth 1 -type d -printf 'control group %p\n'; done
        for group in "${shared_groups[@]}"; do
            find "$group" -type d -name 'sandbench-*' -printf 'control group %p\n'
            sed "s|^|controllers of $group: |" "$group/cgroup.subtree_control"
        done
        for stat in shm sem msg; do awk -v kind=$stat 'NR > 1 { print "System V", kind, $1, $2 }' /proc/sysvipc/$stat; done
        awk '{ print "key of", $6, $8, $9 }' /proc/keys
        awk -v us="$us" '$1 == us ":" || $1 == "1879100000:" { print "keys of", $1, $4 }' /proc/key-users # others come and go
        awk 'FNR == 1 { next } { print "socket", FILENAME, $2, $3, $4, $10 }' /proc/net/tcp /proc/net/udp /proc/net/raw /proc/net/netlink
        [ ! -e /proc/net/tcp6 ] || awk 'FNR == 1 { next } { print "socket", FILENAME, $2, $3, $4, $10 }' /proc/net/tcp6 /proc/net/udp6 /proc/net/raw6
        awk 'NR > 1 { print "socket unix", $7, $8 }' /proc/net/unix
        awk 'NR > 2 { print "interface", $1 }' /proc/net/dev
        stat -f -c 'space on %n: %f blocks and %d files free' "${private[@]}"
        find "${private[@]}" /dev/mqueue -xdev -mindepth 1 ! -path "$stage/pictures" -printf 'file %p %M %U:%G %s\n'
        find "$work" -printf 'untouched %p %T@ %C@ %n\n'
        grep -H . /proc/sys/kernel/{hostname,domainname,core_pattern,shmmax,msgmax,sem} /proc/sys/user/max_* | sed 's/^/knob /'
    } >"$1"
    sort -o "$1" "$1"
}

# What differs from the picture in the file $1: "+ what is new", "- what is gone"; nothing when the host is as it was, or
# becomes so within 5 s, for the kernel takes its time with namespaces and the last of a dead process.
differences() {
    local wait
    for wait in 0 0.05 0.1 0.2 0.4 0.8 1.6 2; do
        sleep $wait
        picture "$stage/pictures/now"
        cmp -s "$1" "$stage/pictures/now" && return 0
    done
    comm -13 "$1" "$stage/pictures/now" | sed 's/^/+ /'
    comm -23 "$1" "$stage/pictures/now" | sed 's/^/- /'
    return 1
}
