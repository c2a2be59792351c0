#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# postrm: nothing of ours is left after a purge.
set -e
if [ "$1" = purge ]; then
  rm -rf "${DPKG_ROOT:-}/var/lib/nccl-tune-slurm-plugin"
fi
