#!/bin/bash
# SPDX-License-Identifier: MIT
# A repository of 50 commits, cloned with hard links and over a pipe, packed, and looked over.
# needs: command -v git
# prints: 50 commits
# prints: 50 commits in the clone
# prints: 50 commits over a pipe
# prints: 0 loose objects
set -euo pipefail
git init -q -b main origin
git -C origin config user.name somebody
git -C origin config user.email somebody@localhost
for n in {1..50}; do
    seq "$n" $((n + 200)) >origin/numbers
    git -C origin add numbers
    git -C origin commit -q -m "numbers from $n"
done
echo "$(git -C origin rev-list --count HEAD) commits"
git clone -q origin clone
echo "$(git -C clone rev-list --count HEAD) commits in the clone"
git clone -q --no-local "file://$PWD/origin" piped
echo "$(git -C piped rev-list --count HEAD) commits over a pipe"
git -C origin gc -q --prune=now
git -C origin fsck --strict >&2
echo "$(git -C origin count-objects | sed 's/ .*//') loose objects"
