# SPDX-License-Identifier: MIT
#
# moonwarp: `make demo` and `make check` are all a newcomer needs; `make help` lists the rest.

# ---- settings: make VARIABLE=value ------------------------------------------------------------------------------
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
OUT     ?= out
ifeq ($(origin CC),default)
CC := $(firstword $(shell command -v gcc clang cc) gcc)
endif
CFLAGS  ?= -O2 -g
LUA     ?= lua5.4
LUA_INC ?= /usr/include/lua5.4
V       ?=
# V=1 shows the commands.
Q       := $(if $(V),,@)

# ---- nothing below needs changing ---------------------------------------------------------------------------------
VERSION := $(shell sed -n 's/^.define MW_VERSION "\(.*\)"/\1/p' core/bind/library.c)
BUNDLE  := moonwarp-$(VERSION)-linux-x86_64

# -Wvla and -Wshadow: stack use and names stay obvious; -Wformat=2: messages hold users' text.
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2 -Wundef \
            -Wwrite-strings
FLAGS    := -std=gnu11 -D_GNU_SOURCE -I. -isystem $(LUA_INC) -fPIC -pthread $(WARNINGS)

# core/mpi is compiled by the mpicc of the machine that it runs on.
SOURCES := $(filter-out core/mpi/%,$(wildcard core/*.c core/*/*.c core/*/*/*.c core/backend/*/*/*.c core/backend/*/*/*/*.c))
PROGRAM := $(wildcard core/host/*.c)
OBJECTS := $(SOURCES:%.c=$(BUILD)/obj/%.o)
SHARED  := $(filter-out $(PROGRAM:%.c=$(BUILD)/obj/%.o),$(OBJECTS))
C_TESTS := $(patsubst tests/c/%.c,$(BUILD)/tests/%,$(wildcard tests/c/test_*.c))
LIBS    := -ldl -lm -pthread
# What the prompt's help shows, and what the language server reads: for all builds in one place, where a checkout looks.
GENERATED := build/generated
# Static where they are installed, so that the program needs nothing but glibc on another machine.
static   = $(if $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a)),-l:lib$(1).a,$(2))
PROGRAM_LIBS = $(call static,lua5.4,-llua5.4) $(call static,edit,-ledit) $(call static,tinfo,-ltinfo) \
               $(call static,bsd,-lbsd) $(call static,md,-lmd) $(if $(SECCOMP),$(call static,seccomp,-lseccomp))
# Optional: without it sandboxes have no filter of system calls. What filter.c is made of then is remembered.
SECCOMP := $(shell $(CC) -include seccomp.h -E -x c /dev/null >/dev/null 2>&1 && echo libseccomp)
FILTER  := $(BUILD)/filter-by-$(or $(SECCOMP),nothing)
# libbsd has names of the C library's, which the linker would export as well.
EXPORTS := -Wl,--dynamic-list=core/host/exports.list -Wl,--exclude-libs=libbsd.a

.PHONY: all demo check check-cluster cluster check-browser studies check-c check-asan check-tsan check-gpu mutants stress bench bench-split generated-text bundle docs docs-check docs-findings docs-features floors lint metrics install uninstall \
        clean help probe programs c-tests
.DELETE_ON_ERROR:

all: programs probe ## build/moonwarp and build/moonwarp.so

programs: $(BUILD)/moonwarp $(BUILD)/moonwarp.so $(GENERATED)/manual.txt

$(GENERATED)/manual.txt: docs/gen.lua docs/api.lua $(wildcard docs/api/*.lua docs/generate/*.lua lua/moonwarp/*.lua) | $(BUILD)/moonwarp
	@mkdir -p $(@D)/meta
	$(Q)MOONWARP_HOME="$(CURDIR)" $(BUILD)/moonwarp run docs/gen.lua -- --into $(@D)

$(BUILD)/moonwarp: $(OBJECTS) core/host/exports.list
	@echo "  link $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXPORTS) -o $@ $(OBJECTS) $(PROGRAM_LIBS) $(LIBS)

# Whole programs are run by the program alone: the module exports none of the calls that they make.
$(BUILD)/moonwarp.so: $(SHARED) core/host/module.map
	@echo "  link $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,--version-script=core/host/module.map -o $@ $(SHARED) $(LIBS)

$(BUILD)/obj/%.o: %.c | $(BUILD)/packages
	@mkdir -p $(@D)
	@echo "  cc   $<"
	$(Q)$(CC) $(FLAGS) -fvisibility=hidden $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/core/host/filter.o: $(FILTER)
$(FILTER):
	@mkdir -p $(@D)
	@rm -f $(BUILD)/filter-by-*
	@touch $@

# NVIDIA's own headers, where the toolkit is installed: our declarations and occupancy rules are compared with them.
CUDA ?= $(firstword $(CUDA_HOME) $(CUDA_PATH) /usr/local/cuda)
$(BUILD)/tests/test_cuda_module $(BUILD)/tests/test_cuda_abi: FLAGS += -idirafter $(CUDA)/include

$(BUILD)/tests/%: tests/c/%.c $(SHARED)
	@mkdir -p $(@D)
	@echo "  test $<"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $(filter %.c %.o,$^) $(call static,lua5.4,-llua5.4) -lcmocka $(LIBS)

# cpu_split as a whole program calls it, timed on the way.
$(BUILD)/bench/split_cost: tests/bench/split_cost.c $(SHARED)
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS) -Wl,--wrap=cpu_split -Wl,--wrap=mw_body_read -MMD -MP -o $@ $(filter %.c %.o,$^) $(call static,lua5.4,-llua5.4) $(LIBS)

# The C++ that is generated of .cu files, to be compared before and after a change.
$(BUILD)/bench/generated_text: tests/bench/generated_text.c $(SHARED)
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $(filter %.c %.o,$^) $(call static,lua5.4,-llua5.4) $(LIBS)

# The module with another registry, which lists only the null backend.
NULL_SOURCES := $(wildcard tests/backend_null/*.c)
$(BUILD)/tests/null/moonwarp.so: $(NULL_SOURCES) $(filter-out %/backend/registry.o,$(SHARED))
	@mkdir -p $(@D)
	@echo "  test $@"
	$(Q)$(CC) $(FLAGS) -fvisibility=hidden $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ $(LIBS)

# A stand-in for the CUDA driver: the CUDA device's own C code is tested without a GPU.
$(BUILD)/mock/libcuda.so.1: $(wildcard tests/mock/*.[ch]) core/backend/cuda/driver.h core/backend/backend.h
	@mkdir -p $(@D)
	@echo "  mock $@"
	$(Q)$(CC) $(FLAGS) -O1 -g -Wno-missing-prototypes -shared -o $@ $(filter %.c,$^)

$(BUILD)/tests/%.so: tests/c/%.c
	@mkdir -p $(@D)
	@echo "  test $@"
	$(Q)$(CC) $(FLAGS) -O1 -g -shared -o $@ $< -ldl

$(BUILD)/packages:
	@mkdir -p $(@D)
	@.make/deps.sh --name-only build
	@touch $@

-include $(OBJECTS:.o=.d) $(C_TESTS:=.d) $(BUILD)/bench/split_cost.d $(BUILD)/bench/generated_text.d

# A second make once the packages are there, on all cores unless the user says how many.
AGAIN = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

probe: programs
	@MOONWARP_HOME="$(CURDIR)" .make/probe.sh $(BUILD)/moonwarp "$(CC)"

demo: ## install what is missing, build, run the memcopy study on the best device
	@.make/deps.sh demo
	+@$(AGAIN) all
	MOONWARP_HOME="$(CURDIR)" $(BUILD)/moonwarp run memcopy --out $(OUT)
	@printf '%s\n' '' 'To go on:' '  $(BUILD)/moonwarp list           the studies, each with its question' \
	  '  $(BUILD)/moonwarp new saxpy      a kernel and a script of your own' \
	  '  $(BUILD)/moonwarp report $(OUT)     what was measured, as a page'

check: ## install what is missing, build, run every test
	@.make/deps.sh check
	+@$(AGAIN) programs c-tests
	@tests/check.sh $(BUILD)

c-tests: $(C_TESTS) $(BUILD)/mock/libcuda.so.1 $(BUILD)/tests/late_signal.so $(BUILD)/tests/null/moonwarp.so

check-c: c-tests ## only the C unit tests
	@tests/check.sh $(BUILD) c

check-cluster: ## the tests on a Slurm cluster of their own; installs slurm-wlm and munge if they are missing
	@.make/deps.sh cluster
	+@$(AGAIN) programs
	@tests/check.sh $(BUILD) cluster

cluster: ## a shell with a Slurm cluster of this machine, to try docs/cluster.md; installs slurm-wlm and munge
	@.make/deps.sh cluster
	+@$(AGAIN) programs
	@MOONWARP_HOME="$(CURDIR)" PATH="$(CURDIR)/$(BUILD):$$PATH" $(BUILD)/moonwarp run tests/cluster/shell.lua

check-browser: ## the report in a headless Chromium; installs it, and node, if they are missing
	@.make/deps.sh browser
	+@$(AGAIN) programs
	@cd tests/browser && { test -d node_modules/playwright-core || npm ci --no-audit --no-fund; }
	@tests/browser/check.sh $(BUILD)

check-asan: ## build and run every test under AddressSanitizer and UBSan
	@.make/deps.sh check
	+@$(AGAIN) BUILD=build-asan CC=gcc programs c-tests \
	  CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
	@SANITIZED=1 tests/check.sh build-asan

# Kernels are not instrumented, and leaving one by a signal confuses the sanitizer: so no specs of faults.
check-tsan: ## races in streams, events, graphs, the pool and programs, by ThreadSanitizer
	@.make/deps.sh check
	+@$(AGAIN) BUILD=build-tsan CC=gcc programs \
	  CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=thread"
	@ONLY='^program tests/\(cpu/engines\|cli/program_threads\|bind/\(event\|graph\|hotpath\|launch\|lifetime\|stream\|transfer\)\)_spec' \
	  tests/check.sh build-tsan

check-gpu: programs ## every spec on a real CUDA device; SANITIZER=1: studies under compute-sanitizer; COUNTERS=1: under ncu
	@MOONWARP_HOME="$(CURDIR)" tests/check-gpu.sh $(BUILD)/moonwarp

mutants: programs ## mutants of the project's kernels under check mode: docs/measurements.md; half an hour
	@mkdir -p $(OUT) && MOONWARP_HOME="$(CURDIR)" MOONWARP_PROGRAM="$(CURDIR)/$(BUILD)/moonwarp" LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/?/init.lua;;" \
	  $(BUILD)/moonwarp run tests/check/mutant_score.lua -- 0 1 $(OUT)/mutants.txt

stress: programs ## the long tests of tests/stress, at most 15 minutes each; SEED=n repeats one
	@tests/stress/run.sh $(BUILD)

bench: programs bench-split ## the figures of docs/measurements.md
	@for file in tests/bench/*.lua; do echo "== $$file"; \
	  MOONWARP_HOME="$(CURDIR)" $(BUILD)/moonwarp run $$file --out $(OUT) || exit 1; done

bench-split: $(BUILD)/bench/split_cost ## CPU time of the splitter per kernel of kernels/
	@MOONWARP_HOME="$(CURDIR)" $< $(wildcard kernels/*.cu)

generated-text: $(BUILD)/bench/generated_text ## the C++ of each kernel of kernels/ on the CPU device, into OUT
	@mkdir -p "$(OUT)"
	@MOONWARP_HOME="$(CURDIR)" $< "$(OUT)" $(wildcard kernels/*.cu)

studies: programs ## all studies with their defaults, and how long they took
	@MOONWARP_HOME="$(CURDIR)" tests/bench/suite.sh $(BUILD)/moonwarp $(OUT)

bundle: programs ## dist/moonwarp-VERSION-linux-x86_64.tar.gz, for a machine with glibc 2.34 and nothing else
	@.make/bundle.sh $(BUILD) $(BUNDLE)

docs: programs ## generate docs/api/*.md and docs/measurements.md
	MOONWARP_HOME="$(CURDIR)" $(BUILD)/moonwarp run docs/gen.lua

docs-findings: programs ## write what is printed into docs/check.md, docs/counters.md and the tutorial
	UPDATE=1 ONLY='^program tests/check/\(counters_\)\?page_spec' tests/check.sh build

docs-features: programs ## write what each device takes into docs/what-runs-where.md
	UPDATE=1 ONLY='^program tests/cpu/features_spec' tests/check.sh build

docs-check: programs ## fail where generated documents are stale or a name has none
	@MOONWARP_HOME="$(CURDIR)" $(BUILD)/moonwarp run docs/gen.lua -- --check

floors: programs ## fail where files or folders reach each other, or against the order of lua/; .make/floors.lua BUILD --print shows them
	@$(LUA) .make/floors.lua $(BUILD)
	@$(LUA) .make/readers.lua

lint: floors ## luacheck, clang-format, compiler warnings, circles, language
	$(Q)luacheck --quiet lua experiments tests docs .make
	$(Q)$(LUA) .make/language.lua
	$(Q)clang-format --dry-run -Werror $(SOURCES) $(NULL_SOURCES) $(wildcard tests/c/*.c) # headers are aligned by hand
	$(Q)$(CC) $(FLAGS) -O2 -Werror -fsyntax-only $(SOURCES) $(NULL_SOURCES) $(wildcard tests/c/*.c)

metrics: ## lengths of files and functions against the budget, lines of code
	@.make/deps.sh metrics
	@.make/metrics.sh

DATA := $(DESTDIR)$(PREFIX)/share/moonwarp
install: programs ## into PREFIX
	install -Dm755 $(BUILD)/moonwarp $(DESTDIR)$(PREFIX)/bin/moonwarp
	install -Dm755 $(BUILD)/moonwarp.so $(DESTDIR)$(PREFIX)/lib/lua/5.4/moonwarp.so
	install -Dm644 docs/moonwarp.1 $(DESTDIR)$(PREFIX)/share/man/man1/moonwarp.1
	mkdir -p $(DATA)/core/backend/cpu
	cp -r lua kernels experiments plots $(GENERATED)/manual.txt $(GENERATED)/meta $(DATA)
	cp -r core/backend/cpu/abi.h core/backend/cpu/shim $(DATA)/core/backend/cpu
	cp -r core/mpi $(DATA)/core
	mkdir -p $(DATA)/core/runtime
	cp -r core/runtime/include $(DATA)/core/runtime

uninstall: ## out of PREFIX
	rm -rf $(DATA)
	rm -f $(DESTDIR)$(PREFIX)/bin/moonwarp $(DESTDIR)$(PREFIX)/lib/lua/5.4/moonwarp.so \
	  $(DESTDIR)$(PREFIX)/share/man/man1/moonwarp.1

clean: ## remove everything that was built
	rm -rf $(BUILD) build-asan build-tsan dist

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 22
	@echo "settings: BUILD, PREFIX, OUT, CC, CFLAGS, NO_DEPS=1 (name missing packages, install none)"
