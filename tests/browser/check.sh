#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# check.sh BUILD: the report of a dozen runs and the report of fifty, in a headless Chromium. The pictures it takes
# stay in BUILD/browser, to be looked at.
set -euo pipefail

build=$1
cd "$(dirname "$0")/../.."
case $build in /*) ;; *) build=$PWD/$build ;; esac
export MOONWARP_HOME=$PWD LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;$PWD/lua/?.lua;$PWD/lua/?/init.lua;;"
CHROMIUM=$(command -v "${CHROMIUM:-chromium}")
export CHROMIUM

out=$build/browser
rm -rf "$out"
mkdir -p "$out"
"$build/moonwarp" run tests/support/report_runs.lua -- "$out/few" 12
"$build/moonwarp" run tests/support/report_runs.lua -- "$out/many" 50
"$build/moonwarp" report "$out/few" --output "$out/few.html"
"$build/moonwarp" report "$out/many" --output "$out/many.html"
"$build/moonwarp" plot "$out/few/memcopy/001" --only threads --to "$out" >/dev/null
exec node tests/browser/report.mjs "$out/few.html" "$out/many.html" "$out/memcopy-threads.svg" "$out"
