# SPDX-License-Identifier: MIT
# One full cycle over a command: presets, runs, ranking.
#
#   make -f recipes/cycle.mk CMD='./my-program --flag' [OUT=cycle] [REPEAT=5] [SEED=7] [PRESETS='--canonical'] [BIN=/usr/bin]
#
# Killed at any time, the same command goes on where it stopped: runs that are written are not made again.
OUT     ?= cycle
REPEAT  ?= 5
SEED    ?= 7
PRESETS ?= --canonical
EXEC    ?=
RANK    ?= --by scenario
BIN     ?=
bin     := $(if $(BIN),$(BIN)/)

.DELETE_ON_ERROR:
.PHONY: cycle
cycle: $(OUT)/rank.jsonl
	@$(bin)sb-rank $(RANK) --format table $(OUT)/runs.jsonl

$(OUT)/presets.jsonl:
	@mkdir -p $(OUT)
	@$(bin)sb-presets $(PRESETS) --with-baseline --seed $(SEED) > $@

# Records are appended as they come; what is there is not run again. The stamp says that none is missing.
$(OUT)/runs.done: $(OUT)/presets.jsonl
	@test -n '$(CMD)' || { echo "cycle: say what to run: CMD='./my-program --flag'" >&2; exit 2; }
	@touch $(OUT)/runs.jsonl
	@$(bin)sb-exec --repeat $(REPEAT) --seed $(SEED) --resume $(OUT)/runs.jsonl $(EXEC) -- $(CMD) < $(OUT)/presets.jsonl >> $(OUT)/runs.jsonl
	@touch $@

$(OUT)/rank.jsonl: $(OUT)/runs.done
	@$(bin)sb-rank $(RANK) $(OUT)/runs.jsonl > $@
