#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# metrics.sh: lengths of files and C functions, beside the budget of CONTRIBUTING.md, and lines of code.
set -euo pipefail

quantiles() { # lines of numbers -> count, median, 90th percentile, longest
  sort -n | awk '{ v[NR] = $1 } END { if (NR) printf "%5d  median %3d  p90 %3d  longest %3d\n", NR, v[int((NR + 1) / 2)],
    v[int(NR * 0.9 + 0.999)], v[NR] }'
}

c_files() { find core tests -name '*.c' -o -name '*.h'; }

lua_files() { find lua experiments tests docs -name '*.lua'; }

functions() { # "lines file:line"
  c_files | grep '\.c$' | xargs awk '
    FNR == 1 { inside = 0 }
    /^[A-Za-z_].*\) *\{$/ && !inside { inside = 1; start = FNR; next }
    /^[A-Za-z_].*\) *\{.*\}$/ { print 1, FILENAME ":" FNR }
    /^\}/ && inside { print FNR - start + 1, FILENAME ":" start; inside = 0 }'
}

lengths() { xargs wc -l | awk '$2 != "total" { print $1, $2 }'; }

code() { # FOLDER... -> lines without comments and blanks
  cloc --quiet --csv "$@" | awk -F, '$2 == "SUM" { print $5 }'
}

echo "budget: functions median 12, p90 35, none over 70; files median 250, none over 600"
printf 'C functions  '; functions | quantiles
printf 'C files      '; c_files | lengths | quantiles
printf 'Lua files    '; lua_files | lengths | quantiles
functions | awk '$1 > 70 { print "  over budget: " $2 ", " $1 " lines" }'
{ c_files; lua_files; } | lengths |
  awk '$1 > 600 { print "  over budget: " $2 ", " $1 " lines" }'
for folder in core lua experiments plots; do printf 'lines of code  %-12s %6d\n' $folder "$(code $folder)"; done
printf 'lines of code  %-12s %6d\n' 'together' "$(code core lua experiments plots)"
