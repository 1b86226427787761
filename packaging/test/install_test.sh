#!/usr/bin/env bash
# Installs the Debian packages on a machine of its own, starts every role as its systemd unit does, writes and
# reads files with a stock client, upgrades, removes and purges.
#
#   install_test.sh OLD NEW     two folders with the packages of two versions, the first one lower
#
# The machine is this one with a file system on top (overlay), and with its own network, processes and mounts. It
# vanishes when the script ends. Needs root, and what the packages depend on. Prints 'passed' at the end.
set -euo pipefail

if [ "${1:-}" != --inside ] && [ "${1:-}" != --chrooted ]; then
  old=$(realpath "$1") new=$(realpath "$2")
  base=$(mktemp -d /tmp/ebbfs-install.XXXXXX)
  trap 'rmdir "$base"' EXIT
  unshare --mount --net --pid --fork --kill-child --mount-proc "$(realpath "$0")" --inside "$old" "$new" "$base"
  exit
fi
old=$2 new=$3

fail() {
  echo "install_test: $*" >&2
  tail -n 20 /tmp/role-*.log >&2 2>/dev/null || true
  exit 1
}

# The machine.
if [ "$1" = --inside ]; then
  base=$4
  mount -t tmpfs -o size=2g tmpfs "$base"
  mkdir "$base/upper" "$base/work" "$base/root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" "$base/root"
  mount -t proc proc "$base/root/proc"
  mount --rbind /dev "$base/root/dev"
  mount -t tmpfs tmpfs "$base/root/run"
  mkdir -p "$base/root/mnt/old" "$base/root/mnt/new" "$base/root/mnt/test"
  mount --bind "$old" "$base/root/mnt/old"
  mount --bind "$new" "$base/root/mnt/new"
  mount --bind "$(dirname "$(realpath "$0")")" "$base/root/mnt/test"
  ip link set lo up
  exec chroot "$base/root" /mnt/test/install_test.sh --chrooted /mnt/old /mnt/new
fi

cd /
export DEBIAN_FRONTEND=noninteractive
packages='ebbfs-namenode ebbfs-store ebbfs-chunkserver ebbfs-control ebbfs-client ebbfs-common python3-ebbfs libebbfs'
roles='ebbfs-kafka ebbfs-namenode ebbfs-chunkserver ebbfs-control'
declare -A pids

install_packages() { dpkg -i --force-confold "$1"/*.deb >/tmp/dpkg.log 2>&1 || fail "dpkg -i: $(tail -n 20 /tmp/dpkg.log)"; }

# start UNIT: what systemd would run, by the same user, with the same words.
start() {
  local unit=/lib/systemd/system/$1.service command
  command=$(sed -n 's/^ExecStart=//p' "$unit")
  cd "$(sed -n 's/^WorkingDirectory=//p' "$unit")"
  setpriv --reuid "$(sed -n 's/^User=//p' "$unit")" --regid "$(sed -n 's/^Group=//p' "$unit")" --clear-groups \
    env -i PATH="$PATH" $command >>"/tmp/role-$1.log" 2>&1 &
  pids[$1]=$!
  cd /
}

# stop UNIT CODE: SIGTERM, and the exit code that its supervisor sees.
stop() {
  local code=0
  kill -TERM "${pids[$1]}"
  wait "${pids[$1]}" || code=$?
  [ "$code" = "$2" ] || fail "$1 ended with $code instead of $2"
}

# A namenode on a shared store is ready before it leads.
await_leader() {
  for _ in $(seq 120); do
    if curl -s http://127.0.0.1:9870/metrics | grep -q '^ebbfs_namenode_leader 1'; then return 0; fi
    sleep 0.5
  done
  fail "the namenode does not lead"
}

# await_ready PORT...: the roles that answer at these ports do their work.
await_ready() {
  local port
  for port in "$@"; do
    for ((i = 0; ; i++)); do
      curl -sf -o /dev/null "http://127.0.0.1:$port/ready" && break
      [ $i -lt 240 ] || fail "no role is ready at port $port"
      sleep 0.5
    done
  done
}

start_all() {
  local unit
  for unit in $roles; do start "$unit"; done
  await_ready 9870 9864 8090
}

stop_all() {
  stop ebbfs-control 0
  stop ebbfs-chunkserver 0
  stop ebbfs-namenode 0
  stop ebbfs-kafka 143
}

client() { HADOOP_USER_NAME=ebbfs ebb dfs "$@" || fail "ebb dfs $* failed"; }

owner() { stat -c '%U %a' "$1"; }

# A machine without EbbFS.
[ ! -e /usr/bin/ebb ] || fail "EbbFS is already installed here"
install_packages "$old"
[ "$(owner /var/lib/ebbfs)" = 'ebbfs 750' ] || fail "/var/lib/ebbfs: $(owner /var/lib/ebbfs)"
[ "$(owner /etc/ebbfs/service.key)" = 'ebbfs 600' ] || fail "service.key: $(owner /etc/ebbfs/service.key)"
[ "$(wc -c </etc/ebbfs/service.key)" = 65 ] || fail "service.key has another length"
before=$(ebb --version)

# It refuses what is not configured, and tells its supervisor so.
code=0
setpriv --reuid ebbfs --regid ebbfs --clear-groups ebb chunkserver >/tmp/refused.log 2>&1 || code=$?
[ "$code" = 2 ] && grep -q "cluster.yaml: 'namenodes' is missing" /tmp/refused.log || fail "$(cat /tmp/refused.log)"

sed -i "s/^namenodes:.*/namenodes: 127.0.0.1:8020/; s/^kafka:.*/kafka: 127.0.0.1:9092/" /etc/ebbfs/cluster.yaml
start_all
head -c 3000000 /dev/urandom >/tmp/first
client -D dfs.replication=1 -put /tmp/first /first
HADOOP_USER_NAME=ebbfs ebb admin -report | grep -q 'Live datanodes (1)' || fail "ebb admin -report shows no live server"
HADOOP_USER_NAME=ebbfs /usr/bin/python3 -B - /tmp/first <<'END' || fail "the Python package does not work"
import sys, ebbfs
with ebbfs.FileSystem("127.0.0.1", 8020, conf={"dfs.replication": 1}) as files:
    with files.open("/first") as file, open(sys.argv[1], "rb") as local:
        assert file.read() == local.read()
END
/usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libhdfs.so.0.0.0").hdfsNewBuilder' ||
  fail "programs of libhdfs do not find the library"
HADOOP_USER_NAME=ebbfs ebb backup >/tmp/backup.log || fail "ebb backup: $(cat /tmp/backup.log)"
stop_all

# The upgrade keeps configuration, secrets and data.
key=$(cat /etc/ebbfs/service.key)
install_packages "$new"
[ "$(ebb --version)" != "$before" ] || fail "the upgrade left version $before"
grep -q '^namenodes: 127.0.0.1:8020' /etc/ebbfs/cluster.yaml || fail "the upgrade overwrote cluster.yaml"
[ "$(cat /etc/ebbfs/service.key)" = "$key" ] || fail "the upgrade changed the service key"
printf '#!/bin/sh\nfor a; do echo /room/rack-$a; done\n' >/etc/ebbfs/racks
chmod 755 /etc/ebbfs/racks
sed -i 's|^topologyScript:.*|topologyScript: /etc/ebbfs/racks|' /etc/ebbfs/namenode.yaml
start_all
HADOOP_USER_NAME=ebbfs ebb admin -printTopology | grep -q '^Rack: /room/rack-127.0.0.1' || fail "the topology script was not asked"
client -get /first /tmp/again
cmp /tmp/first /tmp/again || fail "another file came back"
client -D dfs.replication=1 -put /tmp/again /second
[ "$(client -ls / | grep -c ' /\(first\|second\)$')" = 2 ] || fail "a file is missing"
stop_all

# A namenode on a shared store, which holds another file system.
sed -i 's/^store:.*/store: 127.0.0.1:8030/' /etc/ebbfs/cluster.yaml
start ebbfs-store
await_ready 9872
start ebbfs-namenode
await_ready 9870
await_leader
client -mkdir /shared
[ "$(client -ls / | grep -c ' /shared$')" = 1 ] || fail "the shared store lost a directory"
stop ebbfs-namenode 0
stop ebbfs-store 0

dpkg -r $packages >/tmp/dpkg.log 2>&1 || fail "$(cat /tmp/dpkg.log)"
[ ! -e /usr/bin/ebb ] && [ ! -e /usr/lib/ebbfs ] || fail "removal left programs"
[ ! -e /usr/lib/libhdfs.so ] && [ ! -e /usr/include/ebbfs ] || fail "removal left the library"
[ -e /etc/ebbfs/cluster.yaml ] && [ -e /etc/ebbfs/service.key ] || fail "removal took the configuration"
rm /etc/ebbfs/racks
dpkg -P $packages >/tmp/dpkg.log 2>&1 || fail "$(cat /tmp/dpkg.log)"
[ ! -e /etc/ebbfs ] && [ ! -e /var/log/ebbfs ] && [ ! -e /etc/default/ebbfs ] || fail "purging left configuration or logs"
[ -d /var/lib/ebbfs/namenode-data ] || fail "purging took the data"
grep -q 'still holds data' /tmp/dpkg.log || fail "purging does not say that data is left"
echo passed
