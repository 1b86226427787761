#!/usr/bin/env bash
# Loads a mount of a running cluster: fio with verification, and trees of this machine by tar and diff. Measures it beside
# 'ebb fs'. Takes some minutes; ./ebb test does not run it.
#
#   mount_load.sh [--size MIB] [--tree DIRECTORY] PROGRAMS CONF
#
# PROGRAMS has ebbfs and ebbfs-mount, CONF core-site.xml. DIRECTORY is what tar copies (/usr/include).
#
# Needs fio (apt-get install fio) and FUSE. Prints a table of figures and 'passed'. What it wrote is removed.
set -euo pipefail
size=512 source=/usr/include
while [ $# -gt 2 ]; do
  case "$1" in
    --size) size=$2 ;;
    --tree) source=$2 ;;
    *) break ;;
  esac
  shift 2
done
[ $# = 2 ] || { echo "usage: mount_load.sh [--size MIB] [--tree DIRECTORY] PROGRAMS CONF" >&2; exit 2; }
command -v fio >/dev/null || { echo "mount_load.sh: fio is missing; install the package fio" >&2; exit 2; }
programs=$(realpath "$1") conf=$(realpath "$2")
work=$(mktemp -d /tmp/ebbfs-mount-load.XXXXXX)
point=$work/mnt here=$point/load
mkdir "$point"

finish() {
  "$programs/ebbfs-mount" umount --lazy "$point" 2>/dev/null || true
  "$programs/ebbfs" --conf "$conf" -rm -r -f -skipTrash /load >/dev/null 2>&1 || true
  rm -rf --one-file-system "$work"
}
trap finish EXIT

mount() { "$programs/ebbfs-mount" mount --conf "$conf" --log "$work/log" "$point"; }
# Without pages of the kernel.
mount_again() { "$programs/ebbfs-mount" umount "$point"; mount; }
shell() { "$programs/ebbfs" --conf "$conf" "$@"; }

# rate WHAT COMMAND...: runs the command, which moves 'size' MiB.
rate() {
  local what=$1 began ended; shift
  began=$(date +%s%N)
  "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; echo "mount_load.sh: $what failed" >&2; exit 1; }
  ended=$(date +%s%N)
  awk -v what="$what" -v mib="$size" -v nanos=$((ended - began)) \
    'BEGIN { printf "%-44s %7.2f s %8.1f MiB/s\n", what, nanos / 1e9, mib / (nanos / 1e9) }'
}

# seconds WHAT COMMAND...: the same without a rate.
seconds() {
  local what=$1 began ended; shift
  began=$(date +%s%N)
  "$@" >"$work/out" 2>&1 || { head -n 20 "$work/out" >&2; echo "mount_load.sh: $what failed" >&2; exit 1; }
  ended=$(date +%s%N)
  awk -v what="$what" -v nanos=$((ended - began)) 'BEGIN { printf "%-44s %7.2f s\n", what, nanos / 1e9 }'
}

head -c "${size}M" /dev/urandom >"$work/data"
mount
mkdir "$here"
rate 'write by dd, bs=1M, with fsync' dd if="$work/data" of="$here/dd" bs=1M conv=fsync
rate 'write by dd, bs=4k' dd if="$work/data" of="$here/dd4k" bs=4k
rate 'ebb fs -put' shell -put "$work/data" /load/put
mount_again
rate 'read by dd, bs=1M' dd if="$here/dd" of=/dev/null bs=1M
rate 'read by dd, bs=1M, pages of the kernel' dd if="$here/dd" of=/dev/null bs=1M
mount_again
rate 'read by dd, bs=4k' dd if="$here/dd4k" of=/dev/null bs=4k
rate 'ebb fs -get' shell -get /load/put "$work/got"
cmp "$work/data" "$work/got"
cmp "$work/data" "$here/dd"
cmp "$work/data" "$here/dd4k"
rm "$work/got"

fio_job() { fio --directory="$here" --name=job --size="${size}m" --bs=128k --verify=crc32c --verify_fatal=1 --verify_state_save=0 --fallocate=none "$@"; }
rate 'fio: sequential write, verified' fio_job --rw=write --ioengine=sync --do_verify=1 --end_fsync=1
mount_again
seconds 'fio: random reads of 128 KiB, verified' fio_job --rw=randread --ioengine=psync --verify_only=1
mount_again
seconds 'fio: 4 readers, random 4 KiB, 10 s' fio --directory="$here" --filename=job.0.0 --name=random --rw=randread \
  --size="${size}m" --bs=4k --numjobs=4 --time_based --runtime=10 --group_reporting --ioengine=psync
grep -aE 'IOPS|clat \(' "$work/out" | sed 's/^/    /'

# Without what HDFS has no files for.
cp -r --no-preserve=ownership "$source" "$work/tree"
find "$work/tree" -type l -delete
find "$work/tree" -depth -name '*:*' -exec rm -rf {} +
tar -cf "$work/tree.tar" -C "$work" tree
echo "tree: $(find "$work/tree" -type f | wc -l) files, $(du -sm "$work/tree" | cut -f1) MiB"
seconds 'tar -x of the tree' tar -xf "$work/tree.tar" --no-same-owner -C "$here"
seconds 'diff -r of the tree' diff -r "$work/tree" "$here/tree"
mount_again
seconds 'diff -r of the tree, a new mount' diff -r "$work/tree" "$here/tree"
seconds 'tar -c of the tree' tar -cf /dev/null -C "$here" tree
seconds 'ls -lR of the tree' ls -lR "$here/tree"
seconds 'rm -r of the tree' rm -r "$here/tree"
echo passed
