#!/bin/bash
# SPDX-License-Identifier: MIT
# A database with a write-ahead log, two writers at once, and a look at its integrity. The sum of 1 to 2000 is 2001000.
# needs: command -v sqlite3
# prints: wal
# prints: 2000 2001000 ok
set -euo pipefail
sqlite3 numbers.db 'PRAGMA journal_mode=WAL; CREATE TABLE numbers(n INTEGER PRIMARY KEY)'
for from in 1 1001; do # one transaction for every 100 rows
    { echo '.timeout 60000'
        for ((n = from; n < from + 1000; n += 100)); do
            echo "BEGIN IMMEDIATE; WITH RECURSIVE c(i) AS (SELECT $n UNION ALL SELECT i + 1 FROM c WHERE i < $n + 99) INSERT INTO numbers SELECT i FROM c; COMMIT;"
        done; } | sqlite3 -bail numbers.db &
    writers+=($!)
done
for writer in "${writers[@]}"; do wait "$writer"; done
sqlite3 -separator ' ' numbers.db 'SELECT count(*), sum(n), (SELECT * FROM pragma_integrity_check) FROM numbers'
