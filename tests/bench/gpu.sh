#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# gpu.sh PROGRAM [OUT]: the benchmarks that want an NVIDIA GPU, every spec, and the studies, one after the other. What
# fails or takes too long is said, and the next one runs. Their output stays in OUT (out); a table of what was to be
# reached comes last. Status 1 where something failed, was left out or did not run.
#   LIMIT=1200 seconds for everything; what does not fit in is not run
#   JOBS=2     files of specs at a time
set -uo pipefail
program=$1 out=${2:-out} limit=${LIMIT:-1200} failed=0
bench=$("$program" -e 'print(require("moonwarp.core").home() .. "/tests/bench")') || exit 1
libraries=${bench%/tests/bench}/build/bench
export JOBS=${JOBS:-2}
"$program" -e 'mw.device "cuda"' || exit
mkdir -p "$out" || exit 1
rm -f "$out"/*.log "$out/table.txt"

outcome() { # log status seconds
  case $2 in
    0) grep '^ *left out: ' "$1" || echo ok ;;
    124 | 137) echo "stopped after $3 s" ;;
    *) echo "failed with status $2: $(reason "$1")" ;;
  esac
}

# The program's complaint, what is missing to build with, the compiler's first error; else the last line.
reason() { # log
  grep -m 1 '^moonwarp: \|^no .* to build .* with$\|^[^ ]*: \(fatal \)\?error: ' "$1" ||
    grep -v '^[[:space:]]*$' "$1" | tail -n 1
}

step() { # name seconds command ...
  local name=$1 most=$2 begin=$SECONDS said="not run: no time left"
  local log=$out/$name.log left=$((limit - SECONDS))
  shift 2
  [ "$left" -ge "$most" ] || most=$left
  : >"$log"
  if [ "$most" -ge 10 ]; then
    timeout -k 5 "$most" "$@" >"$log" 2>&1 </dev/null
    said=$(outcome "$log" $? "$most")
  fi
  [ "$said" = ok ] || failed=1
  printf '%-16s %4d s   %s\n' "$name" $((SECONDS - begin)) "$said" | tee -a "$out/table.txt"
}

lua() { # name seconds [ARGUMENTS OF run ...]
  local name=$1 most=$2
  shift 2
  step "$name" "$most" "$program" run "$bench/$name.lua" --out "$out/runs" "$@"
}

step build 120 make -k -j3 -C "$bench" DIR="$libraries" "$libraries"/{bare_launch,cub,nvbench_method}.so
for name in launch memcopy_library cumsum scan reduction sum stencil nbody pipeline first_launch; do lua $name 60; done
lua nvbench 90
lua bench_cost 60 -p on=cuda:0
step check-gpu 300 "$bench/../check-gpu.sh" "$program"
step studies 500 "$bench/suite.sh" "$program" "$out/studies"
lua compare 60 -p pairs=10

for log in "$out"/*.log; do
  figures=$(grep 'to reach:\|^not ok' "$log"; tail -n 1 "$log" | grep '^[0-9]* passed, ')
  [ -z "$figures" ] || printf '== %s\n%s\n' "$(basename "$log" .log)" "$figures"
done | tee -a "$out/table.txt"
exit $failed
