#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# All studies with their default parameters, one after the other, and how long each took.
#   tests/bench/suite.sh PROGRAM OUT [ARGUMENTS OF run ...]
set -u
program=$1 out=$2
shift 2
total=0 missed=0 failed=0
mkdir -p "$out"
for study in $("$program" list | awk '/^[a-z]/ { print $1 }'); do
  begin=$(date +%s%N)
  "$program" run "$study" --out "$out" "$@" >"$out/$study.log" 2>&1
  code=$?
  took=$((($(date +%s%N) - begin) / 1000000))
  total=$((total + took))
  [ $code -eq 0 ] || failed=$((failed + 1))
  [ $took -lt 20000 ] || missed=$((missed + 1))
  printf '  %-14s %4d.%03d s   exit %d\n' "$study" $((took / 1000)) $((took % 1000)) $code
done
printf '  %-14s %4d.%03d s   to reach: each below 20 s   %s\n' "all" $((total / 1000)) $((total % 1000)) \
  "$([ $((missed + failed)) -eq 0 ] && echo reached || echo missed)"
exit $((failed > 0))
