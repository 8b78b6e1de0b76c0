#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# bundle.sh BUILD NAME: dist/NAME.tar.gz, a folder that runs where there is an x86-64 Linux with glibc 2.34 or newer
# and nothing else. Fails where the program or a module needs more than that.
set -euo pipefail
build=$1 name=$2
root=dist/$name
glibc=2.34

rm -rf "$root"
mkdir -p "$root"/{bin,lib,licences}
cp "$build/moonwarp" "$root/bin/"
strip --strip-debug "$root/bin/moonwarp"
cp -r lua kernels experiments plots docs build/generated/manual.txt build/generated/meta "$root/"
mkdir -p "$root/core/backend/cpu"
cp -r core/backend/cpu/abi.h core/backend/cpu/shim "$root/core/backend/cpu/"
cp -r core/mpi "$root/core/"
mkdir -p "$root/core/runtime"
cp -r core/runtime/include "$root/core/runtime/"
# The shim over MPI for machines without an mpicc, of those that are installed here.
mkdir -p "$root/lib/mpi"
for mpicc in openmpi mpich; do
  if command -v "mpicc.$mpicc" >/dev/null; then
    "mpicc.$mpicc" -O2 -fPIC -shared -fvisibility=hidden -o "$root/lib/mpi/$mpicc.so" core/mpi/shim.c
  fi
done
mkdir -p "$root/tests"
cp -r tests/*.lua tests/cxx-o0 tests/check-gpu.sh "$root/tests/"
for room in tests/*/; do
  case $room in */backend_null/ | */browser/ | */c/ | */census/ | */cluster/ | */mock/ | */mpi/ | */stress/) ;; *) cp -r "$room" "$root/tests/" ;; esac
done
cp README.md CHANGELOG.md LICENSE "$root/" 2>/dev/null || cp LICENSE "$root/"

# What specs name of tests/ comes with them. tests/mock needs core's headers: its specs skip without it.
named=$(sed 's/--.*//' tests/*.lua tests/*/*_spec.lua tests/support/*.lua | grep -oE '\btests/[A-Za-z0-9_./-]*\w' | grep -v '^tests/mock' | sort -u)
for path in $named; do
  if [ -e "$path" ] && [ ! -e "$root/$path" ]; then
    echo "bundle: specs name $path, which the archive lacks: copy it above" >&2
    exit 1
  fi
done

module() { # the file that a stock lua5.4 would load
  lua5.4 -e "print(assert(package.searchpath('$1', package.path) or package.searchpath('$1', package.cpath)))"
}
licence() { cp "/usr/share/doc/$1/copyright" "$root/licences/$1"; }

cp -L "$(module lfs)" "$root/lib/lfs.so"
cp -L "$(module cjson)" "$root/lib/cjson.so"
# What the benchmarks compare with is built where they run, without Lua's headers; only their caller knows Lua.
libraries=$(realpath "$build")/bench
make -s -C tests/bench DIR="$libraries" "$libraries/native.so"
cp "$libraries/native.so" "$root/lib/"
for package in lua-filesystem lua-cjson liblua5.4-dev libedit-dev libbsd-dev libmd-dev libtinfo6 libxxhash-dev libseccomp-dev; do
  licence "$package"
done

# The sandbox of another machine depends on it.
if [ "$("$build/moonwarp" -e 'print(require("moonwarp.host").has_filter())')" != true ]; then
  echo "bundle: the program has no filter of system calls: install libseccomp-dev, and build it again" >&2
  exit 1
fi

start() { # name, script, what it does
  cat >"$root/$1" <<SCRIPT
#!/usr/bin/env bash
# $3
here=\$(cd "\$(dirname "\$0")" && pwd)
exec "\$here/$2" "\$here/bin/moonwarp" "\$@"
SCRIPT
  chmod +x "$root/$1"
}
start check-gpu tests/check-gpu.sh "Every test of moonwarp on this machine's GPU."
start bench-gpu tests/bench/gpu.sh "Every benchmark, test and study of moonwarp on this machine's GPU: bench-gpu [OUT]."

for file in "$root/bin/moonwarp" "$root"/lib/*.so; do
  needed=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -n 1)
  if [ "$(printf '%s\n' "$needed" $glibc | sort -V | tail -n 1)" != $glibc ]; then
    echo "bundle: $file needs glibc $needed, newer than $glibc: build it on an older system" >&2
    exit 1
  fi
  others=$(objdump -p "$file" | awk '/NEEDED/ { print $2 }' | grep -Ev '^(libc|libm|libdl|libpthread|ld-linux-x86-64)\.so' || true)
  if [ -n "$others" ]; then
    echo "bundle: $file needs $others, which another machine may lack: install the static library" >&2
    exit 1
  fi
done

tar -C dist --owner=0 --group=0 -czf "dist/$name.tar.gz" "$name"
du -h "dist/$name.tar.gz"
