#!/bin/bash
# SPDX-License-Identifier: MIT
# numpy's linear algebra on its threads, and a pool of processes that share an array. The numbers 1 to 8 squared sum to 204.
# needs: python3 -c 'import numpy'
# prints: solved
# prints: 204 from a pool
# prints: 45 in shared memory
set -euo pipefail
cat >main.py <<'CODE'
import multiprocessing
from multiprocessing import shared_memory

import numpy


def square(n):
    return n * n


def fill(name, start):
    memory = shared_memory.SharedMemory(name=name)
    numpy.ndarray(10, dtype=numpy.int64, buffer=memory.buf)[start:start + 5] = range(start, start + 5)
    memory.close()


if __name__ == "__main__":
    a = numpy.random.default_rng(7).random((500, 500)) + 500 * numpy.eye(500)
    x = numpy.arange(500.0)
    print("solved" if numpy.allclose(numpy.linalg.solve(a, a @ x), x) else "not solved")
    with multiprocessing.Pool(4) as pool:
        print(sum(pool.map(square, range(1, 9))), "from a pool")
    memory = shared_memory.SharedMemory(create=True, size=80)
    children = [multiprocessing.get_context("spawn").Process(target=fill, args=(memory.name, start)) for start in (0, 5)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    print(int(numpy.ndarray(10, dtype=numpy.int64, buffer=memory.buf).sum()), "in shared memory")
    memory.close()
    memory.unlink()
CODE
python3 main.py
