#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# new_stress.sh MOONWARP: a script of moonwarp new for every plain kernel of kernels/*.cu. It runs, also in check mode, and
# finds nothing; or it ends with an error or a finding, and the script says what to fill in. None says that it passed.
set -u
moonwarp=$1 failed=0 clean=0 open=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export MOONWARP_CACHE=$folder/cache

for file in "$MOONWARP_HOME"/kernels/*.cu; do
  code="for _, name in ipairs(mw.device('cpu'):module('$file'):kernels()) do print(name) end"
  for kernel in $("$moonwarp" -e "$code" --out out); do
    said=$("$moonwarp" new "$kernel" "$(basename "$file")" 2>&1) || { echo "$kernel: $said"; failed=$((failed + 1)); continue; }
    sed -i 's/, 64)$/, 16)/; s/, 512)$/, 64)/; s/1 << 18/4096/; s/max_time = 0.5/max_time = 0.01/' "$kernel.lua"
    ends=""
    for mode in "" --check; do
      output=$(timeout 60 "$moonwarp" run "$kernel.lua" --device cpu --out out $mode 2>&1 </dev/null)
      status=$?
      ends="$ends $status"
      case $status in 0 | 1 | 3) ;; *) echo "$kernel $mode: status $status"; failed=$((failed + 1)) ;; esac
      if [[ $output == *passed* ]]; then echo "$kernel $mode: $output"; failed=$((failed + 1)); fi
    done
    if [ "$ends" = " 0 0" ]; then
      clean=$((clean + 1))
    else
      open=$((open + 1))
      grep -q "fill in" "$kernel.lua" || { echo "$kernel:$ends, and nothing to fill in"; failed=$((failed + 1)); }
    fi
    rm "$kernel.lua"
  done
done
echo "$clean kernels run and are clean, $open need what is to be filled in"
[ $failed = 0 ] && [ $clean -gt 30 ]
