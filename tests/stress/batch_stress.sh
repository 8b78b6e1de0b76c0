#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Ends a batch, a supervisor or a lab at random moments: SIGKILL, one Ctrl-C, two, SIGSTOP. Then resumes the batch until
# it is complete. No lab may be lost, pass twice or begin without an end, and no process may stay. Every other batch runs
# its labs without a sandbox, every third is hit once more while it is resumed.
#   [KEEP=1] [SEED=n] tests/stress/batch_stress.sh PROGRAM [KILLS]    KEEP: stops at the first trouble, leaves its folder
set -u
program=$(realpath "$1") kills=${2:-40}
RANDOM=${SEED:-$$}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
labs=12

cat >lab.lua <<'LUA'
local mw = require "moonwarp"
local ms = mw.arg("ms", 30)
mw.record { device = "cpu", part = 1 }
os.execute("setsid sleep 100 & sleep 0.0" .. ms)
mw.record { device = "cpu", part = 2 }
LUA
cat >curriculum.lua <<LUA
local labs = {}
for i = 1, $labs do
  labs[i] = { name = "lab" .. i, script = "lab.lua", devices = "cpu", params = { ms = 20 + i * 5 }, retries = 9,
              needs = i % 2 == 0 and { "lab" .. (i - 1) } or nil }
end
return labs
LUA

batches=0 done_kills=0 lost=0 twice=0 open=0 stayed=0 failed=0
declare -A by_kind

moonwarp() { MOONWARP_STRESS=$folder exec env --default-signal=INT "$program" "$@" >>log 2>&1; }
begin() { (moonwarp batch curriculum.lua --out out --jobs $((1 + RANDOM % 2)) --sandbox "$1") & }
resume() { (moonwarp batch --resume --out out) & }

# Processes of the batch that runs, by what their environment says; zombies have none.
ours() { grep -la "MOONWARP_STRESS=$folder" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
is_lab() { grep -qa MOONWARP_LAB= "/proc/$1/environ" 2>/dev/null && [ "$(cat "/proc/$1/comm" 2>/dev/null)" = moonwarp ]; }

# One process of a kind below the batch; none if there is none at the moment.
some() { # lab|supervisor batch
  local pid
  for pid in $(ours); do
    case $1 in
      lab) is_lab "$pid" && echo "$pid" && return ;;
      supervisor)
        [ "$(cut -d' ' -f4 "/proc/$pid/stat" 2>/dev/null)" = "$2" ] && ! is_lab "$pid" && echo "$pid" && return
        ;;
    esac
  done
}

# Sends a signal to a process that is there; false if it is not.
hit() { # kind batch
  local target=$2 signal=KILL
  case $1 in
    interrupt*) signal=INT ;;
    supervisor-*) target=$(some supervisor "$2") ;;
    lab-*) target=$(some lab "$2") ;;
  esac
  [[ $1 = *-stop ]] && signal=STOP
  [ -n "$target" ] && kill -$signal "$target" 2>/dev/null || return 1
  [ "$1" != interrupt-twice ] || { sleep 0.2; kill -INT "$target" 2>/dev/null; }
  done_kills=$((done_kills + 1)) by_kind[$1]=$((${by_kind[$1]:-0} + 1))
}

# Hits once after a random time, then waits for the batch.
trouble() { # batch
  local all=(batch-kill batch-kill batch-kill interrupt interrupt-twice supervisor-kill supervisor-stop lab-kill lab-kill)
  sleep "0.$(printf %03d $((RANDOM % 900)))"
  hit "${all[RANDOM % ${#all[@]}]}" "$1"
  wait "$1" 2>/dev/null
}

# Whether no process is left; those that die get a moment.
is_clean() {
  local i
  for ((i = 0; i < 100; i++)); do
    [ -z "$(ours)" ] && return
    sleep 0.05
  done
  false
}

count() { grep -c "\"kind\":\"$1\".*\"id\":\"$2-cpu\"" out/batch/*/journal.jsonl; }

# What is wrong with the batch that has just been completed.
check() {
  local i name passes whole
  for ((i = 1; i <= labs; i++)); do
    name=lab$i
    passes=$(grep -c "\"kind\":\"end\".*\"id\":\"$name-cpu\".*\"verdict\":\"passed\"" out/batch/*/journal.jsonl)
    # Killed while it writes its record, a run has all in its journal, the end too.
    whole=$(grep -l '"status":"complete"' out/batch/*/$name-cpu*/lab/*/{record.json,journal.jsonl} 2>/dev/null | wc -l)
    [ "$passes" -ge 1 ] && [ "$whole" -ge 1 ] || { lost=$((lost + 1)); echo "$name: $passes passes, $whole records"; }
    [ "$passes" -le 1 ] || { twice=$((twice + 1)); echo "$name passed $passes times"; }
    [ "$(count begin $name)" = "$(count end $name)" ] || { open=$((open + 1)); echo "$name: a begin without an end"; }
  done
}

one_batch() {
  rm -rf out log
  batches=$((batches + 1))
  if [ $((batches % 2)) = 0 ]; then begin off; else begin auto; fi
  trouble $!
  is_clean || { stayed=$((stayed + 1)); ps -o pid,ppid,args -p "$(ours | paste -sd,)"; }
  ls out/batch/*/batch.json >/dev/null 2>&1 || return 0 # killed before it had written its plan, it never began
  while ! grep -q '"kind":"finish"' out/batch/*/journal.jsonl; do
    resume
    if [ $((batches % 3)) = 0 ] && [ $((RANDOM % 2)) = 0 ]; then trouble $!; continue; fi
    wait $! || { failed=$((failed + 1)); tail -n 5 log; return; }
  done
  is_clean || stayed=$((stayed + 1))
  check
}

while [ $done_kills -lt "$kills" ]; do
  one_batch
  [ -n "${KEEP:-}" ] && [ $((lost + twice + open + stayed + failed)) != 0 ] && { trap - EXIT; echo "left in $folder"; exit 1; }
done
for kind in "${!by_kind[@]}"; do echo "   $kind: ${by_kind[$kind]}"; done | sort
echo "   $done_kills hits on $batches batches of $labs labs: $lost labs lost, $twice passed twice, $open without an end," \
  "$stayed times a process stayed, $failed resumptions failed"
exit $((lost + twice + open + stayed + failed > 0))
