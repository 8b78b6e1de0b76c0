#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Stands in for Slurm's commands under their names. slurmctld runs the elements of an array as processes, one after the
# other, on a node called node1, until there is a file stop. $STAND_IN is the folder of the queue: of job N it has
# N/name, N/script, N/after (jobs), N/state/INDEX, and N/running (the group of processes of the element that runs).
# Files that a test puts there change what happens:
#   reject      sbatch fails with this text        late     sbatch queues the job and fails with this text
#   reject-N    the same for job N                 down     squeue fails with this text
#   hold        jobs stay pending                  hide     squeue does not know this job
#   early       elements are COMPLETED in the queue while they run
#   end-INDEX   the element is killed once when it has begun its lab, and has this state
#   twice       an element is begun again after it ended, as after a failure of its node
#   size        MaxArraySize
set -u
srun() { # --ntasks=N --kill-on-bad-exit=1 command...
  local tasks=${1#*=} status=0
  shift 2
  for rank in $(seq 0 $((tasks - 1))); do SLURM_PROCID=$rank "$@" || status=$?; done
  exit "$status"
}
[ "${0##*/}" = srun ] && srun "$@"

cd "$STAND_IN" || exit 1

is_over() { # state
  case $1 in PENDING | RUNNING | COMPLETING) return 1 ;; esac
}

all_over() { # job...
  local job state
  for job; do
    for state in "$job"/state/*; do is_over "$(cat "$state")" || return 1; done
  done
}

option() { sed -n "s/^#SBATCH --$1=//p" "$script" | tail -1; }

# An element in a process group of its own, which scancel ends.
element() { # job index output
  export SLURM_JOB_ID=$1$2 SLURM_ARRAY_JOB_ID=$1 SLURM_ARRAY_TASK_ID=$2 SLURM_CPUS_ON_NODE=1 SLURMD_NODENAME=node1
  cd "$(option chdir)" || exit 1
  exec setsid bash "$script" >>"$3" 2>&1
}

run_element() { # job index
  local state=$1/state/$2 output
  output=$(option output)
  output=${output//%a/$2}
  if [ -e early ]; then echo COMPLETED >"$state"; else echo RUNNING >"$state"; fi
  element "$1" "$2" "$output" &
  echo $! >"$1/running"
  if [ -e "end-$2" ]; then
    until [ -e "begun-$2" ] || [ "$(cat "$state")" != RUNNING ]; do sleep 0.02; done
    kill -KILL -- -$!
    wait $!
    [ "$(cat "$state")" = RUNNING ] && cat "end-$2" >"$state"
    rm "end-$2"
    return
  fi
  if wait $!; then set -- "$@" COMPLETED; else set -- "$@" FAILED; fi
  if [ -e "$1/cancelled" ]; then # over when all of its processes are, as in Slurm: they may still write
    while kill -0 -- -$! 2>/dev/null; do sleep 0.02; done
    set -- "$1" "$2" CANCELLED
  fi
  [ "$(cat "$state")" = RUNNING ] && echo "$3" >"$state"
}

run_job() { # job
  local job=$1 state script=$PWD/$1/script
  # shellcheck disable=SC2046 # several jobs
  until all_over $(cat "$job/after"); do sleep 0.02; done
  for state in $(cd "$job/state" && printf '%s\n' * | sort -n); do
    while [ -e hold ] && [ "$(cat "$job/state/$state")" = PENDING ]; do sleep 0.02; done
    [ "$(cat "$job/state/$state")" = PENDING ] || continue
    run_element "$job" "$state"
    [ -e twice ] && SLURM_RESTART_COUNT=1 run_element "$job" "$state"
  done
}

slurmctld() { # the process of the test
  local job
  until [ -e stop ] || [ ! -e "$STAND_IN" ] || ! kill -0 "$1" 2>/dev/null; do # the folder goes with the test
    for job in [0-9]*; do
      [ -e "$job/queued" ] || continue
      mv "$job/queued" "$job/begun"
      run_job "$job" &
    done
    sleep 0.02
  done
  [ ! -e "$STAND_IN" ] || scancel [0-9]*
}

sbatch() {
  local after="" job count file
  script=${*: -1}
  for word; do case $word in --dependency=afterany:*) after=${word#*:} ;; esac done
  job=1
  until mkdir "$job" 2>/dev/null; do job=$((job + 1)); done
  for file in reject "reject-$job"; do
    if [ -e "$file" ]; then cat "$file" >&2; rmdir "$job"; exit 1; fi
  done
  mkdir "$job/state"
  count=$(option array)
  count=${count%%\%*}
  count=${count#1-}
  for i in $(seq "${count:-1}"); do echo PENDING >"$job/state/$i"; done
  cp "$script" "$job/script"
  echo "$*" >"$job/words"
  script=$PWD/$job/script
  option job-name >"$job/name"
  echo "${after//:/ }" >"$job/after"
  touch "$job/queued"
  if [ -e late ]; then cat late >&2; exit 1; fi
  echo "$job"
}

squeue() {
  local names job state
  if [ -e down ]; then cat down >&2; exit 1; fi
  for word; do case $word in --name=*) names=,${word#*=}, ;; esac done
  for job in [0-9]*; do
    [ "$(cat hide 2>/dev/null)" = "$job" ] && continue
    case $names in *,"$(cat "$job/name" 2>/dev/null)",*) ;; *) continue ;; esac
    for state in "$job"/state/*; do
      is_over "$(cat "$state")" || echo "$job|${state##*/}|$(cat "$job/name")"
    done
  done
}

scancel() {
  local job state
  for job; do
    : >"$job/cancelled"
    for state in "$job"/state/*; do [ "$(cat "$state")" != PENDING ] || echo CANCELLED >"$state"; done
    [ -e "$job/running" ] && kill -TERM -- "-$(cat "$job/running")" 2>/dev/null
  done
  true
}

scontrol() { echo "MaxArraySize            = $(cat size 2>/dev/null || echo 1001)"; }

"${0##*/}" "$@"
