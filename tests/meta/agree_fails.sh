#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# agree.sh hears of a tool whose help shows an option that nothing else knows. agree_fails.sh BIN
set -u
bin=$(cd "${1:?the folder of the tools}" && pwd) || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
ln -s "$bin/sb" "$work/sb"
cat >"$work/sb-rank" <<END
#!/bin/sh
"$bin/sb-rank" "\$@" || exit
[ "\$1" != --help ] || echo '  --nobody-knows NAME     an option of this help alone'
END
chmod +x "$work/sb-rank"
"$(dirname "$0")/agree.sh" "$work" >"$work/said" && { echo 'agree.sh says that all is well:'; cat "$work/said"; exit 1; }
bad=0
for view in 'the manual page' docs/reference/sb-rank.md 'the completion for bash' 'the completion for zsh' 'the completion for fish' --explain; do
    grep -qF -- "sb-rank: --help and $view differ:" "$work/said" || { echo "agree.sh does not say that $view differs"; bad=1; }
done
[ "$(grep -c -- '^[<>] ' "$work/said")" = "$(grep -c -- '^< --nobody-knows$' "$work/said")" ] || { echo 'and something else differs:'; cat "$work/said"; bad=1; }
exit $bad
