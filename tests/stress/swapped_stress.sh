#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# swapped_stress.sh PROGRAM: commands that read runs whose files a lab exchanges meanwhile, for longer than make check
# does (tests/regress/swapped_files_spec.lua).
set -u
export ROUNDS=${ROUNDS:-40} MOONWARP_TEST_LUA="'$1' run" LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;;"
exec "$1" run tests/plain.lua -- tests/regress/swapped_files_spec.lua
