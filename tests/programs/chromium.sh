#!/bin/bash
# SPDX-License-Identifier: MIT
# A page with a frame, a script and a canvas, printed as the browser sees it. The browser's own sandbox wants namespaces, which
# ours refuses: --no-sandbox. Debian's launcher reads its flags from /etc, which is not shown unless asked for. The sum of 1 to 100
# is 5050.
# needs: command -v chromium
# options: --bind /etc/chromium.d
# prints: <p id="sum">5050</p>
# prints: <p id="pixel">255,0,0,255</p>
# prints: <p id="frame">the frame says hello</p>
set -euo pipefail
echo '<!doctype html><script>parent.document.getElementById("frame").textContent = "the frame says hello"</script>' >frame.html
cat >page.html <<'CODE'
<!doctype html><p id="sum">?</p><p id="pixel">?</p><p id="frame">?</p><canvas id="canvas" width="8" height="8"></canvas>
<script>
let sum = 0
for (let n = 1; n <= 100; ++n) sum += n
document.getElementById('sum').textContent = sum
const context = document.getElementById('canvas').getContext('2d')
context.fillStyle = 'red'
context.fillRect(0, 0, 8, 8)
document.getElementById('pixel').textContent = context.getImageData(4, 4, 1, 1).data
</script>
<iframe src="frame.html"></iframe>
CODE
chromium --headless --no-sandbox --allow-file-access-from-files --dump-dom "file://$PWD/page.html" | grep -o '<p id="[a-z]*">[^<]*</p>'
