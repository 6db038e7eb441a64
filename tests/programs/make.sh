#!/bin/bash
# SPDX-License-Identifier: MIT
# A parallel build of 24 files with generated dependencies; a second one has nothing to do. The sum of 1 to 24 is 300.
# needs: command -v make && command -v gcc
# prints: 300
# prints: make: 'program' is up to date.
set -euo pipefail
for n in {1..24}; do
    echo "int part$n(void) { return $n; }" >"part$n.c"
    declarations+="int part$n(void); " sum+=" + part$n()"
done
printf '#include <stdio.h>\n%s\nint main(void) { printf("%%d\\n", 0%s); }\n' "$declarations" "$sum" >main.c
cat >Makefile <<'RULES'
objects := $(patsubst %.c,%.o,$(wildcard *.c))
program: $(objects) ; $(CC) -o $@ $^
%.o: %.c ; $(CC) -MMD -c -o $@ $<
-include $(objects:.o=.d)
RULES
make -j8 --output-sync=target >&2
./program
make -j8
