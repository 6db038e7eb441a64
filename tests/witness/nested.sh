# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The suite `nested`: runs within containers, and within a sandbox.

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
    note "$(within 'sb-exec in sb-exec' 4 '^sb-exec: full isolation is not possible here: [^\\]*\\nstatus')"
    note "$(within 'sb-exec in sb-exec, basic' 0 'class' --isolate basic)"
    note "$(within 'sb-exec in sb-exec, degraded' 0 'class' --allow-degraded)"
    done+=('sb-exec itself')
    left=$(differences "$stage/pictures/before") || wrong+="the host: $left"
    rm "$stage/shown/sb-exec"
    verdict nested "$wrong" "in $(printf '%s, ' "${done[@]}" | sed 's/, $//')"
}
