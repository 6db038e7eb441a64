#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No test asks our own code whether it may be skipped: were that broken, the test would be skipped for it. Only the kernel may say so
# (tests/support/kernel.hpp). skips.sh [TESTS]: the lines above a skip, and the skip, name no tool, record or function of ours.
set -u
tests=${1:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$tests" || exit 2
bad=$(find . -name '*.sh' -o -name '*.hpp' -o -name '*.cpp' | grep -v '^./meta/skips' | xargs awk '
    FNR == 1 { delete seen }
    { seen[FNR] = $0 ~ /^[[:space:]]*(\/\/|#)/ ? "" : $0 }
    # a skip, and what decides about it: the line itself, the one before it, and two more up to an opening of a block
    !/^[[:space:]]*(\/\/|#)/ && /SKIPPED|skipped: |exit 77|verdict skipped|[^a-z_]skip [\047"]|[^a-z_]skip\(/ && !/skip\(\) \{|void skip/ {
        decides = $0
        for (i = FNR - 1; i >= FNR - 3 && i > 0 && seen[i] !~ /^ *}|TEST_CASE|REQUIRE/; i--) decides = seen[i] "\n" decides
        if (decides ~ /sb-(exec|doctor|rank|stat)|has_error\(\)|\.error\(\)|why_not|why_no_|(sandbox|cgroup|filter|files|machine|process|watch|local)::|landlock_version|choose_payload|cannot be had here|\$stage\/(err|record)|\$record|->?what|CONFIG_INET" ?\)/ &&
            decides !~ /kernel_gives|kernel::/) { print FILENAME ":" FNR ": " $0 }
    }')
[ -z "$bad" ] || { printf '%s\n' "$bad"; echo 'ask tests/support/kernel.hpp or kernel_gives'; exit 1; }
if grep -n '#include.*[<"]sb/' support/kernel.hpp support/kernel_gives.cpp; then echo 'what asks the kernel uses our own code'; exit 1; fi
