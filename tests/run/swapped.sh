#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# swapped.sh BIN SWAP [--shown]: whoever owns a folder above root's workspace, binding or --root, and exchanges what leads there
# all the time, is shown nothing that was not named. With --shown it must have been shown, as an unguarded sb-exec does it.
. "$(dirname "$0")/../support/script.sh"
needs root
swap=${2:?usage: swapped.sh BIN SWAP} wanted=${3-}
racer=
stop() { # the racer ends when nobody holds the other end of its input
    exec {feed}>&- 2>/dev/null || true
    [ -z "$racer" ] || wait "$racer" || true
    racer=
}
trap 'stop; cd /; rm -rf "$stage"' EXIT
cp "$swap" "$stage/swap"
feed=

# Root's own, closed to all: in a folder that the attacker can only name, and in one that lies where the attacker may rename.
token=secret$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
mkdir -m 755 "$stage/open" && mkdir -m 700 "$stage/private" "$stage/data"
echo "$token" >"$stage/private/secret" && chmod 600 "$stage/private/secret"
mkdir "$stage/private/inner" && echo "$token" >"$stage/private/inner/secret" # open, behind what is closed: a binding keeps its owners
mkdir "$stage/theirs" "$stage/theirs/own" "$stage/theirs/own/inner"
echo harmless >"$stage/theirs/own/secret" && cp "$stage/theirs/own/secret" "$stage/theirs/own/inner"
ln -s "$stage/private" "$stage/theirs/link"
chown -hR 65534:65534 "$stage/theirs"
mkdir -m 700 "$stage/theirs/roots" && cp -a "$stage/private/." "$stage/theirs/roots"

race() { # ONE OTHER [--gone]: exchanges them from here on
    mkfifo "$stage/feed" "$stage/word"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$stage/swap" "$@" <"$stage/feed" >"$stage/word" &
    racer=$!
    exec {feed}>"$stage/feed"
    read -r _ <"$stage/word" || fail "the racer does not race"
    rm "$stage/feed" "$stage/word"
}
tries() { # WHAT COUNT OPTION...: runs in the current folder that print a secret of root's
    local what=$1 count=$2 seen=0 ended=0
    shift 2
    for ((i = 0; i < count; ++i)); do
        out=$("$bin/sb-exec" --data-dir "$stage/data" "$@" </dev/null 2>>"$stage/err") || true
        case $out in *"$token"*) seen=$((seen + 1)) ;; esac
        case $out in *'"class":"ok"'*) ended=$((ended + 1)) ;; esac
    done
    echo "$what: $seen of $count runs showed it, $ended ended well"
    [ "$wanted" = --shown ] || [ $seen = 0 ] || fail "$what: $seen of $count runs showed what was not named"
    all_seen=$((all_seen + seen)) all_ended=$((all_ended + ended))
}
all_seen=0 all_ended=0

# the current folder is where it was when root went there; the shell's `cd .` would go there by its name
cd "$stage/theirs/own"
race "$stage/theirs/own" "$stage/theirs/link"
tries 'the current folder, for a link' 40 -- cat secret
stop
race "$stage/theirs/own" "$stage/theirs/roots"
tries "the current folder, for one of root's" 40 -- cat secret
# who looks whose it is by its name and then reads there by its name is shown it: the race can be won
careless=0
for ((i = 0; i < 50000 && careless == 0; ++i)); do
    if [[ ! -O $stage/theirs/own ]] && read -r line <"$stage/theirs/own/secret" && [ "$line" = "$token" ]; then careless=1; fi
done 2>/dev/null
[ $careless = 1 ] || fail "nobody who is careless was shown it in $i tries: the race shows nothing"
stop
[ "$wanted" = --shown ] || [ $all_ended -gt 8 ] || fail "only $all_ended of 80 runs in the current folder ended well: $(tail -1 "$stage/err")"
cd "$stage/open"
race "$stage/theirs/own" "$stage/theirs/link"
tries 'a named workspace' 20 --work "$stage/theirs/own" -- cat secret
tries 'a binding' 20 --bind "$stage/theirs/own/inner:/bound:ro" -- cat /bound/secret
# a file of the attacker's, for a link to root's
echo harmless >"$stage/theirs/input" && ln -s "$stage/private/secret" "$stage/theirs/to-secret" && chown -h 65534:65534 "$stage/theirs/input" "$stage/theirs/to-secret"
stop
race "$stage/theirs/input" "$stage/theirs/to-secret"
tries 'standard input' 20 --repeat 3 --stdin "$stage/theirs/input" -- cat
stop
race "$stage/theirs/input" "$stage/theirs/to-secret" --gone
tries 'standard input that is gone for a moment' 60 --repeat 3 --stdin "$stage/theirs/input" -- cat
stop
[ "$wanted" != --shown ] || [ $all_seen -gt 0 ] || fail "nobody was shown it: the race shows nothing"
exit $failed
