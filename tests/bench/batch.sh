#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What a batch adds to a lab: 200 trivial labs in one batch, a lab's time over that of starting the same script with
# `moonwarp run`, and what a sandbox adds to that. They take turns, so that other work on the machine meets all.
#   tests/bench/batch.sh PROGRAM [LABS [ROUNDS]]
set -eu
program=$(realpath "$1") labs=${2:-200} rounds=${3:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >trivial.lua <<'LUA'
local mw = require "moonwarp"
mw.record { device = "cpu", x = 1 }
LUA
cat >curriculum.lua <<LUA
local labs = {}
for i = 1, $labs do labs[i] = { name = "lab" .. i, script = "trivial.lua", devices = "cpu" } end
return labs
LUA

alone() { for ((i = 0; i < labs; i++)); do "$program" run trivial.lua --device cpu --out "alone/$i" >/dev/null; done; }
batch() { "$program" batch curriculum.lua --sandbox "$1" --out "$2" >"$2.log" || { tail -n 3 "$2.log" >&2; exit 1; }; }
ms() { date +%s%N | sed 's/......$//'; }

best_alone=999999999 best_batch=999999999 best_boxed=999999999
for ((round = 0; round < rounds; round++)); do
  a=$(ms); alone; b=$(ms); batch off "batch$round"; c=$(ms); batch auto "boxed$round"; d=$(ms)
  rm -rf alone
  [ $((b - a)) -ge $best_alone ] || best_alone=$((b - a))
  [ $((c - b)) -ge $best_batch ] || best_batch=$((c - b))
  [ $((d - c)) -ge $best_boxed ] || best_boxed=$((d - c))
done
awk -v a=$best_alone -v b=$best_batch -v c=$best_boxed -v n="$labs" 'BEGIN {
  printf "  %d labs, best of the rounds: alone %.2f ms per lab, in a batch %.2f ms: %.2f times   to reach: 1.3   %s\n",
    n, a / n, b / n, b / a, b <= 1.3 * a ? "reached" : "missed"
  printf "  in a sandbox %.2f ms per lab: %.2f ms more\n", c / n, (c - b) / n }'
