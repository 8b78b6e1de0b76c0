#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# deps.sh [--name-only] build|demo|check|cluster|browser|metrics
# Names the Debian or Ubuntu packages that are missing, then installs them. NO_DEPS=1 or --name-only: names them and
# fails. If nothing is missing it prints nothing; without dpkg it checks nothing.
set -euo pipefail

build=(gcc libc6-dev liblua5.4-dev libedit-dev libxxhash-dev)
demo=(lua-filesystem lua-cjson gnuplot-nox libseccomp-dev)
check=(lua5.4 lua-busted libcmocka-dev lua-check bubblewrap libopenblas-dev liblapacke-dev libfftw3-dev)
cluster=(slurm-wlm munge openmpi-bin libopenmpi-dev)
browser=(chromium nodejs npm)
metrics=(cloc)

name_only=${NO_DEPS:-}
if [ "$1" = --name-only ]; then
  name_only=1
  shift
fi
case $1 in
  build) wanted=("${build[@]}") ;;
  demo) wanted=("${build[@]}" "${demo[@]}") ;;
  check) wanted=("${build[@]}" "${demo[@]}" "${check[@]}") ;;
  cluster) wanted=("${build[@]}" "${demo[@]}" "${check[@]}" "${cluster[@]}") ;;
  browser) wanted=("${build[@]}" "${demo[@]}" "${browser[@]}") ;;
  metrics) wanted=("${metrics[@]}") ;;
  *) echo "deps.sh: unknown set '$1'" >&2; exit 2 ;;
esac

command -v dpkg-query >/dev/null || exit 0

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing=()
for package in "${wanted[@]}"; do
  case $package in
    gcc) command -v gcc >/dev/null || command -v clang >/dev/null || missing+=(gcc) ;;
    chromium) command -v "${CHROMIUM:-chromium}" >/dev/null || missing+=(chromium) ;;
    nodejs) command -v node >/dev/null || missing+=(nodejs) ;;
    npm) command -v npm >/dev/null || missing+=(npm) ;;
    gnuplot-nox) command -v gnuplot >/dev/null || missing+=(gnuplot-nox) ;;
    *) installed "$package" || missing+=("$package") ;;
  esac
done
# The CPU device compiles kernels with whichever C++ compiler it finds.
if [ "$1" != build ]; then
  command -v clang++ >/dev/null || command -v g++ >/dev/null || missing+=(g++)
fi
[ ${#missing[@]} -gt 0 ] || exit 0

echo "missing packages: ${missing[*]}"
by_hand="apt-get install --no-install-recommends ${missing[*]}"
if [ -n "$name_only" ]; then
  echo "${NO_DEPS:+NO_DEPS is set: }install them with: $by_hand" >&2
  [ -n "${NO_DEPS:-}" ] || echo "(make demo and make check do so by themselves)" >&2
  exit 1
fi
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "there is no sudo here; as root: $by_hand" >&2; exit 1; }
  apt=(sudo "${apt[@]}")
fi
echo "installing them with apt-get ..."
install=("${apt[@]}" install -y --no-install-recommends "${missing[@]}")
# The package lists of a fresh machine are empty or old: a failed try is repeated with new ones.
"${install[@]}" >/dev/null 2>&1 || { "${apt[@]}" update && "${install[@]}" >/dev/null; } || {
  echo "they could not be installed (see above); by hand, as root: $by_hand" >&2
  exit 1
}
