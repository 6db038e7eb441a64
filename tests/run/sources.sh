#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sources.sh BIN: whose bytes and whose time a figure is of is what `sources` says: the tree's, killed orphans and
# all, but for processes that nobody waits for, which only a control group knows.
. "$(dirname "$0")/../support/script.sh"
needs isolation jq
mkdir "$stage/work" && cd "$stage/work"
run() { # SCRIPT
    "$bin/sb-exec" --data-dir "$stage/data" --isolate "$how" -- /bin/sh -c "$1" </dev/null >"$stage/record" 2>"$stage/err" && return
    fail "$how: $(cat "$stage/err")"
}
holds() { jq -e "$1" "$stage/record" >/dev/null || fail "$how, $2: $(jq -c '[.end, .left_running, .cpu_user_s, .cpu_sys_s, .read_logical_bytes, .write_logical_bytes, .sources]' "$stage/record")"; }

burn='i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
write='head -c 1000000 /dev/zero >/dev/null'
for how in full basic; do
    run true
    holds '. as $r | .sources | keys | all(. as $name | $r | has($name))' 'a source for what is no figure'
    holds '.sources.write_logical_bytes | startswith("/proc/PID/io, all processes that were waited for")' 'the source of logical bytes'
    holds '.write_logical_bytes == 0 and .read_logical_bytes < 100000' 'a program that writes nothing'
    run "$write; $write & wait"
    holds '.write_logical_bytes == 2000000 and .read_logical_bytes >= 2000000 and .read_logical_bytes < 2200000' 'children'
    run "(sh -c 'echo \$\$ >pid.new; mv pid.new pid; sleep 0.1; $write; $burn' &); while [ ! -e pid ]; do sleep 0.05; done; while kill -0 \$(cat pid) 2>/dev/null; do sleep 0.05; done; rm pid"
    holds '.left_running == 0 and .write_logical_bytes >= 1000000 and .write_logical_bytes < 1010000 and .cpu_user_s + .cpu_sys_s > 0.02' 'an orphan that ended'
    run "($write; $burn; echo >made; sleep 60) & while [ ! -e made ]; do sleep 0.05; done; rm made"
    holds '.left_running >= 1 and .write_logical_bytes >= 1000000 and .write_logical_bytes < 1010000 and .cpu_user_s + .cpu_sys_s > 0.02' 'an orphan that was killed'
    if perl -e 1 2>/dev/null; then
        # its parent ignores SIGCHLD: the kernel throws its figures away, but not those of a control group
        run "perl -e '\$SIG{CHLD} = \"IGNORE\"; if (fork() == 0) { open(F, \">\", \"/dev/null\"); syswrite(F, \"x\" x 1000000); for (my \$i = 0; \$i < 3000000; \$i++) {} exit 0 } wait'"
        holds '.write_logical_bytes == 0' 'a process that nobody waited for'
        holds 'if .sources.cpu_user_s | startswith("control group") then .cpu_user_s + .cpu_sys_s > 0.03 else .cpu_user_s + .cpu_sys_s < 0.03 end' 'the time of a process that nobody waited for'
    fi
done
exit $failed
