#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# preinst and postinst: takes back the drop-in that plugin_park.sh has put aside, with what the site has changed in it.
set -e
conf=${DPKG_ROOT:-}/etc/slurm/plugstack.conf.d/zz-nccl_tune.conf
parked=${DPKG_ROOT:-}/var/lib/nccl-tune-slurm-plugin
case $1 in
  install | abort-remove)
    if { [ -e "$parked/zz-nccl_tune.conf" ] || [ -L "$parked/zz-nccl_tune.conf" ]; } && [ ! -e "$conf" ] && [ ! -L "$conf" ]; then
      mkdir -p "${conf%/*}"
      mv -f "$parked/zz-nccl_tune.conf" "$conf"
    fi
    if [ -d "$parked" ]; then rmdir "$parked" 2>/dev/null || true; fi
    ;;
esac
