#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The studies with their default parameters, one after the other, and how long each took.
#   tests/bench/suite.sh PROGRAM OUT [ARGUMENTS OF run ...]
set -u
program=$1 out=$2
shift 2
total=0 failed=0
mkdir -p "$out"
for study in memcopy stencil cumsum scan reduction nbody orbits streams; do
  begin=$(date +%s%N)
  "$program" run "$study" --out "$out" "$@" >"$out/$study.log" 2>&1
  code=$?
  took=$((($(date +%s%N) - begin) / 1000000))
  total=$((total + took))
  [ $code -eq 0 ] || failed=$((failed + 1))
  printf '  %-10s %4d.%03d s   exit %d\n' "$study" $((took / 1000)) $((took % 1000)) $code
done
printf '  %-10s %4d.%03d s   to reach: below 120 s   %s\n' "all" $((total / 1000)) $((total % 1000)) \
  "$([ $total -lt 120000 ] && [ $failed -eq 0 ] && echo reached || echo missed)"
exit $((failed > 0))
