#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs COMMAND as root on a copy of this machine's root file system: what it installs is real to it, and gone with it.
# FOLDER is there as it is, and is where the copy lives meanwhile. What COMMAND leaves running is killed.
# Ends with COMMAND's status, or with 77 where this machine lays no file system over its root.
#   on_a_copy.sh FOLDER COMMAND [ARGS]
set -eu
if [ "${1-}" != --inside ]; then
  exec unshare --mount --pid --fork --kill-child --propagation private "$0" --inside "$@"
fi
shift
folder=$1
shift
layers=$folder/.copy
mkdir -p "$layers"
mount -t tmpfs none "$layers"
mkdir "$layers/upper" "$layers/work" "$layers/root"
mount -t overlay none -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" "$layers/root" || exit 77
cd "$layers/root"
mount --rbind /dev dev
mount --rbind /sys sys
mount -t proc none proc
mkdir -p ".$folder"
mount --bind "$folder" ".$folder"
mkdir .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old
"$@"
