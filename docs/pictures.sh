#!/bin/sh
# Draws the pictures of docs/studies again, in one style.
#
#   docs/pictures.sh MOONWARP WORD [RUNS]
#
# docs/studies/FIGURE-WORD.png is the figure FIGURE (a chart, a timeline, a film's last picture) of the newest run below
# RUNS that has one. WORD tells devices and settings apart: cpu, h200, one-worker. Without RUNS each study that has such
# pictures runs first, on the CPU device; the machine should be quiet. Figures that no run has are named and stay.
set -eu
[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
moonwarp=$1 word=$2
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

if [ $# -ge 3 ]; then
  runs=$3
else
  runs=$made/runs
  for page in $(grep -l -- "-$word\.png" docs/studies/*.md); do
    "$moonwarp" run "$(basename "$page" .md)" --device cpu --out "$runs" --quiet
  done
fi

status=0
for picture in docs/studies/*-"$word".png; do
  figure=$(basename "$picture" "-$word.png")
  run=$(ls -d "$runs"/*/*/"$figure".* 2>/dev/null | sort | tail -n 1)
  if [ -n "$run" ] && "$moonwarp" plot "${run%/*}" --only "$figure" --to "$made" >"$made/said" 2>&1 &&
     cp "$made/$figure.png" "$picture"; then
    echo "$picture: $run"
  else
    echo "$picture: no run has it" >&2
    status=1
  fi
done
exit $status
