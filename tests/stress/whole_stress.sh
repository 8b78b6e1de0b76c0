#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# whole_stress.sh PROGRAM: with each compiler that is there, the specs of which `make check` takes a sample, whole: pairs
# of kernels, mutants and studies in check mode, and what the devices take; and optimised, what engines compute.
set -u
export WHOLE=1 MOONWARP_TEST_LUA="'$1' run" LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;;"
log=$(mktemp) bad=0
trap 'rm -f "$log"' EXIT
for compiler in clang++ g++; do
  command -v $compiler >/dev/null || continue
  for spec in check/{pairs,mutants,studies} house/newcomer cpu/{features,engines,faults,split,waits,warnings} bind/launch regress/cpu_findings; do
    MOONWARP_CXX=$compiler "$1" run tests/plain.lua -- tests/${spec}_spec.lua >"$log" 2>&1 || bad=1
    grep -v '^ok ' "$log"
  done
done
exit $bad
