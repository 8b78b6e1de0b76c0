#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# check-gpu.sh PROGRAM: every spec on a machine with a CUDA device, without busted. Needs MOONWARP_HOME, or a program
# that finds its own files; closes with one line `N passed, N failed`. JOBS=n runs n files at a time.
set -uo pipefail
program=$1
home=$("$program" -e 'print(require("moonwarp.core").home())') || exit 1
export MOONWARP_TEST_LUA="'$program' run" MOONWARP_PROGRAM=$program LUA_PATH="$home/?.lua;;"
"$program" -e 'local dev = mw.device "cuda"
  local p = dev:properties()
  print(("%s, %s, %s"):format(dev:name(), p.arch, p.driver or "driver unknown"))
  print(os.date "!%Y-%m-%d %H:%M UTC, moonwarp " .. mw.version)' || exit

# A process a file: what one leaves behind, or a crash, is no other's concern.
export program home logs
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
run_file() {
  log=$logs/$(basename "$1")
  "$program" run "$home/tests/plain.lua" -- "$1" >"$log" 2>&1
  [ $? -le 1 ] || echo "0 passed, 1 failed" >>"$log" # a crash
  grep -v '^ok ' "$log"
}
export -f run_file
for file in "$home"/tests/*_spec.lua "$home"/tests/regress/*_spec.lua; do
  case $file in */docs_spec.lua) ;; *) printf '%s\0' "$file" ;; esac # documents are not in question here
done | xargs -0 -n 1 -P "${JOBS:-1}" bash -c 'run_file "$1"' run_file
cat "$logs"/* | grep '^[0-9]* passed, [0-9]* failed$' | awk '{ passed += $1; failed += $3 }
  END { print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 || passed == 0 }'
