#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills a batch with SIGKILL at random moments, then resumes it: no lab may be lost, none may come to its end twice, and
# no process may stay. Every third batch is killed once more while it is resumed.
#   KEEP=1 tests/bench/batch_kill.sh PROGRAM [KILLS [SEED]]    KEEP: stops at the first trouble and leaves its folder
set -u
program=$(realpath "$1") kills=${2:-30}
RANDOM=${3:-$$}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
labs=12

cat >lab.lua <<'LUA'
local mw = require "moonwarp"
mw.record { device = "cpu", part = 1 }
os.execute("sleep 0.0" .. mw.arg("ms", 30))
mw.record { device = "cpu", part = 2 }
local file = assert(io.open("marks", "a"))
file:write(os.getenv "MOONWARP_LAB", "\n")
file:close()
LUA
cat >curriculum.lua <<LUA
local labs = {}
for i = 1, $labs do
  labs[i] = { name = "lab" .. i, script = "lab.lua", devices = "cpu", params = { ms = 20 + i * 5 },
              needs = i % 2 == 0 and { "lab" .. (i - 1) } or nil }
end
return labs
LUA

begin() { "$program" batch curriculum.lua --out out --jobs $((1 + RANDOM % 2)) >>log 2>&1 & }
resume() { "$program" batch --resume --out out >>log 2>&1 & }
kill_after() { # pid ms; false where it had ended before
  sleep "$(printf '0.%03d' "$2")"
  kill -9 "$1" 2>/dev/null
  wait "$1" 2>/dev/null
  [ $? = 137 ]
}

# What was wrong with the batch that has just been finished.
problems() {
  local journal i ends whole
  journal=$(echo out/batch/*/journal.jsonl)
  for ((i = 1; i <= labs; i++)); do
    ends=$(grep -c "\"kind\":\"end\".*\"id\":\"lab$i-cpu\".*\"verdict\":\"passed\"" "$journal")
    # Killed while it writes its record, a run has all in its journal, the end too.
    whole=$(grep -l '"status":"complete"' out/batch/*/lab$i-cpu*/lab/*/{record.json,journal.jsonl} 2>/dev/null |
      xargs -r dirname | sort -u | wc -l)
    [ "$ends" = 1 ] && [ "$whole" = 1 ] || echo "lab$i: $ends ends noted, $whole runs complete"
  done
}

# Processes that run the lab; the pattern does not match itself.
left() { grep -la "$folder/[l]ab.lua" /proc/[0-9]*/cmdline 2>/dev/null | wc -l; }

lost=0 twice=0 stayed=0 failed=0 done_kills=0
while [ $done_kills -lt "$kills" ]; do
  rm -rf out log marks
  begin
  kill_after $! $((RANDOM % 800)) || continue
  done_kills=$((done_kills + 1))
  if [ $((done_kills % 3)) = 0 ] && ls out/batch/*/batch.json >/dev/null 2>&1; then
    resume
    if kill_after $! $((RANDOM % 300)); then done_kills=$((done_kills + 1)); fi
  fi
  sleep 0.2
  [ "$(left)" = 0 ] || stayed=$((stayed + 1))
  # One that was killed before it had written its plan never began; one that was resumed may be done already.
  ls out/batch/*/batch.json >/dev/null 2>&1 || continue
  if ! grep -q '"kind":"finish"' out/batch/*/journal.jsonl; then
    resume
    wait $! || { failed=$((failed + 1)); tail -n 5 log; }
  fi
  bad=$(problems)
  [ -n "$bad" ] || continue
  echo "$bad"
  [ -z "${KEEP:-}" ] || { trap - EXIT; echo "  left in $folder"; exit 1; }
  lost=$((lost + $(echo "$bad" | grep -c ' 0 ')))
  twice=$((twice + $(echo "$bad" | grep -c ' [2-9] ')))
done
echo "  $done_kills kills: $lost labs lost, $twice run twice, $stayed times a process stayed, $failed resumptions failed"
exit $((lost + twice + stayed + failed > 0))
