# SPDX-License-Identifier: MIT
# The main use, on a bundled program with a planted weakness: which scenario hurts it most, and by how much?
#
#   make demo            (or: make -f recipes/demo.mk BIN=build/bin)
BIN  ?= build/bin
OUT  ?= build/demo
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

.PHONY: demo
demo:
	@sh $(here)/demo.sh '$(BIN)' '$(OUT)' '$(here)/sample'
