#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No two functions have ten lines' worth of code that is the same but for names, numbers and texts: what is written twice is to be
# one. Lines are of any length, so ten lines are 130 names and signs; braces alone are no line; a name stands for the same name
# throughout. twins.sh [FOLDER]...
set -u
cd "$(dirname "$0")/../.." || exit 2
[ $# -gt 0 ] || set -- include tools tests bench
find "$@" -name '*.hpp' -o -name '*.cpp' | LC_ALL=C sort | xargs awk -v most=130 '
    # lines of code, each name as its number in the order in which names come
    function renamed(from, to,    i, rest, name, known, count, text) {
        count = 0; text = ""
        for (i = from; i <= to; i++) {
            rest = code[i]
            while (match(rest, /[A-Za-z_][A-Za-z_0-9]*/)) {
                name = substr(rest, RSTART, RLENGTH)
                if (!(name in known)) known[name] = (name in words) ? name : ++count
                text = text substr(rest, 1, RSTART - 1) known[name] " "
                rest = substr(rest, RSTART + RLENGTH)
            }
            text = text rest "\n"
        }
        return text
    }
    BEGIN {
        split("if else for while do return switch case break continue auto const constexpr static new delete void bool int char double float long unsigned signed short true false nullptr sizeof this throw try catch", list)
        for (i in list) words[list[i]]
    }
    FNR == 1 { depth = 0; outside = -1; raw = "" }
    raw != "" { at = index($0, raw); if (!at) next; $0 = substr($0, at + length(raw)); raw = "" }
    {
        line = $0
        if (match(line, /R"[A-Za-z]*\(/)) { # a raw text may go on for lines
            end = ")" substr(line, RSTART + 2, RLENGTH - 3) "\""
            front = substr(line, 1, RSTART - 1); behind = substr(line, RSTART + RLENGTH)
            if (at = index(behind, end)) line = front "\"\"" substr(behind, at + length(end)); else { raw = end; line = front "\"\"" }
        }
        gsub(/"([^"\\]|\\.)*"/, "\"\"", line); gsub(/\047([^\047\\]|\\.)\047/, "0", line); sub(/\/\/.*/, "", line)
        if (line ~ /^[ \t]*#/) next
        gsub(/[ \t]+/, " ", line); sub(/^ /, "", line); sub(/ $/, "", line)
        opened = gsub(/\{/, "{", line); closed = gsub(/\}/, "}", line)
        if (outside < 0 && line ~ /\{$/ && line ~ /\)/ && line !~ /^(namespace|struct|class|enum|union|extern) /) {
            outside = depth; begin = n + 1 # of a function
        } else if (outside >= 0 && depth + opened - closed > outside && line ~ /[A-Za-z]/) {
            gsub(/([^A-Za-z_0-9]|^)[0-9][A-Za-z_0-9.\047]*/, "&#", line)
            while (match(line, /[0-9][A-Za-z_0-9.\047]*#/)) line = substr(line, 1, RSTART - 1) "#" substr(line, RSTART + RLENGTH)
            code[++n] = line; gsub(/[A-Za-z_][A-Za-z_0-9]*/, "i", line); gsub(/ /, "", line); shape[n] = line
            place[n] = FILENAME ":" FNR; owner[n] = begin
            key = ""
            for (i = n; i >= begin && length(key) < most; i--) key = shape[i] "\n" key
            if (length(key) >= most) {
                other = last[key]; last[key] = n; size = n - i
                if (other && owner[other] != begin && !((owner[other], begin) in told) && renamed(other - size + 1, other) == renamed(i + 1, n)) {
                    print place[other - size + 1] " and " place[i + 1] ": " size " lines are the same but for their names"
                    told[owner[other], begin] = 1; bad = 1
                }
            }
        }
        depth += opened - closed
        if (outside >= 0 && depth <= outside) outside = -1
    }
    END { exit bad }'
