#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# workspace_safe.sh BIN: whatever a payload does to its workspace, the caller's folder stays as it was, on disk, in
# memory, and where the file system cannot show it under another owner and it is copied; and what is the caller's outside of it
# is out of the payload's sight.
. "$(dirname "$0")/../support/script.sh"
needs isolation /usr/bin/python3
alone "$@"
trap 'umount "$stage/memory" "$stage/copied" 2>/dev/null || true; chmod -R u+rwX "$stage" ${var_tmp:+"$var_tmp"} 2>/dev/null || true; rm -rf "$stage" ${var_tmp:+"$var_tmp"}; [ -z "${listener-}" ] || kill "$listener"' EXIT
run() { # SCRIPT: what it prints
    "$bin/sb-exec" --data-dir "$stage/data" "${options[@]}" --bind "$stage/door:/door:rw" -- /bin/sh -c "$1" >"$stage/record" 2>"$stage/err" || {
        fail "sb-exec: $(cat "$stage/err")"
    }
    cat "$stage/door/out" 2>/dev/null || true
    rm -f "$stage/door/out"
}
mkdir "$stage/data" && mkdir -m 777 "$stage/door"
options=()

tree() { # every name with its mode, owner, links, size, moments of change, and what it holds
    find . -printf '%p %m %U %n %s %T@ %C@ %l\n' | sort
    find . -type f -exec sha256sum {} + 2>/dev/null | sort
}
prepare() { # FOLDER
    mkdir -m 700 "$1" && cd "$1"
    echo original >file && echo linked >one && ln one two && ln -s /etc/hostname out && ln -s file in
    mkdir folder && echo inner >folder/inner && mkdir closed && echo x >closed/x && chmod 500 closed
    echo 'echo script' >script && chmod 755 script && printf 'mapped%4090s' '' >mapped
    if [ "$(id -u)" = 0 ]; then echo other >other && chown 1000:1000 other && chmod 644 other; fi
}
damage='
echo soil >file; echo soil >>one; : >mapped; rm two; mv folder moved; rm -rf folder moved; ln file linked 2>/dev/null; echo soil >linked
ln -sf /door/out out; chmod 777 file closed .; touch -d 2001-01-01 file one . closed; rm -rf closed; chmod 000 one
rm script; mkdir script; echo soil >script/soil; rm -f in; ln -s /etc/passwd in
truncate -s 0 file; dd if=/dev/zero of=mapped bs=4096 count=1 conv=notrunc 2>/dev/null; mv mapped file; mkfifo pipe
rm -rf "$PWD" 2>/dev/null; rm -rf .* * 2>/dev/null; echo soil >new; rmdir "$PWD" 2>/dev/null
ls -A | tr "\n" " " >/door/out'
var_tmp=$(mktemp -d /var/tmp/sandbench-test.XXXXXX)
places=("$stage/on-disk" "$var_tmp/work")
# where a tmpfs keeps no marks, folders that were there can be emptied and stay: sb-doctor knows
folders=
case $("$bin/sb-doctor" --data-dir "$stage/data" | grep '"name":"overlay"') in *'"status":"limited"'*'not removed'*) folders='closed folder ' ;; esac
if [ "${2-}" = --alone ]; then
    mkdir "$stage/memory" "$stage/copied"
    mount -t tmpfs -o mode=755 none "$stage/memory" && places+=("$stage/memory/work")
    mkdir "$stage/memory/upper" "$stage/memory/index" "$stage/memory/lower"
    mount -t overlay -o "lowerdir=$stage/memory/lower,upperdir=$stage/memory/upper,workdir=$stage/memory/index" none "$stage/copied" && places+=("$stage/copied/work")
fi
for place in "${places[@]}"; do
    prepare "$place"
    before=$(tree)
    got=$(run 'pwd -P >/door/out')
    [ "$got" = "$place" ] || fail "$place: the payload is in $got"
    got=$(run 'cat file one two in folder/inner closed/x >/door/out; ./script >>/door/out; ls -A | wc -l >>/door/out')
    [ "$(tr '\n' ' ' <<<"$got")" = "original linked linked original inner x script $(find . -mindepth 1 -maxdepth 1 | wc -l) " ] || fail "$place: the payload sees $got"
    got=$(run "$damage")
    left=${folders}new # and another's file, whose owner has no name inside, unless all was copied
    [ "$(id -u)" != 0 ] || ! "$bin/sb-doctor" --data-dir "$stage/data" | grep -q '"name":"owners","status":"ok"' || left="$left other"
    [ "$got" = "$left " ] || fail "$place: after the damage there is: $got"
    options=(--work-copy --repeat 2) # the second run finds it as the first did
    got=$(run 'cat file one two in folder/inner closed/x >/door/out; ./script >>/door/out; ls -A | wc -l >>/door/out; : >new; rm -r folder; echo soil >file')
    [ "$(tr '\n' ' ' <<<"$got")" = "original linked linked original inner x script $(find . -mindepth 1 -maxdepth 1 | wc -l) " ] || fail "$place: the payload sees of a copy: $got"
    got=$(run "$damage")
    [ "$got" = 'new ' ] || fail "$place: after the damage there is of a copy: $got"
    options=()
    after=$(tree)
    [ "$before" = "$after" ] || fail "$place: $(diff <(echo "$before") <(echo "$after"))"
    if [ "$(id -u)" = 0 ]; then
        got=$(run 'cat other >/door/out')
        [ "$got" = other ] || fail "$place: another user's readable file: $got"
        echo hush >shut && chown 1000:1000 shut && chmod 600 shut
        got=$(run 'cat shut >/door/out 2>/dev/null; true')
        [ -z "$got" ] || fail "$place: another user's closed file: $got"
    fi
    cd "$stage"
done

# Outside: files of our own that our user could read, sockets, what is another's.
cd "$stage/on-disk"
mkdir -p "$stage/home"
for each in "$stage/home/private" "$stage/private"; do echo hush >"$each" && chmod 600 "$each"; done
in_tmp=$(mktemp /tmp/sb-private.XXXXXX) && echo hush >"$in_tmp"
ln -s "$stage/private" reach
socket=$stage/agent
/usr/bin/python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); t = socket.socket(socket.AF_UNIX); t.bind("\0" + sys.argv[1]); t.listen(); time.sleep(100)' "$socket" &
listener=$!
for _ in $(seq 600); do [ ! -S "$socket" ] || break; sleep 0.05; done # an emulated machine is slow
[ -S "$socket" ] || fail 'no socket to be reached'
export SSH_AUTH_SOCK=$socket DBUS_SESSION_BUS_ADDRESS=unix:path=$socket
options=(--env "PRIVATE=$stage/home/private $stage/private $in_tmp $socket /run/dbus /var/run/dbus /root /run/user /etc/shadow reach ../private")
# shellcheck disable=SC2016 # for the payload
got=$(run 'for each in $PRIVATE; do [ ! -e "$each" ] || echo "sees $each"; cat "$each" 2>/dev/null; done >/door/out
env | grep -E "^(SSH_AUTH_SOCK|DBUS)" >>/door/out
cat /proc/self/mountinfo | grep -c "hush" >>/door/out
ls -A /home /var /run /root 2>/dev/null | grep -vxE "sandbox|tmp|/home:|/var:|" >>/door/out
true')
[ "$got" = 0 ] || fail "out of sight, and yet: $got"
printf 'import socket, sys\nfor name in (sys.argv[1], "\\0" + sys.argv[1]):\n    s = socket.socket(socket.AF_UNIX)\n    try:\n        s.connect(name)\n        print("connected")\n    except OSError as e:\n        print("refused")\n' >connect.py
got=$(run "/usr/bin/python3 connect.py $socket >/door/out")
[ "$got" = $'refused\nrefused' ] || fail "the caller's socket: $got"
rm -f "$in_tmp"
# a file given as standard input is to be read, and no more
echo given >"$stage/home/input"
before=$(stat -c '%a %u %g %x %y %z' "$stage/home/input")
options=(--stdin "$stage/home/input")
got=$(run 'cat >/door/out; chmod 777 /proc/self/fd/0; touch -d 2001-01-01 /proc/self/fd/0; (echo soil >>/proc/self/fd/0); (echo soil 1<>/proc/self/fd/0 >&1); (: >/proc/self/fd/0); truncate -s 0 /proc/self/fd/0; true')
after=$(stat -c '%a %u %g %x %y %z' "$stage/home/input")
[ "$got" = given ] && [ "$(cat "$stage/home/input")" = given ] || fail "standard input: the payload read $got, the file is now $(cat "$stage/home/input")"
[ "$before" = "$after" ] || fail "standard input: it was $before, it is $after"

[ $failed = 0 ] && echo 'the workspace on disk and in memory, private files, sockets, standard input: as they were, and out of sight'
exit $failed
