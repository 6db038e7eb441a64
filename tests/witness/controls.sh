# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The suite `controls`: each kind of thing that may be left is left, and must be seen by its name.

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
