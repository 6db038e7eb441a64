#!/bin/bash
# SPDX-License-Identifier: MIT
# bootstrapped.sh WORK SUITE WHOLE: run by run.sh in namespaces of its own; bootstraps WORK/root and does there what a stranger
# would. WHOLE: yes or no, does root run the tests too?
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=${here%/tests/bare}
work=$1 suite=$2 whole=$3 root=$1/root
trap 'exit 130' INT TERM

start=$(date +%s)
say() { printf -- '-- %4s s  %s\n' "$(($(date +%s) - start))" "$*"; }
fail() { echo "bare: $*" >&2; exit 1; }

# Archives, proxies, certificates and name servers are this machine's, read now.
archives() {
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
        awk '$1 == "Debian" && !seen[$2, $3]++ { print $2, $3 }'
}
[ -n "$(archives)" ] || apt-get -qq update
[ -n "$(archives)" ] || fail "apt knows no Debian archive here (apt-get indextargets)"
mirror=$(archives | awk '$2 !~ /-/ { print $1; exit }')
proxy=$(apt-config dump --format '%v%n' Acquire::http::Proxy)
environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb SB_MUST_ISOLATE=1)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [ -z "${!name-}" ] || environment+=("$name=${!name}")
done

# inside [--offline] COMMAND…: as root in the bare machine, entered by pivot_root
inside() {
    local offline=''
    if [ "$1" = --offline ]; then offline=--net && shift; fi
    unshare --mount --pid --fork --kill-child $offline "$here/enter.sh" "$root" env -i "${environment[@]}" HOME=/root "$@" </dev/null
}
# stranger FOLDER COMMAND: in a clone, as somebody without rights, offline
stranger() { inside --offline runuser -u stranger -- sh -c "cd $1 && $2"; }
# wants STATUS FILE COMMAND…: the command's status is STATUS, its output in FILE
wants() {
    local status=$1 file=$2 got=0
    shift 2
    "$@" >"$work/$file" 2>&1 || got=$?
    [ "$got" = "$status" ] || { grep -E -A 70 '[*]Failed|FAILED:|^WRONG' "$work/$file" | grep -vE ' held *$|Passed|Skipped|Start +[0-9]' | head -n 200 >&2; tail -n 30 "$work/$file" >&2; fail "status $got, not $status: $*"; }
}
has() { grep -qE -e "$2" "$work/$1" || { cat "$work/$1" >&2; fail "no line matches: $2"; }; }
# The demo found what is planted: its table, and the sentence under it.
found_in() {
    has "$1" '^# +scenario +total'
    has "$1" '^concurrency_spike hurts most'
}

say "bootstrap a minimal Debian $suite"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
http_proxy=${http_proxy:-$proxy} debootstrap --variant=minbase ${keyring:+--keyring="$keyring"} "$suite" "$root" "$mirror" \
    >"$work/debootstrap.log" 2>&1 || { tail -n 20 "$work/debootstrap.log" >&2; fail 'debootstrap failed'; }
if [ "$suite" = bookworm ]; then
    archives | while read -r uri release; do echo "deb $uri $release main"; done >"$root/etc/apt/sources.list"
fi
apt-config dump Acquire::http Acquire::https Acquire::Check-Valid-Until >"$root/etc/apt/apt.conf.d/90host" 2>/dev/null || true
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
    mkdir -p "$root/etc/ssl/certs" && cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
fi

# What a clone would bring: what is tracked or could be, as one commit in a bundle.
mkdir "$work/tree"
git -C "$source" -c safe.directory='*' ls-files -z --cached --others --exclude-standard |
    (cd "$source" && xargs -0 -r ls -1d --zero 2>/dev/null || true) |
    tar -C "$source" --null -T - -c | tar -C "$work/tree" -x --no-same-owner
git -C "$work/tree" init -q -b main
git -C "$work/tree" add -A
git -C "$work/tree" -c user.name=bare -c user.email=bare@localhost commit -q -m 'what is tested'
git -C "$work/tree" bundle create -q "$root/srv/sandbench.git" main
mkdir -p "$root/clone" && inside useradd --create-home stranger

older=''
[ "$suite" != bookworm ] || older=libboost-dev # 1.74, which conflicts with the one that we need
say "apt-get install git make $older"
wants 0 apt.log inside sh -c "apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends git make $older"

say 'as somebody without rights: the command to run is printed'
wants 0 clone.log inside runuser -u stranger -- git clone -q -b main /srv/sandbench.git /home/stranger/sandbench
wants 2 refused.log stranger /home/stranger/sandbench 'make demo'
has refused.log '^  apt-get update && apt-get install .*g\+\+.*cmake'
wants 4 refused.log stranger /home/stranger/sandbench 'scripts/dependencies build'
command=$(sed -n 's/^  \(apt-get update && .*\)/\1/p' "$work/refused.log")

say 'as root: git clone, make demo'
nothing=$(date +%s)
wants 0 demo.log inside sh -c 'git clone -q -b main /srv/sandbench.git /clone/sandbench && cd /clone/sandbench && make demo'
table=$(($(date +%s) - nothing))
cat "$work/demo.log"
found_in demo.log
if [ -e "$source/build/deps/simdjson" ]; then # what this machine's archive gave us it gives there too
    wants 0 static.log inside sh -c 'cd /clone/sandbench && test -e build/deps/simdjson && ! ldd build/bin/sb-exec'
fi
say "the table was there $table s after git clone"
if [ -n "$older" ]; then
    has demo.log 'unpacking in build/deps: libboost1.81-dev'
    wants 0 printed.log inside dpkg-query --show --showformat '${Status}' $older
    has printed.log '^install ok installed'
fi
wants 0 printed.log inside sh -c "${command//apt-get install/apt-get install --simulate}"
has printed.log '^0 upgraded, 0 newly installed|, 0 newly installed'

all_there() { # MAKE: what it skipped, no package would let it do
    ! grep -aE 'SKIPPED: (needs [a-z0-9]+($|,)|.* (lacks|is not installed)$)' "$root/clone/sandbench/build/Testing/Temporary/LastTest.log" |
        grep -v 'SKIPPED: needs root,' || fail "$1 skips what a package of its own would let it do"
}
if [ "$whole" = yes ]; then
    say 'make test'
    wants 0 test.log inside sh -c 'cd /clone/sandbench && make test'
    grep -E 'tests passed|Total Test time|Skipped' "$work/test.log" || true
    all_there 'make test'
else # what somebody offline needs is here then, too
    wants 0 test.log inside sh -c 'cd /clone/sandbench && scripts/dependencies build test'
fi

say 'with everything there, as somebody without rights and offline: make demo, make test'
wants 0 own.log inside chown -R stranger /clone/sandbench
wants 0 own.log stranger /clone/sandbench 'make demo'
found_in own.log
left_out='' # by day: what asks the kernel or the processors, which are those outside; the suite `tests` has asked them
[ "$whole" = yes ] || left_out='^(probes/|victims/|witness/|stats/on-|run/(stuck|doubts|swapped))'
wants 0 own.log stranger /clone/sandbench "make test LEAVE_OUT='$left_out'"
all_there 'make test without rights'

say 'a package goes: the command is printed, and sudo runs it'
wants 0 sudo.log inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get -qq remove libyaml-cpp-dev &&
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends sudo && rm -f /etc/sudoers.d/stranger'
wants 2 refused.log stranger /clone/sandbench 'make build'
has refused.log '^  sudo apt-get update && sudo apt-get install .*libyaml-cpp-dev$'
wants 0 sudo.log inside sh -c 'echo "stranger ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/stranger &&
    cd /clone/sandbench && runuser -u stranger -- make build'

say 'in a container or chroot that can do less: make demo'
less() { # a plain chroot (no user namespace can be made there), fewer capabilities, no /sys, no network
    unshare --net chroot "$root" env -i "${environment[@]}" HOME=/root \
        setpriv --bounding-set -sys_admin,-sys_resource,-sys_ptrace,-net_admin,-sys_chroot --no-new-privs "$@" </dev/null
}
mount -t proc proc "$root/proc"
wants 0 less.log less sh -c 'cd /clone/sandbench && make demo'
found_in less.log
has less.log '^Not possible here'
wants 0 less.log less setpriv --reuid stranger --regid stranger --clear-groups sh -c 'cd /clone/sandbench && make demo'
found_in less.log
has less.log '^Not possible here'
umount "$root/proc"
say 'headers go, and what apt knows of the archives: somebody without rights fetches them'
wants 0 headers.log inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get -qq remove librange-v3-dev catch2 && rm -rf /etc/sudoers.d/stranger /var/lib/apt/lists/*'
wants 0 headers.log inside runuser -u stranger -- sh -c 'cd /home/stranger/sandbench && scripts/dependencies build test && cmake -S . -B build'
has headers.log 'unpacking in build/deps: .*librange-v3-dev catch2$'
for found in range-v3 Catch2; do grep -q "^${found}_DIR:PATH=/home/stranger/sandbench/build/deps/" "$root/home/stranger/sandbench/build/CMakeCache.txt" || fail "$found is not that of build/deps"; done
say 'done'
