#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# architectures_stress.sh PROGRAM: every kernel file compiles for each architecture that NVRTC knows here.
set -u
export ARCHITECTURES="75 80 86 89 90 100 120" MOONWARP_TEST_LUA="'$1' run" LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;;"
exec "$1" run tests/plain.lua -- tests/cuda/nvrtc_spec.lua
