# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What probes/run.sh, victims/run.sh and programs/run.sh begin with; each names its own options in `flags` before it sources this.
# [--bin FOLDER] [--nobody] [FLAG…]: `bin` is the folder of the tools, `given` the flags that were given, "$@" what is left;
# --nobody runs the script as a user without rights. `stage` is a folder that goes away.
here=$(cd "$(dirname "$0")" && pwd)
bin=${SB_BIN:-$here/../../build/bin} nobody=no given=' '
while :; do
    case ${1-} in
    --bin) bin=${2:?the folder of the tools} && shift 2 && continue ;;
    --nobody) nobody=yes && shift && continue ;;
    esac
    case " $flags " in *" ${1:-none} "*) given="$given$1 " && shift ;; *) break ;; esac
done
bin=$(cd "$bin" && pwd) && [ -x "$bin/sb-exec" ] || { echo "run.sh: there is no sb-exec in $bin" >&2; exit 2; }
# shellcheck disable=SC2086 # words are meant
[ $nobody = no ] || exec "$here/../support/as_nobody.sh" "$bin" "$here/run.sh" --bin "$bin" $given "$@"
stage=$(mktemp -d) || exit 2
trap 'chmod -R u+rwX "$stage" 2>/dev/null; rm -rf "$stage"' EXIT
trap 'exit 130' INT TERM HUP
chmod 755 "$stage"
