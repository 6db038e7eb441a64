#!/bin/bash
# SPDX-License-Identifier: MIT
# A server on loopback: written, read, saved in the background, appended to a log, shut down, and read again from what was saved.
# needs: command -v redis-server && command -v redis-cli
# prints: OK
# prints: world
# prints: 10000
# prints: Background saving started
# prints: 10000 again
set -euo pipefail
mkfifo log
start() {
    redis-server --port 6379 --bind 127.0.0.1 --dir "$PWD" --appendonly no --save '' >log &
    server=$!
    exec 3<log
    said 'Ready to accept connections'
}
said() { # waits for a line of the server's log
    while read -r line <&3; do
        echo "$line" >&2
        [[ $line != *"$1"* ]] || return 0
    done
    return 1
}
start
redis-cli set hello world
redis-cli get hello
for ((n = 0; n < 10000; ++n)); do echo "SET key:$n $n"; done | redis-cli --pipe >&2
redis-cli eval 'return #redis.call("keys", "key:*")' 0
redis-cli bgsave
said 'Background saving terminated with success'
redis-cli shutdown nosave
cat <&3 >&2
wait $server
start
echo "$(redis-cli eval 'return #redis.call("keys", "key:*")' 0) again"
redis-cli shutdown nosave
cat <&3 >&2
wait $server
