#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What docs/how-to/embed.md shows is the program that the tests build and run.
set -u
cd "$(dirname "$0")/../.." || exit 2
awk '/^```cpp$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' docs/how-to/embed.md |
    diff -u --label 'docs/how-to/embed.md' --label tests/consumer/confine.cpp - tests/consumer/confine.cpp
