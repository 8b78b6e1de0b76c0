#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Random kernels that exchange values, and their mutants, against the model of tests/generator/order: right in normal mode,
# no finding in check mode but in what the model calls a race, and there at least 98 of 100. With each compiler that is
# there, on all cores; it begins none that would not end before run.sh's limit.
#   SEED=n       other kernels
#   KERNELS=n    how many by each compiler (1,000): LIMIT=3600 gives two cores the time
set -u
program=$1
kernels=${KERNELS:-1000} each=20
export LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;;"
export seed=${SEED:-1} program each
export deadline=$(($(date +%s) + ${LIMIT:-900} - 120))

job() { # compiler first
  [ "$(date +%s)" -lt "$deadline" ] || return 0
  MOONWARP_CXX=$1 "$program" run tests/generator/order/random_mutants.lua -- "$seed" "$each" "first=$2" 2>&1
}
export -f job

compilers=$(for compiler in clang++ g++; do command -v $compiler >/dev/null && echo $compiler; done)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for ((at = 1; at < 1 + kernels; at += each)); do
  for compiler in $compilers; do echo "$compiler $at"; done
done | xargs -P "$(nproc)" -L 1 bash -c 'job "$@"' job >"$log"

# What is wrong, missed or found for nothing, then the sums of the tables.
grep -v ' kernels, .* racy, .* missed$\|^results: \|^done ' "$log"
awk '/ kernels, .* racy, .* missed$/ {
       name = substr($0, 1, 24); rest = substr($0, 25); split(rest, n, " ")
       ran[name] += n[1]; racy[name] += n[3]; missed[name] += n[5] }
     /^done / { done += $2; wrong += $4; found += $6; races += $8; lost += $10; jobs++ }
     END { for (name in ran)
             printf "%s %8d kernels, %6d racy, %4d missed\n", name, ran[name], racy[name], missed[name] | "sort"
           close("sort")
           printf "done %d wrong %d false %d racy %d missed %d\n", done, wrong, found, races, lost
           exit jobs == 0 || wrong + found > 0 || lost * 50 > races }' "$log"
