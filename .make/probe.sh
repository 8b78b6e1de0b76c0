#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# probe.sh PROGRAM CC: what the build found, and what it means.
found() { command -v "$1" >/dev/null && printf '%s' "$1"; }

echo "$("$1" --version): $1"
echo "  C compiler        $2"
cxx=${MOONWARP_CXX:-$(found clang++ || found g++ || true)}
echo "  CPU device        ${cxx:-no C++ compiler: install clang++ or g++ to compile kernels}"
nvrtc=$(ldconfig -p 2>/dev/null | grep -o 'libnvrtc\.so\.[0-9]*' | sort -V | tail -n 1)
[ -n "$nvrtc" ] || nvrtc=$(ls /usr/local/cuda/lib64 2>/dev/null | grep -o '^libnvrtc\.so\.[0-9]*$' | tail -n 1)
driver=$(ldconfig -p 2>/dev/null | grep -o 'libcuda\.so\.1' | head -n 1)
echo "  CUDA device       ${driver:-no driver (libcuda.so.1)}, ${nvrtc:-no compiler (libnvrtc)}"
filter=$("$1" -e 'print(require("moonwarp.host").has_filter())')
[ "$filter" = true ] || no_filter=', without a filter of system calls: install libseccomp-dev and build again'
echo "  sandbox           $(found bwrap || echo 'no bubblewrap (bwrap): labs run without a sandbox')${no_filter:-}"
echo "  pictures          $(found gnuplot || echo 'no gnuplot: data, scripts and terminal charts only')"
