#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the probes: run.sh [--bin FOLDER] [--nobody] [--controls] [NUMBER|NAME…]. The tools are in FOLDER (build/bin), the
# probes in ../probes beside it. --nobody: as an unprivileged user, by root. SB_PROBE_OPTIONS is given to sb-exec: with
# "--isolate none" most must break. SB_PROBE_SAYS=1 shows what each probe said, attempt by attempt.
# run.sh --write makes docs/reference/probes.md, run.sh --check-page fails when that page is not what --write would make.
set -u
flags='--write --check-page'
. "$(dirname "$0")/../support/runner.sh"
witness=$bin/../probes/sb-witness
[ -x "$witness" ] || { echo "run.sh: $witness is not built" >&2; exit 2; }
case $given in
*--write*) "$witness" --may-skip "$here/may_skip" --write "$here/../../docs/reference/probes.md"
    exit ;;
*--check-page*)
    "$witness" --may-skip "$here/may_skip" --write - | diff -u "$here/../../docs/reference/probes.md" - && exit 0
    echo 'docs/reference/probes.md is not current: tests/probes/run.sh --write' >&2
    exit 1 ;;
esac
SB_BIN=$bin "$witness" --may-skip "$here/may_skip" "$@"
