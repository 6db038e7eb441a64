#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# keys.sh finds a key's name that stands where it should not, in code, in text and in a comment.
# keys_fails.sh BIN
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:?the folder of the tools}" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
echo 'inline bool is_limit(std::string_view key) { return key.ends_with("_LIMIT"); }' >"$work/clean.hpp"
"$here/keys.sh" "$bin" "$work" >"$work/said" || { cat "$work/said"; echo 'keys_fails: a header that names no key is refused' >&2; exit 1; }
for line in 'if (key == "PIDS_LIMIT") return true;' 'say("more than MEMORY_LIMIT allows");' '// TIMEOUT ends the tree.'; do
    echo "$line" >"$work/spelt.hpp"
    if "$here/keys.sh" "$bin" "$work" >"$work/said"; then
        echo "keys_fails: not found: $line" >&2
        exit 1
    fi
    grep -q "spelt.hpp:1:" "$work/said" || { cat "$work/said"; echo "keys_fails: the line is not named: $line" >&2; exit 1; }
done
