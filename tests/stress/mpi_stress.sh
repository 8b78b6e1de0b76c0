#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# mpi_stress.sh MOONWARP: an MPI job of four ranks, of which a process (a rank, what prints for it, or mpirun) is killed at a
# random moment, $KILLS times. No rank is left, and each run folder can be read. $MPI as in tests/support/mpi.lua.
# The mpirun of OpenMPI 4.1 may wait for itself for ever if a rank is killed that is just connecting to it; that is counted.
set -u
moonwarp=$1 kills=${KILLS:-20} mpi=${MPI:-openmpi} left=0 unreadable=0 ended=0 runs=0 hung=0
RANDOM=${SEED:-1}
mpirun=$(command -v "mpirun.$mpi" || command -v mpirun) || { echo "skipped: there is no mpirun"; exit 0; }
MOONWARP_MPICC=$(command -v "mpicc.$mpi" || command -v mpicc) || { echo "skipped: there is no mpicc"; exit 0; }
export MOONWARP_MPICC
flags=()
[ "$mpi" = openmpi ] && flags=(--allow-run-as-root --oversubscribe)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export MOONWARP_CACHE=$folder/cache

cat >"$folder/job.lua" <<'LUA'
local mw, mpi, nccl = require "moonwarp", require "moonwarp.mpi", require "moonwarp.nccl"
local dev, comm = mw.device(), nccl.communicator()
local x = { dev:full(mpi.rank(), "f64", 10000) }
for i = 1, math.huge do
  mw.record { i = i, t = mw.bench(function() comm:all_reduce(x) end, { samples = 5 }) }
  local all = mpi.all_gather { mpi.rank(), ("text"):rep(i) }
  if mpi.rank() == i % mpi.size() then print(#all) end
end
LUA

# Any process of the job; the last bytes of the pattern keep pgrep from finding itself.
processes() { pgrep -f "$folder/job.lu[a]"; }
ranks() { processes | grep -vx "$job"; }

for ((i = 1; i <= kills; i++)); do
  "$mpirun" "${flags[@]}" -n 4 "$moonwarp" run "$folder/job.lua" --mpi --device cpu --out "$folder/out$i" \
    </dev/null >"$folder/log" 2>&1 &
  job=$!
  sleep "$((RANDOM % 6)).$((RANDOM % 1000))"
  mapfile -t all < <(processes)
  [ ${#all[@]} != 0 ] && kill -KILL "${all[RANDOM % ${#all[@]}]}"
  for ((tries = 0; tries < 600; tries++)); do
    [ -z "$(processes)" ] && break
    sleep 0.1
  done
  [ -n "$(processes)" ] && [ -z "$(ranks)" ] && hung=$((hung + 1)) && kill -KILL "$job"
  if [ -n "$(ranks)" ]; then
    left=$((left + 1))
    ps -o pid,ppid,stat,args -p "$(processes | paste -sd,)"
    processes | xargs -r kill -KILL
  fi
  wait "$job" 2>/dev/null || ended=$((ended + 1))
  for run in "$folder/out$i"/*/*/; do
    [ -e "$run" ] || continue
    runs=$((runs + 1))
    "$moonwarp" export "$run" >/dev/null 2>"$folder/said" || { unreadable=$((unreadable + 1)); cat "$folder/said"; }
  done
done
echo "$kills killed, $ended jobs ended with an error, $hung mpirun hung, $left left ranks, $runs run folders, $unreadable unreadable"
[ $left = 0 ] && [ $unreadable = 0 ] && [ $ended = "$kills" ] && [ $runs != 0 ]
