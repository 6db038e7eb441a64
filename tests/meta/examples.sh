#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs what a manual shows: each block under "# Examples" of tools/NAME.md, in one fresh folder, in order.
# examples.sh BIN NAME
set -u
manual=$(cd "$(dirname "$0")/../../tools" && pwd)/$2.md
export PATH=${1:?the folder of the tools}:$PATH LC_ALL=C.UTF-8
unset "${!SANDBOX_@}"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
HOME=$(mktemp -d) && export HOME && trap 'rm -rf "$work" "$HOME"' EXIT # beside the workspace: a home is never shown
printf '#!/bin/sh\necho "{}"\n' >my-program && chmod +x my-program # what the examples call the user's own
awk -v out="$work/example" '
    /^# / { inside = ($0 == "# Examples"); open = 0 }
    inside && /^    / { if (!open) { n++; open = 1 } print substr($0, 5) > (out "." n) ; next }
    inside && !/^$/ { open = 0 }' "$manual"
ran=0
for example in "$work"/example.*; do
    [ -f "$example" ] || continue
    ran=$((ran + 1))
    if ! timeout 120 bash -o pipefail "$example" >"$work/said" 2>&1 </dev/null; then
        echo "this example of $2 failed:"; cat "$example"; echo "it said:"; head -20 "$work/said"; exit 1
    fi
done
[ $ran -gt 0 ] || { echo "$manual shows no example"; exit 1; }
echo "$ran examples of $2 ran"
