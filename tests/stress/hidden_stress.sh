#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# hidden_stress.sh PROGRAM: kernels that hide a mistake from check mode, by each compiler that is there:
# tests/regress/hidden with all its cases, then random ones, $KERNELS (600) of each compiler, whose seed is $SEED. None may
# run without a word.
set -u
program=$1 here=$PWD/tests/regress/hidden bad=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SEED=${SEED:-1}

for compiler in clang++ g++; do
  command -v $compiler >/dev/null || continue
  export MOONWARP_CXX=$compiler MOONWARP_CACHE=$scratch/$compiler
  for kind in kernels legal; do
    "$program" run "$here/hidden_kernels.lua" -- $kind >"$scratch/log" 2>"$scratch/warnings" || bad=1
    cat "$scratch/log"
    [[ $(tail -n 1 "$scratch/log") =~ ^([0-9]+)\ of\ ([0-9]+)\  ]] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] || bad=1
  done
  "$program" run "$here/random.lua" -- "${KERNELS:-600}" 2>>"$scratch/warnings" || bad=1
done
exit $bad
