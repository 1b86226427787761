#!/usr/bin/env bash
# Sets three machines up as docs/deploy.md tells ("Three namenodes on three machines"), stops one of them and starts
# it again, and upgrades machine after machine, while a stock client writes files. Then each file is read.
#
#   machines_test.sh OLD NEW     two folders with the packages of two versions
#
# Needs root, and what the packages depend on. Takes some minutes, so 'ebb test' does not run it. Prints 'passed' at
# the end.
set -euo pipefail
old=$(realpath "$1") new=$(realpath "$2")
machines=$(dirname "$(realpath "$0")")/../machines.sh
dir=$(mktemp -d /tmp/ebbfs-machines.XXXXXX)
writer=

finish() {
  [ -z "$writer" ] || kill "$writer" 2>/dev/null || true
  "$machines" down "$dir"
}
trap finish EXIT

fail() {
  echo "machines_test: $*" >&2
  tail -n 5 "$dir"/node*/*.log >&2 || true
  exit 1
}

on() { "$machines" exec "$dir" "$@"; }

client() { on client env HADOOP_USER_NAME=ebbfs ebb dfs "$@"; }

# Files one after the other, each from its own process of the stock client; stops when the file 'enough' is there.
write_files() {
  local n
  for ((n = 0; ; n++)); do
    [ ! -e "$dir/enough" ] || return 0
    client -put /tmp/data "/file-$n" >>"$dir/writer.log" 2>&1 || echo "file-$n" >>"$dir/failed"
    echo "$n" >"$dir/written"
  done
}

leaders() {
  local node
  for node in node1 node2 node3; do
    on client curl -sf "http://$node.ebbfs.test:9870/metrics" | sed -n 's/^ebbfs_namenode_leader //p'
  done | awk '{ leaders += $1 } END { print leaders + 0 }'
}

"$machines" up "$dir" "$old"
before=$(on node1 ebb --version)
for ((i = 0; ; i++)); do
  on client env HADOOP_USER_NAME=ebbfs ebb admin -report >"$dir/report" 2>/dev/null || true
  grep -q 'Live datanodes (3)' "$dir/report" && break
  [ $i -lt 20 ] || fail "ebb admin -report: $(cat "$dir/report")"
  sleep 1
done
[ "$(leaders)" = 1 ] || fail "$(leaders) namenodes lead"

data=$dir/client/root/tmp/data
head -c 300000 /dev/urandom >"$data"
write_files &
writer=$!
"$machines" stop "$dir" node2
client -put /tmp/data /while-node2-is-away || fail "no file could be written while a machine was away"
"$machines" start "$dir" node2
for node in node1 node2 node3; do "$machines" upgrade "$dir" "$node" "$new"; done
[ "$(on node1 ebb --version)" != "$before" ] || fail "the upgrade left version $before"
touch "$dir/enough"
wait "$writer"
writer=

[ ! -e "$dir/failed" ] || fail "not written: $(paste -sd' ' "$dir/failed"); $(tail -n 20 "$dir/writer.log")"
written=$(cat "$dir/written")
[ "$written" -ge 5 ] || fail "only $written files were written"
client -cat '/file-*' >"$dir/all" || fail "some file is not readable"
for ((n = 0; n <= written; n++)); do cat "$data"; done | cmp - "$dir/all" || fail "another content came back"
[ "$(leaders)" = 1 ] || fail "$(leaders) namenodes lead"
echo "$((written + 1)) files written and read"
echo passed
