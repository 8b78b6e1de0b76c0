#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# calls_stress.sh PROGRAM: random calls of the whole API (tests/support/fuzz.lua), $CALLS in all, in processes of 20000 calls with
# seeds that follow $SEED. Each process ends with status 0 and "done", or is named: its seed, how it ended, the call under
# way and the last of what it printed. After $SECONDS_MOST (800 s) no more are started.
set -u
program=$1 all=${CALLS:-1000000} each=20000 seed=${SEED:-1} most=${SECONDS_MOST:-800}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fuzz=$PWD/tests/support/fuzz.lua
export ASAN_OPTIONS=${ASAN_OPTIONS:-allow_user_segv_handler=1:intercept_tls_get_addr=0}
export MOONWARP_CACHE=$scratch/cache
unset MOONWARP_DEVICE

ending() { # status
  case $1 in
    0) echo "status 0 without its last line" ;;
    124 | 137) echo "still running after 300 s" ;;
    *) [ "$1" -gt 128 ] && echo "signal $(($1 - 128))" || echo "status $1" ;;
  esac
}

processes=0 bad=0
for ((done = 0; done < all && SECONDS < most; done += each, seed++)); do
  mkdir "$scratch/here"
  (cd "$scratch/here" && exec timeout -k 5 300 "$program" run "$fuzz" --device cpu -- cpu "$seed" "$each") \
    >"$scratch/log" 2>&1
  status=$?
  processes=$((processes + 1))
  if [ $status != 0 ] || ! grep -aq "^done $each$" "$scratch/log"; then
    bad=$((bad + 1))
    echo "seed $seed: $(ending $status), during: $(head -c 300 "$scratch/here/last" | tr '\n' ' ')"
    grep -avE '^\s*$' "$scratch/log" | tail -n 25 | cut -c 1-200 | sed 's/^/  | /'
  fi
  rm -rf "$scratch/here"
done
echo "$processes processes of $each calls, $((processes - bad)) ended well, $bad did not"
[ $bad = 0 ]
