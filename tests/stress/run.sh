#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILD [NAME...]: the long tests, tests/stress/NAME_stress.lua and .sh, one after another, each with a bound on its
# time. A .sh gets the program as its argument; a .lua is run by the program. $SEED makes them repeatable.
set -u
cd "$(dirname "$0")/../.." || exit 1
program=$(realpath "$1/moonwarp")
shift
limit=${LIMIT:-900} # seconds
export MOONWARP_HOME=$PWD MOONWARP_PROGRAM=$program SEED=${SEED:-$RANDOM}

run() { # file
  case $1 in
    *.sh) timeout -k 10 "$limit" bash "$1" "$program" ;;
    *.lua) timeout -k 10 "$limit" "$program" run "$1" --out "$scratch" ;;
  esac
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
for file in tests/stress/*_stress.{lua,sh}; do
  name=$(basename "$file" | sed 's/_stress\..*//')
  [ -e "$file" ] || continue
  [ $# = 0 ] || [[ " $* " = *" $name "* ]] || continue
  echo "== $name, SEED=$SEED"
  SECONDS=0
  if run "$file"; then
    passed=$((passed + 1)) word=passed
  else
    failed=$((failed + 1)) word="failed (status $?)"
  fi
  echo "   $word, $SECONDS s"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed != 0 ]
