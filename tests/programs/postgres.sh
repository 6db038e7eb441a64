#!/bin/bash
# SPDX-License-Identifier: MIT
# A cluster made, started, written to by four clients, crashed, recovered and stopped; its socket is in /tmp. The sum of 1 to 4000
# is 8002000.
# needs: ls /usr/lib/postgresql/*/bin/initdb
# prints: 4000 8002000
# prints: 4000 8002000
set -euo pipefail
for bin in /usr/lib/postgresql/*/bin; do PATH=$bin:$PATH; done
export PGHOST=/tmp PGDATABASE=postgres
trap 'cat server.log >&2' ERR
initdb -D cluster --auth trust >&2
start() { pg_ctl -D cluster -l server.log -o "-k /tmp -c listen_addresses=''" -w start >&2; }
start
psql -q -c 'CREATE TABLE numbers(n int PRIMARY KEY)'
for from in 1 1001 2001 3001; do
    psql -q -c "INSERT INTO numbers SELECT generate_series($from, $from + 999)" &
    clients+=($!)
done
for client in "${clients[@]}"; do wait "$client"; done
psql -qAt -F ' ' -c 'SELECT count(*), sum(n) FROM numbers'
pg_ctl -D cluster -m immediate -w stop >&2
start
psql -qAt -F ' ' -c 'SELECT count(*), sum(n) FROM numbers'
pg_ctl -D cluster -m fast -w stop >&2
