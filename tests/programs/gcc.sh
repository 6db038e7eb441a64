#!/bin/bash
# SPDX-License-Identifier: MIT
# A program, a shared library and an archive, compiled, linked and run. The sum of 1 to 100 is 5050, that of their squares 338350.
# needs: command -v gcc
# prints: 5050 338350
set -euo pipefail
echo 'long sum(long n) { return n ? n + sum(n - 1) : 0; }' >sum.c
echo 'long squares(long n) { return n ? n * n + squares(n - 1) : 0; }' >squares.c
printf '#include <stdio.h>\nlong sum(long); long squares(long);\nint main(void) { printf("%%ld %%ld\\n", sum(100), squares(100)); }\n' >main.c
gcc -pipe -O2 -g -fPIC -shared -o libsum.so sum.c
gcc -O2 -flto -ffat-lto-objects -c squares.c
ar rcs libsquares.a squares.o
gcc -O2 -flto -o program main.c -L. -lsquares -lsum -Wl,-rpath,"$PWD"
./program
