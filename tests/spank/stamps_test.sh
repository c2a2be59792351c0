#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The plugin of each release: it carries that release's number, by which Slurm takes or refuses it, and is otherwise the
# same to the byte. Each is a RELEASE=FILE.
# Usage: stamps_test.sh RELEASE=FILE...
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
  echo "$*" >&2
  failed=1
}

# The value of a 4-byte object by its name, as 8 hexadecimal digits.
value_of() {
  local address
  address=$(nm -D "$2" | awk -v name="$1" '$3 == name { print $1 }')
  [ -n "$address" ] || return 0
  objdump -s --start-address="0x$address" --stop-address="$((16#$address + 4))" "$2" |
    awk '/^ [0-9a-f]+ / { print $2 }' | sed 's/\(..\)\(..\)\(..\)\(..\)/\4\3\2\1/'
}

# major.minor as Slurm counts: a byte each, then one for the micro number.
number_of() { printf '00%02x%02x00\n' "$((10#${1%.*}))" "$((10#${1#*.}))"; }

[ "$#" -ge 8 ] || fail "got $# plugins, expected one for each of 8 releases at least"
first=
for pair in "$@"; do
  release=${pair%%=*}
  file=${pair#*=}
  expected=$(number_of "$release")
  got=$(value_of plugin_version "$file")
  [ "$got" = "$expected" ] || fail "$file: plugin_version: got \"$got\", expected $expected for Slurm $release"
  [ "$(value_of spank_plugin_version "$file")" = 00000001 ] || fail "$file: spank_plugin_version: expected 1"
  # A sanitizer writes the names of source files into the data.
  if [[ $(nm -D --undefined-only "$file") == *__asan_init* ]]; then continue; fi
  # Neither the names of source files nor the number of the build.
  objcopy --strip-all --remove-section .note.gnu.build-id "$file" "$work/$release"
  if [ -n "$first" ]; then
    differing=$({ cmp -l "$work/$first" "$work/$release" || true; } | wc -l)
    if [ "$differing" -lt 1 ] || [ "$differing" -gt 2 ]; then
      fail "$file: differs from the plugin of $first in $differing bytes, expected those of the number, 1 or 2"
    fi
  fi
  first=${first:-$release}
done
exit "$failed"
