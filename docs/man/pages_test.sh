#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The manual pages: groff finds nothing to warn about, and each page names every option, command, argument and key that
# the program or file it is about has.
# Usage: pages_test.sh NCCL_TUNE NCCL_LAUNCH NCCL_BENCH PLUGIN DROP_IN POLICY PAGE...
set -euo pipefail
nccl_tune=$1 nccl_launch=$2 nccl_bench=$3 plugin=$4 drop_in=$5 policy=$6
shift 6
pages=$(dirname "$1")
failed=0
export LC_ALL=C.UTF-8

fail() {
  printf '%s\n' "$*" >&2
  failed=1
}

# One long line, so that no name is broken at its end.
show() { groff -man -Tascii -P-c -P-b -P-o -P-u -rLL=30000n -rHY=0 "$pages/$1" | tr -s ' \n' ' '; }

# check PAGE WHAT: every word on standard input stands in the page, by itself.
check() {
  local page=$1 what=$2 text word count=0
  text=$(show "$page")
  while read -r word; do
    count=$((count + 1))
    grep -qE -- "(^|[^A-Za-z0-9_-])$word([^A-Za-z0-9_-]|\$)" <<<"$text" || fail "$page: does not name the $what $word"
  done
  [ "$count" -gt 0 ] || fail "$page: found no $what to look for"
}

options_of() { "$1" --help | grep -oE -- '(^|[ ,;])--?[A-Za-z][A-Za-z_-]*' | grep -oE -- '-.*' | sort -u; }

for page; do
  warnings=$(groff -man -ww -z -Tutf8 "$page" 2>&1) || fail "$page: groff failed"
  [ -z "$warnings" ] || fail "$warnings"
  name=$(basename "$page")
  [[ $(show "$name") == *" NAME ${name%.*} - "* ]] || fail "$page: its NAME is not ${name%.*}"
done

check nccl-tune.1 option < <(options_of "$nccl_tune")
check nccl-tune.1 command < <("$nccl_tune" --help | sed -n 's/^  nccl-tune \([a-z-]*\).*/\1/p')
check nccl-launch.1 option < <(options_of "$nccl_launch")
check nccl-bench.1 option < <(options_of "$nccl_bench")
check nccl-bench.1 variable < <("$nccl_bench" --help | grep -oE 'NCCL_(TESTS|BENCH)_[A-Z_]+' | sort -u)
check nccl-bench.1 mode < <("$nccl_bench" --help | sed -n 's/^ *nccl-bench \([a-z]*\) \[.*/\1/p')

# The option's own line in `srun --help` ends with its modes; the drop-in lists the arguments.
check spank_nccl_tune.8 mode < <(grep -a -o 'nccl-tune: set NCCL[[:print:]]*' "$plugin" | sed 's/.*: //; s/([^)]*)//g' |
  grep -oE '[a-z][a-z-]+' | sort -u)
check spank_nccl_tune.8 argument < <(sed -n 's/^#  *\([a-z_]*\)=.*/\1/p' "$drop_in")
check nccl-tune.toml.5 key < <(sed -n 's/^#\([a-z_]*\) = .*/\1/p; s/^#\{0,1\}\[\{1,2\}\([a-z]*\)[].].*/\1/p' "$policy" | sort -u)
exit "$failed"
