#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# groups.sh BIN: a payload has no supplementary group of root's, whenever it is born; of a user's it has what the kernel leaves
# it, and the record, --verbose and sb-doctor say so; what of /etc is open to a group alone is shown to nobody.
. "$(dirname "$0")/../support/script.sh"
needs root isolation
alone "$@"
trap 'cd /; umount /etc 2>/dev/null || true; rm -rf "$stage"' EXIT
group=4242
mkdir "$stage/work" "$stage/home" "$stage/bin" && cp "$bin/sb-exec" "$bin/sb-doctor" "$stage/bin" && chown 65534:65534 "$stage/work"
cd "$stage/work"

# an /etc with keys that a group may read, in a folder that it may enter and in one that all may
mkdir "$stage/etc" && cp -a /etc/. "$stage/etc"
mkdir -p "$stage/etc/ssl/private" "$stage/etc/ssl/certs" "$stage/etc/alternatives" "$stage/etc/ca-certificates"
for each in ssl/private ssl/certs alternatives ca-certificates; do
    echo "key of a group" >"$stage/etc/$each/sb-key" && chgrp $group "$stage/etc/$each/sb-key" && chmod 640 "$stage/etc/$each/sb-key"
    echo public >"$stage/etc/$each/sb-public" && chmod 644 "$stage/etc/$each/sb-public"
done
chgrp $group "$stage/etc/ssl/private" && chmod 710 "$stage/etc/ssl/private"
mount --bind "$stage/etc" /etc

run() { # WHO OPTION... -- COMMAND...: what it prints
    local who=$1 own=$stage/work
    shift
    [ "$who" != "$root" ] || own=$stage/home # nobody else's
    # shellcheck disable=SC2086 # words
    setpriv $who env HOME="$stage/home" TMPDIR="$own" "$stage/bin/sb-exec" --data-dir "$own/data $who" --bind "$stage/door:/door:rw" "$@" </dev/null >"$stage/record" 2>"$stage/err" || true
    cat "$stage/door/out" 2>/dev/null || true
    rm -f "$stage/door/out"
}
mkdir "$stage/door" && chmod 777 "$stage/door"
root="--groups 0,$group" user="--reuid 65534 --regid 65534 --groups 65534,$group" plain='--reuid 65534 --regid 65534 --groups 65534'
# shellcheck disable=SC2016 # for the workload's shell
look='{ cat /etc/*/sb-key /etc/ssl/*/sb-key 2>/dev/null; echo; cat /etc/*/sb-public /etc/ssl/certs/sb-public; grep ^Groups: /proc/self/status; } >/door/out'
for who in "$root" "$root" "$root" "$root" "$root" "$user" "$plain"; do
    seen=$(run "$who" --verbose -- sh -c "$look")
    case $seen in *key*) fail "$who: a key of a group was read: $seen" ;; esac
    [ "$(grep -c public <<<"$seen")" = 3 ] || fail "$who: what all may read is not shown: $seen $(cat "$stage/err")"
    kept=$(sed -n 's/^Groups:[[:space:]]*//p' <<<"$seen" | wc -w)
    layer=no said=no
    grep -q '"groups"' "$stage/record" && layer=yes
    grep -q "keeps your supplementary groups: $group" "$stage/err" && said=yes
    case $who in
    "$root") [ "$kept $layer $said" = '0 yes no' ] || fail "root: $kept groups, layer $layer, said $said" ;;
    "$user") [ "$kept $layer $said" = '2 no yes' ] || fail "user: $kept groups, layer $layer, said $said" ;;
    "$plain") [ "$layer $said" = 'yes no' ] || fail "user without: layer $layer, said $said" ;;
    esac
done
doctor() { setpriv "$@" env HOME="$stage/home" TMPDIR="$stage/work" "$stage/bin/sb-doctor" --data-dir "$stage/work/data" 2>&1 | grep '"name":"groups"' || true; }
# shellcheck disable=SC2086 # words
[[ $(doctor $user) == *"keeps the caller's supplementary groups"*$group* ]] || fail "sb-doctor says nothing of a user's groups: $(doctor $user)"
# shellcheck disable=SC2086
[[ $(doctor $root) == *'no supplementary group'* ]] || fail "sb-doctor says of root's: $(doctor $root)"
[ $failed = 0 ] && echo 'no key was read, no group of root'\''s was there'
exit $failed
