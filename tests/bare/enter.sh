#!/bin/bash
# SPDX-License-Identifier: MIT
# enter.sh ROOT COMMAND…: makes ROOT the root of this mount namespace, which is the caller's to make and goes with the command.
# pivot_root, not chroot: the kernel lets nobody make a user namespace in a chroot.
set -euo pipefail
root=$1
shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
if command -v ip >/dev/null && [ "$(ip -o link show up lo | wc -l)" = 0 ]; then ip link set lo up; fi
cd "$root"
pivot_root . .
umount --lazy .
cd /
exec "$@"
