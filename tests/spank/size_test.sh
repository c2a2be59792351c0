#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The plugin as it is installed, without debugging symbols, is smaller than 3 MiB: every slurmd and slurmstepd maps it.
# Usage: size_test.sh PLUGIN
set -euo pipefail
limit=$((3 << 20))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

is_small() {
  local size
  strip -o "$work/stripped" "$1"
  size=$(stat -c %s "$work/stripped")
  echo "$(basename "$1"): $size bytes stripped, of at most $limit"
  [ "$size" -lt "$limit" ]
}

if [[ $(nm -D --undefined-only "$1") == *__[at]san_init* ]]; then
  echo 'a sanitizer makes it larger: not looking at its size'
  exit 0
fi
is_small "$1"
# A plugin with as much more in it as is left must not pass.
head -c "$limit" /dev/zero >"$work/more"
objcopy --add-section .more="$work/more" --set-section-flags .more=alloc,readonly "$1" "$work/large.so" 2>/dev/null
if is_small "$work/large.so"; then
  echo 'a plugin larger than the limit passes' >&2
  exit 1
fi
