#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the plugin shows to Slurm and needs of it: exactly the exported symbols of the version script, no library beside
# the C library's, and no undefined symbol that is neither Slurm's nor the C library's.
# Usage: symbols_test.sh PLUGIN VERSION_SCRIPT
set -eu
plugin=$1
script=$2
failed=0

# check WHAT EXPECTED GOT
check() {
  if [ "$2" != "$3" ]; then
    printf '%s: expected\n%s\ngot\n%s\n' "$1" "$2" "$3" >&2
    failed=1
  fi
}

expected=$(sed -n '/global:/,/local:/s/^ *\([a-z_]*\);$/\1/p' "$script" | sort)
exported=$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | sort)
check 'exported symbols' "$expected" "$exported"

undefined=$(nm -D --undefined-only "$plugin" | awk '{ print $2 }' | sort)
slurm=$(printf '%s\n' "$undefined" | grep -E '^(slurm|spank)_' || true)
check "Slurm's symbols" 'slurm_debug
slurm_error
slurm_info
slurm_spank_log
spank_context
spank_get_item
spank_getenv
spank_option_register
spank_setenv
spank_unsetenv' "$slurm"

case $undefined in
  *__asan_init* | *__tsan_init*)
    echo 'a sanitizer adds libraries and symbols of its own: not looking at those'
    exit "$failed"
    ;;
esac

needed=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|libm\.so\.6|ld-linux.*)$' || true)
check 'needed libraries beside the C library' '' "$needed"

# Those of the C library carry its version; weak ones may be absent altogether.
other=$(nm -D --undefined-only "$plugin" | awk '$1 == "U" { print $2 }' | grep -vE '@GLIBC_|^(slurm|spank)_' || true)
check "undefined symbols that are neither Slurm's nor the C library's" '' "$other"
exit "$failed"
