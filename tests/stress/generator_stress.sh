#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Random kernels with classes against their own model (tests/generator), with each compiler that is there, on all cores.
# It begins none that would not end before run.sh's limit: on two cores that is about 1,500 kernels by each compiler.
#   SEED=n       other kernels
#   KERNELS=n    how many by each compiler (10,000): LIMIT=9000 gives two cores the time
#   FIRST=n      where to go on
set -u
program=$1
kernels=${KERNELS:-10000} first=${FIRST:-1} each=64
export LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;;"
export seed=${SEED:-1} program each
export deadline=$(($(date +%s) + ${LIMIT:-900} - 180))

job() { # compiler first
  [ "$(date +%s)" -lt "$deadline" ] || return 0
  MOONWARP_CXX=$1 "$program" run tests/generator/random_kernels.lua -- "$seed" "$each" "first=$2" show=1 2>&1
}
export -f job

compilers=$(for compiler in clang++ g++; do command -v $compiler >/dev/null && echo $compiler; done)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for ((at = first; at < first + kernels; at += each)); do
  for compiler in $compilers; do echo "$compiler $at"; done
done | xargs -P "$(nproc)" -L 1 bash -c 'job "$@"' job >"$log"

# What differs or is broken, then the sums of the tables.
grep -v '% *[0-9]* *[0-9]* *[0-9]* *[0-9]*$\|^construct \|^runs: \|^done ' "$log"
awk '/% *[0-9]+ *[0-9]+ *[0-9]+ *[0-9]+$/ {
       name = substr($0, 1, 28); rest = substr($0, 29); split(rest, n, " ")
       kernels[name] += n[1]; loop[name] += n[3]; split_[name] += n[4]; fiber[name] += n[5]; differ[name] += n[6] }
     /^done / { ran += $2; wrong += $4; broken += $6; jobs++ }
     END { for (name in kernels)
             printf "%s %8d kernels, ran by loop %d, split %d, fiber %d; differ %d\n", name, kernels[name], loop[name],
               split_[name], fiber[name], differ[name] | "sort"
           close("sort")
           printf "done %d wrong %d broken %d\n", ran, wrong, broken
           exit wrong + broken > 0 || ran == 0 }' "$log"
