# SPDX-License-Identifier: MIT
# One full cycle over a command: presets, runs, ranking.
#
#   make -f recipes/cycle.mk CMD='./my-program --flag' [OUT=cycle] [REPEAT=5] [SEED=7] [PRESETS='--canonical'] [BIN=/usr/bin]
#
# Killed at any time, the same command goes on where it stopped: runs that are written are not made again, and a larger REPEAT
# adds to them. Other presets, seeds or options of sb-exec begin anew; the runs of before are set aside. Another CMD wants an OUT of its own.
OUT     ?= cycle
REPEAT  ?= 5
SEED    ?= 7
PRESETS ?= --canonical
EXEC    ?=
RANK    ?= --by scenario --sort mean
BIN     ?=
bin     := $(if $(BIN),$(BIN)/)
$(if $(strip $(CMD)),,$(error cycle: say what to run: CMD='./my-program --flag'))

.DELETE_ON_ERROR:
.PHONY: cycle always
cycle: $(OUT)/rank.jsonl
	@$(bin)sb-rank $(RANK) --format table $(OUT)/runs.jsonl

# What the folder's files are of, in make's own hand: a quote in it is no matter.
define asked
CMD=$(CMD)
REPEAT=$(REPEAT)
SEED=$(SEED)
PRESETS=$(PRESETS)
EXEC=$(EXEC)
endef
$(OUT):
	@mkdir -p $@
# Changed only when the question is.
$(OUT)/asked: always | $(OUT)
	$(file >$@.new,$(asked))
	@if cmp -s $@.new $@; then exec rm $@.new; fi; \
	of() { sed -n "s/^$$2=//p" "$$1"; }; \
	if ! test -s $(OUT)/runs.jsonl; then :; \
	elif ! test -e $@ || test "$$(of $@ CMD)" != "$$(of $@.new CMD)"; then \
	    echo "cycle: $(OUT) holds runs of another workload$$(test -e $@ && echo ", $$(head -n 1 $@)"): name another OUT, or remove it" >&2; rm $@.new; exit 2; \
	elif test "$$(grep -v ^REPEAT= $@)" != "$$(grep -v ^REPEAT= $@.new)" || test "$$(of $@ REPEAT)" -gt "$$(of $@.new REPEAT)"; then \
	    n=1; while test -e $(OUT)/runs-$$n.jsonl; do n=$$((n + 1)); done; \
	    mv $(OUT)/runs.jsonl $(OUT)/runs-$$n.jsonl && echo "cycle: something else was asked: the runs of before are in $(OUT)/runs-$$n.jsonl" >&2; \
	fi && mv $@.new $@

$(OUT)/presets.jsonl: $(OUT)/asked
	@$(bin)sb-presets $(PRESETS) --with-baseline --seed $(SEED) > $@

# Records are appended as they come; what is there is not run again. The stamp says that none is missing.
$(OUT)/runs.done: $(OUT)/presets.jsonl $(OUT)/asked
	@touch $(OUT)/runs.jsonl
	@$(bin)sb-exec --repeat $(REPEAT) --seed $(SEED) --resume $(OUT)/runs.jsonl $(EXEC) -- $(CMD) < $(OUT)/presets.jsonl >> $(OUT)/runs.jsonl
	@touch $@

$(OUT)/rank.jsonl: $(OUT)/runs.done always
	@$(bin)sb-rank $(RANK) $(OUT)/runs.jsonl > $@
