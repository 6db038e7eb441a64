#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What docs/design.md calls built is there, and what is there it calls built: layers, tools and records.
set -u
cd "$(dirname "$0")/../.." || exit 2
built() { # the lines called built between the headings of two sections
    awk -v from="## $1." -v to="## $2." 'index($0, from) == 1 { inside = 1 } index($0, to) == 1 { exit }
        inside && /^Built/ { on = 1 } inside && /^Planned/ { on = 0 } inside && on' docs/design.md
}
bad=0
same() { # what, what the tree has; the page's on standard input
    diff --label "docs/design.md, $1 built" --label "$1 in the tree" -u - <(printf '%s\n' $2 | sort) || bad=1
}
same layers "$(ls include/sb)" < <(built 4 5 | sed -nE 's/^([a-z]+)  .*/\1/p' | sort)
same tools "$(ls tools | sed -n 's/^\(sb-.*\)\.cpp$/\1/p')" < <(built 5 6 | sed -nE 's/^\| `(sb-[a-z]+)`.*/\1/p' | sort)
records=$(awk '/^## 3/ { inside = 1 } inside && /Built:/ { sub(/.*Built: /, ""); sub(/ Planned:.*/, ""); print; exit }' docs/design.md)
same records "$(ls include/sb/record | sed 's/\.hpp$//')" < <(tr -d '`., ' <<<"${records//,/$'\n'}" | sort)
exit $bad
