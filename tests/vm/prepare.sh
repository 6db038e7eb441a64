#!/bin/bash
# SPDX-License-Identifier: MIT
# prepare.sh [--cached] [FOLDER]: what run.sh boots, in FOLDER (build/vm): Debian's kernel, its modules, and an initramfs of
# busybox and tests/vm/init. Nothing is installed; packages are unpacked. --cached: what is there is good enough, whatever its age.
#
# How it works: FOLDER/KEY/ holds one finished set, KEY being the packages' versions and a hash of this script and init;
# FOLDER/current names the newest. A set is made in FOLDER/making.XXXXXX and renamed when whole, under a lock: killed at any
# point, nothing half-made is ever taken for finished, and the next run removes it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cached=no
[ "${1-}" != --cached ] || { cached=yes && shift; }
folder=${1:-${here%/tests/vm}/build/vm}
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin

say() { echo "vm: $*" >&2; }
skip() { say "skipped: $*"; exit 77; }

[ "$(uname -m)" = x86_64 ] || skip "the guest is an x86_64 Debian, this machine is $(uname -m)"
scripts=$(cat "$here/prepare.sh" "$here/init" | sha256sum | cut -c 1-12)
whole() { [ -s "$1/kernel" ] && [ -s "$1/initramfs" ]; }
if [ $cached = yes ] && whole "$folder/current" && [[ $(readlink "$folder/current") == *-"$scripts" ]]; then exit 0; fi

for program in apt-get apt-cache dpkg-deb xz flock; do
    command -v $program >/dev/null || skip "no $program here: the guest is made of Debian's packages"
done

# Modules that are put in by hand before anything can be read from outside, then those that tests want to find in their place.
# What they depend on goes in before them; all others of the package are put in by the kernel's own request (init, modprobe).
boot_modules='virtio_pci virtio_console 9pnet_virtio 9p overlay'
test_modules='tun veth sch_netem sch_ingress act_mirred cls_u32 loop ext4 tcp_diag udp_diag unix_diag'
# folders of the package that no test can have a use for in a machine without devices
left_out='drivers/gpu drivers/media drivers/infiniband drivers/staging drivers/usb drivers/scsi drivers/iio drivers/platform
    drivers/net/ethernet drivers/net/wireless drivers/comedi drivers/video drivers/hid drivers/input drivers/hwmon drivers/isdn
    drivers/mtd drivers/power drivers/thunderbolt drivers/nvme drivers/target drivers/ata sound arch/x86/kvm lib/test_bpf.ko'

# awk reads to the end: apt-cache, cut off while it writes, fails, and the pipe with it
kernel_package() { apt-cache depends --important linux-image-amd64 2>/dev/null | awk '$1 == "Depends:" && !found++ { print $2 }'; }
candidate() { apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" && !found++ { print $2 }'; }
look_up() { # fills kernel, kernel_version, busybox_version
    kernel_version='' busybox_version=''
    kernel=$(kernel_package) && kernel_version=$(candidate "${kernel:-none}") && busybox_version=$(candidate busybox-static)
    [ -n "$kernel_version" ] && [ -n "$busybox_version" ]
}
if ! look_up && [ "$(id -u)" = 0 ]; then
    apt-get -qq update || true
    look_up || true
fi
if [ -z "$kernel_version" ] || [ -z "$busybox_version" ]; then
    skip 'apt knows no linux-image-amd64 and busybox-static here: apt-get update (as root), on Debian'
fi
key=$kernel_version-$busybox_version-$scripts
key=${key//:/_}

mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
if whole "$folder/$key"; then
    ln -sfn "$key" "$folder/current"
    exit 0
fi
rm -rf "$folder"/making.*
work=$(mktemp -d "$folder/making.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

say "making the guest: $kernel $kernel_version"
mkdir "$work/packages" "$work/set" "$work/ram"
fetch() { (cd "$work/packages" && apt-get -qq -o APT::Sandbox::User= download "$kernel=$kernel_version" "busybox-static=$busybox_version"); }
if ! fetch; then # the archive may have moved on since apt last looked
    [ "$(id -u)" = 0 ] || skip 'the packages could not be downloaded: apt-get update (as root), then again'
    apt-get -qq update && fetch
fi
dpkg-deb -x "$work"/packages/busybox-static_*.deb "$work/busybox"
busybox=$work/busybox/bin/busybox
release=${kernel#linux-image-}

exclude=()
for name in $left_out; do exclude+=("--exclude=*/kernel/$name"); done
dpkg-deb --fsys-tarfile "$work/packages/$kernel"_*.deb |
    tar -x -C "$work/set" "${exclude[@]}" --wildcards './boot/vmlinuz-*' './lib/modules/*'
modules=$work/set/lib/modules/$release
find "$modules" -name '*.ko.xz' -exec xz -d {} +
"$busybox" depmod -b "$work/set" "$release"

# The kernel as it is before compression: unpacking it under emulation takes seconds. What the header says is checked against
# what comes out; whatever does not fit is booted as Debian packs it.
packed=$work/set/boot/vmlinuz-$release
field() { od -An -v -t "u$2" -j "$1" -N "$2" "$packed" | tr -d ' '; } # Documentation/x86/boot.rst
start=$((($(field 0x1f1 1) + 1) * 512 + $(field 0x248 4)))
length=$(field 0x24c 4)
{ tail -c +$((start + 1)) "$packed" | head -c $((length - 4)) | xz -dc >"$work/set/kernel"; } 2>/dev/null || true
if [ "$(stat -c %s "$work/set/kernel")" = "$(field $((start + length - 4)) 4)" ] && head -c 4 "$work/set/kernel" | grep -q ELF; then
    rm "$packed"
else
    mv "$packed" "$work/set/kernel"
fi

# Everything a module needs, before it: modules.dep names what it needs nearest first.
ordered() {
    awk -v wanted="$*" '
        { sub(/:$/, "", $1); name = $1; sub(/.*\//, "", name); sub(/\.ko$/, "", name); path[name] = $1; deps[$1] = $0; sub(/^[^ ]* ?/, "", deps[$1]) }
        function put(p, list, n, i) {
            if (p in done) return
            done[p] = 1
            n = split(deps[p], list, " ")
            for (i = n; i >= 1; i--) put(list[i])
            print p
        }
        END { n = split(wanted, w, " "); for (i = 1; i <= n; i++) if (w[i] in path) put(path[w[i]]) }' "$modules/modules.dep"
}
mkdir -p "$work/ram/bin" "$work/ram/modules"
cp "$busybox" "$work/ram/bin/busybox"
cp "$here/init" "$work/ram/init"
for list in boot test; do
    wanted=${list}_modules
    # shellcheck disable=SC2086 # words are meant
    ordered ${!wanted} | while read -r path; do
        name=${path##*/}
        [ ! -e "$work/ram/modules/$name" ] || continue
        cp "$modules/$path" "$work/ram/modules/$name"
        echo "$name"
    done >"$work/ram/modules/$list"
done
(cd "$work/ram" && find . | sort | "$busybox" cpio -o -H newc 2>/dev/null) >"$work/set/initramfs"

mv "$work/set" "$folder/$key"
ln -sfn "$key" "$folder/current"
for old in "$folder"/*/; do # one set is kept
    old=${old%/}
    [ "$old" = "$folder/$key" ] || [ -L "$old" ] || flock -n "$old/kernel" rm -rf "$old" || true # not one that run.sh holds
done
