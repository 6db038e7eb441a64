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
        awk -v us="$us" '$1 == us ":" || $1 + 0 >= 1879100000 && $1 + 0 < 1880100000 { print "keys of", $1, $4 }' /proc/key-users # others come and go
        awk 'FNR == 1 { next } { print "socket", FILENAME, $2, $3, $4, $10 }' /proc/net/tcp /proc/net/udp /proc/net/raw /proc/net/netlink
        [ ! -e /proc/net/tcp6 ] || awk 'FNR == 1 { next } { print "socket", FILENAME, $2, $3, $4, $10 }' /proc/net/tcp6 /proc/net/udp6 /proc/net/raw6
        awk 'NR > 1 { print "socket unix", $7, $8 }' /proc/net/unix
        awk 'NR > 2 { print "interface", $1 }' /proc/net/dev
        stat -f -c 'space on %n: %f blocks and %d files free' "${private[@]}"
        find "${private[@]}" /dev/mqueue -xdev -mindepth 1 ! -path "$stage/pictures" -printf 'file %p %M %U:%G %s\n'
        find "$work" -printf 'untouched %p %T@ %C@ %n\n'
        quotas
        grep -H . /proc/sys/kernel/{hostname,domainname,core_pattern,shmmax,msgmax,sem} /proc/sys/user/max_* | sed 's/^/knob /'
    } >"$1"
    sort -o "$1" "$1"
    amounts >"$1.amounts"
}

# What the kernel counts for all that a user does cannot be read: it is tried. Of the users that root's payloads are, that is the
# one that sessions share. A session's own is chosen by chance, so what was left of its quotas would be missing to nobody.
quotas() {
    local user=$us
    [ "$user" != 0 ] || user=1879100000
    setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all "$stage/tools/victim" quota | sed "s/^/user $user: /"
}

# Of what there is one on the machine: NAME, how much is in use, and how much more says nothing, for others use it too.
amounts() {
    local files most pages
    read -r files _ most </proc/sys/fs/file-nr
    [ ${#most} -lt 8 ] || most=3000000
    echo "files $files $((most / 100))"
    while read -r name _ _ _ _ _ _ _ _ _ pages; do [ "$name" != TCP: ] || echo "tcp-pages $pages 2048"; done </proc/net/sockstat
    while read -r name pages _; do [ "$name" != SUnreclaim: ] || echo "kernel-kib $pages 65536"; done </proc/meminfo
    [ ! -r /proc/vmallocinfo ] || echo "translated-filters-kib $(awk '/bpf_jit|bpf_prog/ { all += $2 } END { print int(all / 1024) }' /proc/vmallocinfo) 4096"
}
grown() { # from the amounts in $1 to those in $2
    awk 'NR == FNR { before[$1] = $2; next } $2 > before[$1] + $3 { print "more " $1 ": " $2 - before[$1] }' "$1" "$2"
}

# What differs from the picture in the file $1: "+ what is new", "- what is gone"; nothing when the host is as it was, or
# becomes so within 5 s, for the kernel takes its time with namespaces and the last of a dead process.
differences() {
    local wait
    for wait in 0 0.05 0.1 0.2 0.4 0.8 1.6 2; do
        sleep $wait
        picture "$stage/pictures/now"
        cmp -s "$1" "$stage/pictures/now" && [ -z "$(grown "$1.amounts" "$stage/pictures/now.amounts")" ] && return 0
    done
    grown "$1.amounts" "$stage/pictures/now.amounts"
    comm -13 "$1" "$stage/pictures/now" | sed 's/^/+ /'
    comm -23 "$1" "$stage/pictures/now" | sed 's/^/- /'
    return 1
}
