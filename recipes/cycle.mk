# SPDX-License-Identifier: MIT
# One full cycle over a command: presets, runs, ranking.
#
#   make -f recipes/cycle.mk CMD='./my-program --flag' [OUT=cycle] [REPEAT=5] [SEED=7] [PRESETS='--canonical'] [BIN=/usr/bin]
#
# If it is killed, run the same command again: it makes only the missing runs. A larger REPEAT adds runs. Other presets, seeds or
# options of sb-exec, or a smaller REPEAT, start again and move the earlier runs aside. Another CMD needs another OUT.
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

# What the files in OUT were made from. make itself writes it, so quotes do no harm.
define asked
CMD=$(CMD)
REPEAT=$(REPEAT)
SEED=$(SEED)
PRESETS=$(PRESETS)
EXEC=$(EXEC)
endef
$(OUT):
	@mkdir -p $@
# Changes only if the question changes.
$(OUT)/asked: always | $(OUT)
	$(file >$@.new,$(asked))
	@if cmp -s $@.new $@; then exec rm $@.new; fi; \
	of() { sed -n "s/^$$2=//p" "$$1"; }; \
	if ! test -s $(OUT)/runs.jsonl; then :; \
	elif ! test -e $@ || test "$$(of $@ CMD)" != "$$(of $@.new CMD)"; then \
	    echo "cycle: $(OUT) holds runs of another workload$$(test -e $@ && echo ", $$(head -n 1 $@)"); give another OUT, or remove $(OUT)" >&2; rm $@.new; exit 2; \
	elif test "$$(grep -v ^REPEAT= $@)" != "$$(grep -v ^REPEAT= $@.new)" || test "$$(of $@ REPEAT)" -gt "$$(of $@.new REPEAT)"; then \
	    n=1; while test -e $(OUT)/runs-$$n.jsonl; do n=$$((n + 1)); done; \
	    mv $(OUT)/runs.jsonl $(OUT)/runs-$$n.jsonl && echo "cycle: presets, seed or options changed, or REPEAT is smaller; the earlier runs are now in $(OUT)/runs-$$n.jsonl" >&2; \
	fi && mv $@.new $@

$(OUT)/presets.jsonl: $(OUT)/asked
	@$(bin)sb-presets $(PRESETS) --with-baseline --seed $(SEED) > $@

# Records are appended one by one; existing ones are not made again. The stamp says that none is missing.
$(OUT)/runs.done: $(OUT)/presets.jsonl $(OUT)/asked
	@touch $(OUT)/runs.jsonl
	@$(bin)sb-exec --repeat $(REPEAT) --seed $(SEED) --resume $(OUT)/runs.jsonl $(EXEC) -- $(CMD) < $(OUT)/presets.jsonl >> $(OUT)/runs.jsonl
	@touch $@

$(OUT)/rank.jsonl: $(OUT)/runs.done always
	@$(bin)sb-rank $(RANK) $(OUT)/runs.jsonl > $@
