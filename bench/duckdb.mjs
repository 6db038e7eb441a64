// SPDX-License-Identifier: MIT
// duckdb.mjs FILE THREADS: the task of bench/rank.sh in DuckDB, columns named beforehand (its fastest way).
// Prints the seconds of the bare query on standard error.
import { createRequire } from "node:module";
const require = createRequire(process.env.SB_DUCKDB + "/");
const { DuckDBInstance } = require("@duckdb/node-api");
const [file, threads] = process.argv.slice(2);
const instance = await DuckDBInstance.create(":memory:", { threads });
const connection = await instance.connect();
const start = process.hrtime.bigint();
const rows = await connection.runAndReadAll(
  `select scenario, sum(roi) as total, count(*) as n, last(metrics.security_score) as score
   from read_json('${file}', format = 'newline_delimited', columns = {scenario: 'VARCHAR', roi: 'DOUBLE', metrics: 'STRUCT(security_score DOUBLE)'})
   group by scenario order by total desc`);
console.error((Number(process.hrtime.bigint() - start) / 1e9).toFixed(6));
for (const row of rows.getRows()) console.log(row.join(" "));
