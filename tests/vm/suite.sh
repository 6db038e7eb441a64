#!/bin/bash
# SPDX-License-Identifier: MIT
# suite.sh: the suite `vm` of .ci/run: the newest guest, the runner's own tests, then guest.sh in it as root and as nobody.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "vm: skipped: $*"; exit 77; }
"${here%/tests/vm}/scripts/dependencies" --check vm || skip 'install what is missing: scripts/dependencies vm'
"$here/prepare.sh"
"$here/runner.sh"
"$here/run.sh" --time-limit 900 -- "$here/guest.sh"
"$here/run.sh" --time-limit 900 --user nobody -- "$here/guest.sh"
