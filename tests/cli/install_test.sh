#!/usr/bin/env bash
# Installs into a folder of its own, and builds and runs the installed example against that, as a user would.
#   install_test.sh BUILD_FOLDER PREFIX LIBDIR
set -euo pipefail
build=$1 prefix=$2 libdir=$3
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet

export PKG_CONFIG_PATH=$root$prefix/$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
cp "$root$prefix/share/lath/examples/halo.c" "$root/halo.c"
(cd "$root" && ${CC:-cc} -Wall -Wextra halo.c $(pkg-config --cflags --libs lath) -o halo)

export LD_LIBRARY_PATH=$root$prefix/$libdir LATH_GPU=none
[[ $("$root/halo" | grep -c '300 of 300 ghost cells are right') == 2 ]]
[[ $("$root$prefix/bin/lath" segments 'vector(2,1,2,int)') == $'0 4\n8 4' ]]

# The emulator is found beside what was installed, wherever that was moved, and however the command was called.
unset LD_LIBRARY_PATH
emulated=$(cd / && LATH_GPU=emulated PATH=$root$prefix/bin:$PATH lath info)
grep -q 'Lath emulated GPU' <<<"$emulated"
emulated=$(cd / && LATH_GPU=emulated PATH=$(realpath "$build")/cli:$PATH lath info)
grep -q 'Lath emulated GPU' <<<"$emulated"
echo "install: the example runs against the installed library"
