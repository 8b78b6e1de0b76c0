#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# check.sh BUILD [c|cluster]: every test (or the C tests, or those that need a Slurm cluster or MPI) on what was built in
# BUILD. Each file runs in a process of its own, so that a crash costs one file; failures are printed, and the last line
# is the sum. Called by the Makefile.
# A spec runs in the program; also as a module of the stock interpreter where that is another thing, and by the other
# C++ compiler where it is about what the CPU device compiles.
#   JOBS=n        files at a time (one per core): no test measures time
#   SANITIZED=1   BUILD was made with AddressSanitizer and UBSan
#   ONLY=pattern  only files whose name matches
set -uo pipefail

build=$1
what=${2:-all}
cd "$(dirname "$0")/.." || exit 1
case $build in /*) ;; *) build=$PWD/$build ;; esac
logs=$build/check
limit=1800 # seconds per file

export MOONWARP_HOME=$PWD MOONWARP_PROGRAM=$build/moonwarp MOONWARP_CACHE=$logs/cache
export PRECOMPILED=$logs/headers # of tests/cxx-o0
export LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;$PWD/lua/?.lua;$PWD/lua/?/init.lua;;" LUA_CPATH="$build/?.so;;"
# Tables and charts have signs beyond ASCII, where the locale does.
[ "$(locale charmap)" = UTF-8 ] || export LC_ALL=C.UTF-8
# Thread-local memory of modules is found by what an older C library wrote in front of it; with a newer one the leak
# check follows wild pointers there.
export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=allow_user_segv_handler=1:intercept_tls_get_addr=0:detect_leaks=${LEAKS:-1}

# A stock interpreter is not built with the sanitizer, so its runtime has to come first; what the interpreter itself
# leaves to the system at exit is no leak of ours.
export STOCK_LUA=${LUA:-lua5.4}
if [ -n "${SANITIZED:-}" ]; then
  STOCK_LUA="env LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 $STOCK_LUA"
  export LSAN_OPTIONS=suppressions=$PWD/tests/leaks.txt:print_suppressions=0
  export MOONWARP_COMPILE_MEMORY=0 # the shadow that a preloaded sanitizer maps in compilers too
fi

# What the CPU device does not take here by itself, where it is there.
other_compiler() {
  [ -z "${MOONWARP_CXX:-}" ] && command -v clang++ >/dev/null && command -v g++
}

# The optimiser takes most of the time of compiling, and most specs are not about its work.
compiler_of() { # file
  # grep reads to the end: by -q it would end first at times, and the pipe with the status of a signal.
  if [ -z "${MOONWARP_CXX:-}" ] && ! optimised | grep -x "$1" >/dev/null; then echo "$PWD/tests/cxx-o0"; else echo "${MOONWARP_CXX:-}"; fi
}

# What is stored goes by the compiler's path, which is the same for both.
run_other() { # file
  CXX_O0=$(other_compiler) MOONWARP_CXX=$PWD/tests/cxx-o0 MOONWARP_CACHE=$logs/cache-other run_file program "$1"
}

run_file() { # kind file
  case $1 in
    c) "$build/tests/$(basename "$2" .c)" ;;
    module) MOONWARP_CXX=$(compiler_of "$2") $STOCK_LUA tests/busted.lua -o TAP "$2" ;;
    null) LUA_CPATH="$build/tests/null/?.so;;" $STOCK_LUA tests/busted.lua -o TAP "$2" ;;
    program | cluster) MOONWARP_CXX=$(compiler_of "$2") MOONWARP_TEST_LUA="'$MOONWARP_PROGRAM' run" "$MOONWARP_PROGRAM" run tests/busted.lua -- -o TAP "$2" ;;
    other) run_other "$2" ;;
    browser) tests/browser/check.sh "$build" ;;
    tool) case $2 in
        luacheck) luacheck --quiet lua experiments tests docs .make ;;
        docs) "$MOONWARP_PROGRAM" run docs/gen.lua -- --check ;;
        floors) $STOCK_LUA .make/floors.lua "$build" ;;
      esac ;;
  esac
}

count() { grep -c "$1" "$2" || true; }

# Whether a log goes to its end: a test may have left the process with status 0.
is_whole() { # kind log
  case $1 in
    c) grep -q '^\[==========\] .* test(s) run\.' "$2" ;;
    module | null | program | other | cluster) grep -q '^1\.\.[0-9]' "$2" ;;
  esac
}

# What a log says: passed, failed, skipped.
read_counts() { # kind log status
  local passed=0 failed=0 skipped=0
  case $1 in
    c)
      passed=$(count '^\[       OK \]' "$2")
      # These are named twice: where they ran, and at the end.
      skipped=$(($(count '^\[  SKIPPED \] [a-z0-9_]*$' "$2") / 2))
      failed=$(($(count '^\[  FAILED  \] [a-z0-9_]*$' "$2") / 2))
      ;;
    module | null | program | other | cluster)
      skipped=$(count '^ok [0-9]* .*# SKIP' "$2")
      passed=$(($(count '^ok [0-9]' "$2") - skipped))
      failed=$(count '^not ok [0-9]' "$2")
      ;;
    browser)
      passed=$(count '^ok - ' "$2")
      failed=$(count '^not ok - ' "$2")
      ;;
    tool) [ "$3" != 0 ] || passed=1 ;;
  esac
  # A file that ended badly, or early, without saying which test did it counts as one failure, as does one of no tests.
  [ "$3" = 0 ] && is_whole "$1" "$2" && [ $((passed + failed + skipped)) != 0 ] || [ "$failed" != 0 ] || failed=1
  echo "$passed $failed $skipped"
}

name_of() { # kind file
  local name=${2#tests/}
  name=${name%.*}
  echo "$1-${name//\//-}"
}

# Seconds from what bash's `times` says of children, user and system: "0m1.500s 0m0.250s" is 1.8.
processor_time() { awk 'NR == 2 { gsub(/m/, " "); gsub(/s/, ""); printf "%.1f", $1 * 60 + $2 + $3 * 60 + $4 }' "$1"; }

one() { # kind file
  local name log status passed failed skipped seconds
  name=$(name_of "$1" "$2")
  log=$logs/$name.log
  SECONDS=0
  # In a process group of its own, which a Ctrl-C at the terminal does not reach; what is started in the background would
  # ignore one, which tests are about.
  env --default-signal=INT,QUIT timeout -k 5 $limit "$0" "$build" run "$1" "$2" >"$log" 2>&1 &
  trap 'kill $!; wait $!; exit 130' HUP INT TERM
  wait $!
  status=$?
  times >"$logs/$name.times" # not in $( ), which has children of its own
  seconds=$(processor_time "$logs/$name.times")
  echo "$(read_counts "$1" "$log" $status) $seconds" >"$logs/$name.sum"
  read -r passed failed skipped seconds <"$logs/$name.sum"
  # In one piece: other files print beside this one.
  echo "$(printf '%-8s %-32s %4d passed %3d failed %4d s (processor %s s)%s\n' "$1" "${2#tests/}" "$passed" "$failed" $SECONDS "$seconds" \
    "$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
    [ "$failed" = 0 ] || { echo "  (status $status, $log)"; said_of_failures "$log" | tail -n 40; })"
}

# A log without what passed.
said_of_failures() { grep -v '^ok \|^\[ RUN\|^\[       OK' "$1" | sed 's/^/  | /'; }

# What failed once more, next to the sum: the lines above may be many, or cut.
closing() {
  local kind file sum name passed failed skipped
  while read -r kind file; do
    name=$(name_of "$kind" "$file")
    [ -s "$logs/$name.sum" ] && continue
    echo "it was not run, or not to its end" >>"$logs/$name.log"
    echo "0 1 0 0" >"$logs/$name.sum"
  done <"$logs/list"
  for sum in "$logs"/*.sum; do
    read -r passed failed skipped _ <"$sum"
    [ "$failed" != 0 ] || continue
    name=$(basename "$sum" .sum)
    echo "failed: $name ($failed of $((passed + failed + skipped)))"
    said_of_failures "$logs/$name.log" | grep -v '^  | 1\.\.' | head -n 20
  done
  cat "$logs"/*.sum | awk '{ passed += $1; failed += $2; seconds += $4 }
    END { printf "%.1f minutes of processor time\n%d passed, %d failed\n", seconds / 60, passed, failed
          exit failed > 0 || passed == 0 }'
}

# Specs by name, as files.
specs() {
  local name
  for name; do echo "tests/${name}_spec.lua"; done
}

# What check mode and counters see depends on what the optimiser leaves of a kernel.
optimised() {
  specs bind/hotpath explain/set check/{counters,counters_page,faulty,legal,mutants,orders,page,pairs,studies} plot/roofline \
    regress/growing_values
}

# About how the CPU device compiles: by the other compiler too. (That of a study's kernels is in their study's own run;
# what engines compute and which faults are found, in tests/stress/whole_stress.sh.)
compiled() { specs cpu/{features,shim,warnings}; }

# About what the program and a stock interpreter do differently: signals, hooks, the end of a state, what a host offers,
# the line of the script that an error or a record names.
hosted() {
  specs base/show bind/{array,device,event,graph,hotpath,launch,lifetime,method,module,stream,transfer} cpu/faults \
    measure/{alarm,bench,check} plot/table results/{record,remark,results} session/arg
}

# What the binding does by itself: over a backend that asserts what backend.h says is checked already.
nulled() {
  specs backend_null/promises bind/{array,event,graph,hotpath,kernel,launch,lifetime,method,pages,stream,texture,transfer} \
    plot/table
}

# All but those that need something of their own: a backend, a cluster.
program_specs() { printf '%s\n' tests/*/*_spec.lua | grep -v '^tests/\(backend_null\|cluster\|mpi\)/'; }

# What takes longest: it begins first, so that no core waits for another at the end.
long() {
  specs regress/classes cpu/warnings cuda/nvrtc check/{pairs,faulty,studies} \
    cpu/{generator,front,features,language,split,engines} studies/{runs,cumsum,reduction,memcopy,stencil,broken} \
    regress/{hidden,exit_status,help_examples,kernel_engines}
}

# "kind file" a line.
files() {
  local file
  if [ "$what" = cluster ]; then
    for file in tests/{cluster,mpi}/*_spec.lua; do echo "cluster $file"; done
    return
  fi
  if [ "$what" = all ]; then
    if other_compiler >/dev/null; then compiled | sed 's/^/other /'; fi
    for file in $(program_specs); do echo "program $file"; done
    hosted | sed 's/^/module /'
    nulled | sed 's/^/null /'
    # Only where `make check-browser` has been: a browser is much to install for one page.
    if [ -z "${SANITIZED:-}" ] && [ -d tests/browser/node_modules ] && command -v node >/dev/null &&
      command -v "${CHROMIUM:-chromium}" >/dev/null; then
      echo "browser tests/browser/report.mjs"
    fi
    echo "tool luacheck"
    echo "tool docs"
    echo "tool floors"
  fi
  for file in tests/c/test_*.c; do echo "c $file"; done
}

# Files in the order they run.
list() { awk 'NR == FNR { long[$1]; next } { print !($2 in long), NR, $0 }' <(long) <(files) | sort -k1,1n -k2,2n | cut -d' ' -f3-; }

case $what in
  run) run_file "$3" "$4"; exit ;;
  one) one "$3" "$4"; exit ;;
esac
rm -rf "$logs"
mkdir -p "$PRECOMPILED"
list | grep -e "${ONLY:-.}" >"$logs/list" || { echo "no test's name matches ONLY=$ONLY"; exit 2; }
xargs -P "${JOBS:-$(nproc)}" -L 1 "$0" "$build" one <"$logs/list"
[ "$what" != all ] || [ -n "${ONLY:-}" ] || echo "tests/cluster, tests/mpi: skipped; only make check-cluster starts a Slurm cluster and MPI jobs"
closing
