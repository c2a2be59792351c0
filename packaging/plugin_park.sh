#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prerm: a package that is removed keeps its conffiles, but a drop-in without its plugin makes Slurm 22.05 print two
# lines of error at each srun. So it waits elsewhere until the package is installed again or purged.
set -e
conf=${DPKG_ROOT:-}/etc/slurm/plugstack.conf.d/zz-nccl_tune.conf
parked=${DPKG_ROOT:-}/var/lib/nccl-tune-slurm-plugin
if [ "$1" = remove ] && { [ -e "$conf" ] || [ -L "$conf" ]; }; then
  if mkdir -p "$parked" && mv -f --backup=numbered "$conf" "$parked/zz-nccl_tune.conf"; then exit 0; fi
  echo "nccl-tune-slurm-plugin: $conf could not be moved to $parked: remove it, or Slurm names the missing plugin at each srun" >&2
fi
