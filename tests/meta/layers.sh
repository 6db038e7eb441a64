#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Includes go only along the edges of docs/layers.txt, no layer reaches itself around a circle, and none names the detail of another.
set -u
cd "$(dirname "$0")/../.." || exit 2
awk '
    FILENAME == "docs/layers.txt" { if ($2 == "->") { edge[$1, $3] = 1; from[++edges] = $1; to[edges] = $3 } next }
    FILENAME ~ /^include\// && match($0, /^#[ \t]*include[ \t]*[<"]sb\/[a-z]+\//) {
        split(FILENAME, path, "/"); layer = path[3]
        target = substr($0, RSTART, RLENGTH); sub(/.*sb\//, "", target); sub(/\/.*/, "", target)
        if (layer != target && !((layer, target) in edge)) { print FILENAME ":" FNR ": " layer " may not include " target ": see docs/layers.txt"; bad = 1 }
        used[layer, target] = 1
    }
    { # comments are no uses; a layer may name its own detail in full
        sub(/\/\/.*/, ""); split(FILENAME, path, "/"); rest = $0
        while (match(rest, /(^|[^a-z_:])(sb::)?[a-z]+::detail::/)) {
            owner = substr(rest, RSTART, RLENGTH); sub(/^[^a-z]/, "", owner); sub(/^sb::detail/, "core", owner); sub(/^sb::/, "", owner); sub(/::.*/, "", owner)
            if (FILENAME ~ /^include\/sb\// && path[3] != owner || FILENAME ~ /^tools\//) { print FILENAME ":" FNR ": the detail of " owner " is its own"; bad = 1 }
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    END {
        for (i = 1; i <= edges; i++) if (!((from[i], to[i]) in used)) { print "docs/layers.txt: " from[i] " -> " to[i] " is used by no header"; bad = 1 }
        # transitive closure; a layer that reaches itself is a circle
        do { grew = 0
            for (i = 1; i <= edges; i++) for (j = 1; j <= edges; j++)
                if (to[i] == from[j] && !((from[i], to[j]) in edge)) { edge[from[i], to[j]] = 1; edges++; from[edges] = from[i]; to[edges] = to[j]; grew = 1 }
        } while (grew)
        for (i = 1; i <= edges; i++) if (from[i] == to[i]) { print "docs/layers.txt: " from[i] " reaches itself"; bad = 1 }
        exit bad
    }' docs/layers.txt $(find include/sb -name '*.hpp') $(find tools -name '*.?pp')
