# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What a script needs, sourced with `bin`, the folder of the tools. Only the kernel may say that there is no isolation (kernel.hpp):
# were our own code asked, a test would be skipped because what it tests is broken. In CI (SB_MUST_ISOLATE) there is isolation, or
# the test has failed.
skip() { echo "SKIPPED: $*"; exit 77; }
kernel_gives() { "$bin/../support/kernel_gives" "$@"; } # isolation | group CONTROLLER
[ -x "$bin/../support/kernel_gives" ] || { echo "$0: $bin/../support/kernel_gives is not built" >&2; exit 2; }
# needs WORD…: root, isolation, or a program
needs() {
    local each why
    for each; do
        case $each in
        root) [ "$(id -u)" = 0 ] || skip 'needs root, who may what others may not' ;;
        isolation)
            why=$(kernel_gives isolation) && continue
            [ -z "${SB_MUST_ISOLATE-}" ] || { echo "$0: isolation must be had here: $why" >&2; exit 1; }
            skip "no isolation here: $why"
            ;;
        *) command -v "$each" >/dev/null || skip "$each is not installed" ;;
        esac
    done
}
