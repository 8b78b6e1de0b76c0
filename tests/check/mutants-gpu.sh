#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# mutants-gpu.sh PROGRAM RESULT [FIRST]: the mutants of the project's kernels under the tools of compute-sanitizer, on a
# CUDA device. RESULT gets a line for each mutant and tool: number, tool, yes | no | hang | not run, kind, file:line,
# text, and what the tool said first. FIRST: numbers of mutants to begin with. Also the kernels as they are, as numbers
# above 1000: what a tool finds there is no find. JOBS: processes at a time; SECONDS_IN_ALL: then the rest is not run.
set -uo pipefail
program=$(realpath "$1") result=$(realpath -m "$2") first=${3:-}
export program scratch sanitizer deadline
export MOONWARP_DEVICE=${MOONWARP_DEVICE:-cuda} LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;;" LIMIT=${LIMIT:-40}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
deadline=$(($(date +%s) + ${SECONDS_IN_ALL:-500}))
export MOONWARP_CACHE=$scratch/cache
"$program" run tests/check/mutant_write.lua -- "$scratch/mutants" || exit 1

one() { # NUMBER TOOL
  folder=$scratch/mutants/$1 out=$scratch/mutants/$1/$2.txt
  IFS=$'\t' read -r _ kind place params text < <(grep -P "^$1\t" "$scratch/mutants/list")
  if [ "$(date +%s)" -gt "$deadline" ]; then
    found="not run"
    : >"$out"
  else
    cd "$folder" || exit
    # shellcheck disable=SC2086 # params are words
    timeout -s KILL "$LIMIT" "$sanitizer" --tool "$2" --print-limit 3 --report-api-errors no \
      "$program" run --quiet --out "$folder/out.$2" $params >"$out" 2>&1
    status=$? found=no
    grep -qE '^========= Error: (Race|Potential)|^========= (Invalid|Uninitialized|Barrier|Divergent|Race|Address|Misaligned|Unused)|SUMMARY: [1-9][0-9]* (error|hazard)' "$out" &&
      found=yes
    [ $status -ne 137 ] || found="$found, hang"
    [ $status -eq 137 ] || grep -q 'SUMMARY' "$out" || found="no summary, status $status"
  fi
  said=$(grep '^=========' "$out" | grep -v COMPUTE-SANITIZER | head -4 | cut -c 1-160 | tr '\n\t' '| ')
  own=$(grep -E '^(wrong|error)' "$out" | head -2 | cut -c 1-160 | tr '\n\t' '| ')
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$found" "$kind" "$place" "$text" "$said" "$own"
}
export -f one

{
  for number in $first; do echo "$number"; done
  cut -f 1 "$scratch/mutants/list" | awk '$1 > 1000'
  cut -f 1 "$scratch/mutants/list" | awk '$1 < 1000'
} | awk '!seen[$1]++ { print $1 }' | while read -r number; do
  for tool in memcheck racecheck synccheck initcheck; do echo "$number $tool"; done
done | xargs -L 1 -P "${JOBS:-12}" bash -c 'one "$@"' one >"$result"
awk -F'\t' '{ n[$2 " " $3]++ } END { for (k in n) print n[k], k }' "$result" | sort -k2
