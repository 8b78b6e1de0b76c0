#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# check-gpu.sh PROGRAM: every spec on a machine with a CUDA device, without busted. Needs MOONWARP_HOME, or a program
# that finds its own files; closes with one line `N passed, N failed`.
set -uo pipefail
program=$1
home=$("$program" -e 'print(require("moonwarp.core").home())') || exit 1
export MOONWARP_TEST_LUA="$program run" MOONWARP_PROGRAM=$program LUA_PATH="$home/?.lua;;"
"$program" -e 'local dev = mw.device "cuda"
  local p = dev:properties()
  print(("%s, %s, %s"):format(dev:name(), p.arch, p.driver or "driver unknown"))
  print(os.date "!%Y-%m-%d %H:%M UTC, moonwarp " .. mw.version)' || exit
specs=()
for file in "$home"/tests/*_spec.lua; do
  case $file in */docs_spec.lua) ;; *) specs+=("$file") ;; esac # documents are not in question here
done
exec "$program" run "$home/tests/plain.lua" -- "${specs[@]}"
