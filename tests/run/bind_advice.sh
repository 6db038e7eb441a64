#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bind_advice.sh BIN [--nobody]: what the error for a command out of sight advises, followed word by word, makes the command
# run as it does outside: with the libraries beside it, its interpreter, and whatever links lead to.
. "$(dirname "$0")/../support/script.sh"
needs isolation jq python3
rm -rf "$stage" # another place is needed
if [ "$(id -u)" = 0 ] && [ "${2-}" != --in-opt ]; then # a /opt of our own, gone with us; not /tmp, of which a sandbox has its own
    # shellcheck disable=SC2016 # for the other shell
    exec unshare --mount --propagation private bash -c 'mount -t tmpfs -o mode=755 tmpfs /opt && exec "$0" "$1" --in-opt "$2"' "$0" "$bin" "${2-}"
fi
if [ "$(id -u)" = 0 ] && [ "${3-}" = --nobody ]; then
    TMPDIR=/opt exec "$(dirname "$0")/../support/as_nobody.sh" "$bin" "$0" "$bin"
fi
[ "${2-}" != --nobody ] || needs root
[ "$(id -u)" = 0 ] && stage=/opt || stage=$HOME
stage=$(mktemp -d "$stage/advice-XXXXXX")
case $stage in /tmp/* | /var/tmp/*) skip 'needs a folder of the caller outside of /tmp' ;; esac
chmod 755 "$stage"
home=$stage/home opt=$stage/opt
mkdir -p "$home/work" "$opt"
cd "$home/work"
export HOME=$home TMPDIR=$home

exec_of() { "$bin/sb-exec" --data-dir "$home/data" "$@" </dev/null; }
follow() { # NAME ADVICE OUTPUT COMMAND…: refused, with this advice and no other; which then makes it print that
    local name=$1 advice=$2 output=$3 status=0
    shift 3
    exec_of -- "$@" >record 2>err || status=$?
    [ $status = 2 ] && [ "$(wc -l <err)" = 1 ] || fail "$name: status $status: $(cat err)"
    local given
    given=$(sed -nE 's#.* visible in the sandbox; (--bind .*) shows? it$#\1#p' err)
    [ "$given" = "$advice" ] || fail "$name: advises \"$given\" where \"$advice\" is right: $(cat err)"
    # shellcheck disable=SC2086 # words of options
    exec_of $given -- "$@" >record 2>err || fail "$name: $(cat err)"
    [ "$(jq -r .stdout.head record)" = "$output" ] || fail "$name: with the advice it ends as $(jq -c '[.end, .stdout.head, .stderr.head]' record)"
}

# a program alone, and one whose prefix is the home
mkdir -p "$opt/one" "$home/bin"
printf '#!/bin/sh\necho alone\n' >"$opt/one/tool" && chmod +x "$opt/one/tool" && cp "$opt/one/tool" "$home/bin/tool"
follow 'a program alone' "--bind $opt/one:$opt/one:ro" alone "$opt/one/tool"
follow 'a bin of the home' "--bind $home/bin:$home/bin:ro" alone "$home/bin/tool"
mkdir -p "$home/lib"
follow 'a bin and a lib of the home' "--bind $home/bin:$home/bin:ro --bind $home/lib:$home/lib:ro" alone "$home/bin/tool"
mkdir -p "$home/.local/bin" "$home/.local/lib" "$home/.local/share" && cp "$opt/one/tool" "$home/.local/bin/tool"
follow 'what pip installs for a user' "--bind $home/.local/bin:$home/.local/bin:ro --bind $home/.local/lib:$home/.local/lib:ro" alone "$home/.local/bin/tool"

# a program that looks beside itself, reached by links of names and of folders
mkdir -p "$opt/x-1.0/bin" "$opt/x-1.0/lib" "$opt/links" && ln -s x-1.0 "$opt/x"
echo beside >"$opt/x-1.0/lib/data"
printf '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../lib/data"\n' >"$opt/x-1.0/bin/tool" && chmod +x "$opt/x-1.0/bin/tool"
ln -s "$opt/x-1.0/bin/tool" "$opt/links/tool"
follow 'a prefix' "--bind $opt/x-1.0:$opt/x-1.0:ro" beside "$opt/x-1.0/bin/tool"
follow 'a link from elsewhere' "--bind $opt/links:$opt/links:ro --bind $opt/x-1.0:$opt/x-1.0:ro" beside "$opt/links/tool"

# a virtual environment of Python, its interpreter copied and linked; of a Python that is in sight, and of one that is not
python3=$(command -v python3 || true)
for python in /usr/bin/python3 "$python3"; do
    "$python" -c 'import venv' 2>/dev/null || { echo "bind_advice: \"$python\" makes no virtual environments: left out"; continue; }
    base=$("$python" -c 'import os, sys; print(os.path.realpath(sys.base_prefix))')
    case $base in /usr | /usr/*) beside= ;; *) beside=" --bind $base:$base:ro" ;; esac
    for how in copies symlinks; do
        env=$opt/$how$(echo "$python" | tr / -)/env
        "$python" -m venv --without-pip --$how "$env"
        site=$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
        echo 'print("from the environment")' >"$site/only_here.py"
        printf '#!%s/bin/python\nimport only_here\n' "$env" >"$env/bin/tool" && chmod +x "$env/bin/tool"
        advice="--bind $env:$env:ro$beside"
        follow "a virtual environment ($python, $how)" "$advice" 'from the environment' "$env/bin/python" -c 'import only_here'
        follow "a script of it ($python, $how)" "$advice" 'from the environment' "$env/bin/tool"
        cp "$env/bin/tool" script
        follow "a script that it interprets ($python, $how)" "$advice" 'from the environment' ./script
    done
    [ "$python" != "$python3" ] || break
done
exit $failed
