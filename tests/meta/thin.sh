#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A tool is a declaration and a call: its file has at most 150 lines, its main at most 15 with head and closing brace.
# What it does stands in include/sb/app, where a test reaches it. thin.sh [FOLDER]
set -u
cd "${1:-$(dirname "$0")/../../tools}" || exit 2
bad=0
for file in sb*.cpp; do
    lines=$(wc -l <"$file")
    main=$(awk '/^int main\(/ { inside = 1 } inside { ++n } inside && /^}/ { exit } END { print n + 0 }' "$file")
    ((lines <= 150)) || { echo "tools/$file has $lines lines: at most 150"; bad=1; }
    ((main >= 1 && main <= 15)) || { echo "tools/$file: main has $main lines: 1 to 15"; bad=1; }
done
exit $bad
