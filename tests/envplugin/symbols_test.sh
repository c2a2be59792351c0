#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the env plugin shows to NCCL and needs of its process: exactly the exported symbols of the version script, no
# library beside the C library's (no NCCL), and no undefined symbol of anything else; not unloaded; under 3 MiB.
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

expected=$(sed -n '/global:/,/local:/s/^ *\([A-Za-z0-9_]*\);$/\1/p' "$script" | sort)
check 'symbols in the version script' 'ncclEnvPlugin_v1
ncclEnvPlugin_v2' "$expected"
exported=$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | sort)
check 'exported symbols' "$expected" "$exported"
check 'flags: not unloaded' 'NODELETE' "$(readelf -d "$plugin" | grep -o NODELETE)"

undefined=$(nm -D --undefined-only "$plugin" | awk '{ print $2 }' | sort)
case $undefined in
  *__asan_init* | *__tsan_init*)
    echo 'a sanitizer adds libraries and symbols of its own: not looking at those'
    exit "$failed"
    ;;
esac

needed=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|libm\.so\.6|ld-linux.*)$' || true)
check 'needed libraries beside the C library' '' "$needed"

# Those of the C library carry its version; weak ones may be absent altogether.
other=$(nm -D --undefined-only "$plugin" | awk '$1 == "U" { print $2 }' | grep -v '@GLIBC_' || true)
check "undefined symbols that are not the C library's" '' "$other"

# Newer than the C library of many containers.
check 'calls that keep it out of containers' '' "$(printf '%s\n' "$undefined" | grep '^arc4random' || true)"

# The job's process must not be ended, doubled or given a thread.
harmful=$(printf '%s\n' "$undefined" | grep -E '^(fork|vfork|_Fork|posix_spawnp?|system|popen|exec[vl].*|pthread_create|exit|_exit|_Exit|setenv|unsetenv|putenv|clearenv|signal|sigaction|alarm|setitimer)@' || true)
check 'calls that change the process' '' "$harmful"
# By its file, whatever links lead to it.
size=$(stat -L -c %s "$plugin")
[ "$size" -lt 3145728 ] || check 'bytes' 'less than 3145728' "$size"
exit "$failed"
