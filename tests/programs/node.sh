#!/bin/bash
# SPDX-License-Identifier: MIT
# A worker thread's sum, sent by a server on loopback over 50 connections at once. The sum of 1 to 1000 is 500500.
# needs: command -v node
# prints: 50 answers of 500500
set -euo pipefail
cat >main.js <<'CODE'
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads')
const http = require('http')
if (!isMainThread) {
  let sum = 0
  for (let n = 1; n <= workerData; ++n) sum += n
  parentPort.postMessage(sum)
} else {
  new Worker(__filename, { workerData: 1000 }).on('message', sum => {
    const server = http.createServer((request, response) => response.end(String(sum)))
    server.listen(0, '127.0.0.1', async () => {
      const url = `http://127.0.0.1:${server.address().port}/`
      const ask = () => new Promise((resolve, reject) =>
        http.get(url, { agent: false }, answer => {
          let text = ''
          answer.on('data', chunk => { text += chunk }).on('end', () => resolve(text))
        }).on('error', reject))
      const answers = await Promise.all(Array.from({ length: 50 }, ask))
      console.log(`${answers.length} answers of ${[...new Set(answers)]}`)
      server.close()
    })
  })
}
CODE
node main.js
