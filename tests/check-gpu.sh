#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# check-gpu.sh PROGRAM: every spec on a machine with a CUDA device, without busted. Needs MOONWARP_HOME, or a program
# that finds its own files; closes with one line `N passed, N failed`. JOBS=n runs n files at a time.
#   SANITIZER=1  instead the studies in check mode, under the tools of compute-sanitizer: each is to be without findings
#   COUNTERS=1   instead kernels under ncu, whose counters are to be those of the CPU device;
#                MOONWARP_NCU_REPORT=FILE keeps the report
set -uo pipefail
program=$1
home=$("$program" -e 'print(require("moonwarp.core").home())') || exit 1
export WHOLE=1 MOONWARP_TEST_LUA="'$program' run" MOONWARP_PROGRAM=$program LUA_PATH="$home/?.lua;$home/?/init.lua;;"
# Charts have signs beyond ASCII, where the locale does.
[ "$(locale charmap)" = UTF-8 ] || export LC_ALL=C.UTF-8
"$program" -e 'local dev = mw.device "cuda"
  local p = dev:properties()
  print(("%s, %s, %s"):format(dev:name(), p.arch, p.driver or "driver unknown"))
  print(os.date "!%Y-%m-%d %H:%M UTC, moonwarp " .. mw.version)' || exit

if [ "${COUNTERS:-0}" != 0 ]; then
  results=$(mktemp -d)
  trap 'rm -rf "$results"' EXIT
  "$program" run "$home/tests/check/counters_gpu.lua" --counters --device cuda --quiet --out "$results"
  exit
fi

# A process per file: what one leaves behind, or a crash, is no other's concern.
export program home logs results
logs=$(mktemp -d) results=$(mktemp -d)
trap 'rm -rf "$logs" "$results"' EXIT
run_file() {
  log=${1#"$home"/tests/}
  log=$logs/${log//\//-}
  "$program" run "$home/tests/plain.lua" -- "$1" >"$log" 2>&1
  [ $? -le 1 ] || echo "0 passed, 1 failed" >>"$log" # a crash
  awk '!/^ok / || / # SKIP /' "$log"
}
# A study and further words of its command line.
check_study() {
  log=$logs/${1%% *}
  # shellcheck disable=SC2086
  "$program" run $1 --check --device cuda --out "$results" >"$log" 2>&1 && grep -q 'check mode: no errors found' "$log"
  case $? in
    0) echo "ok $1" && echo "1 passed, 0 failed" >>"$log" ;;
    *) echo "not ok $1" && cat "$log" && echo "0 passed, 1 failed" >>"$log" ;;
  esac
}
export -f run_file check_study
if [ "${SANITIZER:-0}" != 0 ]; then
  printf '%s\0' nbody "reduction -p ops=sum,length" cumsum streams stencil memcopy |
    xargs -0 -n 1 -P "${JOBS:-6}" bash -c 'check_study "$1"' check_study
  set --
else
  set -- "$home"/tests/*/*_spec.lua
fi
for file; do
  case $file in */docs/docs_spec.lua | */cluster/* | */backend_null/*) ;; *) printf '%s\0' "$file" ;; esac # documents are not in question here
done | xargs -0 -r -n 1 -P "${JOBS:-1}" bash -c 'run_file "$1"' run_file
cat "$logs"/* | grep '^[0-9]* passed, [0-9]* failed$' | awk '{ passed += $1; failed += $3 }
  END { print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 || passed == 0 }'
