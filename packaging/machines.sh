#!/usr/bin/env bash
# Three machines with the packages, set up as docs/deploy.md tells ("Three namenodes on three machines"), and one
# for clients. Each machine is a network namespace with a file system of its own (overlay), and runs what its
# systemd units say.
#
#   machines.sh up DIR PACKAGES             makes the machines and starts all roles
#   machines.sh exec DIR MACHINE WORD...    runs a command on node1, node2, node3 or client
#   machines.sh stop DIR MACHINE            stops all roles of a machine
#   machines.sh start DIR MACHINE           starts them again, and waits until all machines are ready
#   machines.sh upgrade DIR MACHINE PACKAGES    stops a machine, installs other packages, starts it
#   machines.sh down DIR                    ends all and removes it
#
# DIR must not be on an overlay file system. PACKAGES is a folder that 'ebb package' has filled. Needs root, and what
# the packages depend on. Only one such set can be up: its names and addresses are fixed.
set -euo pipefail
bridge=ebbm
domain=ebbfs.test
nodes='node1 node2 node3'
packages='ebbfs-common ebbfs-store ebbfs-namenode ebbfs-chunkserver ebbfs-control'

fail() {
  echo "machines: $*" >&2
  exit 1
}

usage() {
  sed -n 's/^#   machines.sh/  ebb lab machines/p' "$0" >&2
  exit 2
}

address() {
  case "$1" in
    node?) echo "10.232.0.1${1#node}" ;;
    client) echo 10.232.0.10 ;;
    *) fail "no machine '$1'; there are $nodes client" ;;
  esac
}

# The units of a machine, in the order of their start.
units() {
  case "$1" in
    node1) echo ebbfs-store ebbfs-kafka ebbfs-namenode ebbfs-chunkserver ebbfs-control ;;
    node?) echo ebbfs-store ebbfs-namenode ebbfs-chunkserver ;;
  esac
}

# The port where a unit tells that it is ready; none for Kafka.
http_port() {
  case "$1" in
    ebbfs-store) echo 9872 ;;
    ebbfs-namenode) echo 9870 ;;
    ebbfs-chunkserver) echo 9864 ;;
    ebbfs-control) echo 8090 ;;
  esac
}

# ---- machines -------------------------------------------------------------------------------------

# mount_root NAME LOWER: the file system of a machine at DIR/NAME/root.
mount_root() {
  local at=$dir/$1
  mkdir -p "$at/upper" "$at/work" "$at/root"
  mount -t overlay overlay -o "lowerdir=$2,upperdir=$at/upper,workdir=$at/work" "$at/root"
  mount -t proc proc "$at/root/proc"
  mount --bind /dev "$at/root/dev"
  mount -t tmpfs tmpfs "$at/root/run"
}

# unmount_all PATH...: those that are mounted.
unmount_all() {
  local path
  for path in "$@"; do
    if mountpoint -q "$path"; then umount -l "$path"; fi
  done
}

# unmount_devices NAME: what is mounted within the file system of a machine.
unmount_devices() { unmount_all "$dir/$1/root"/{run,dev,proc}; }

# install_packages ROOT PACKAGES
install_packages() {
  local name files=()
  for name in $packages; do files+=("$2/${name}"_*.deb); done
  cp "${files[@]}" "$1/run/"
  DEBIAN_FRONTEND=noninteractive chroot "$1" sh -c 'dpkg -i --force-confold /run/*.deb' >"$dir/dpkg.log" 2>&1 ||
    fail "dpkg -i: $(tail -n 20 "$dir/dpkg.log")"
  rm "$1"/run/*.deb
}

# The link of a machine to the bridge.
join_network() {
  ip netns add "$bridge-$1"
  ip link add "$bridge-v-$1" type veth peer name eth0 netns "$bridge-$1"
  ip link set "$bridge-v-$1" master "$bridge" up
  ip -n "$bridge-$1" addr add "$(address "$1")/24" dev eth0
  ip -n "$bridge-$1" link set eth0 up
  ip -n "$bridge-$1" link set lo up
}

make_machine() {
  local root=$dir/$1/root name
  mount_root "$1" "$dir/base/root"
  join_network "$1"
  echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"
  for name in $nodes client; do echo "$(address "$name") $name.$domain $name" >>"$root/etc/hosts"; done
  configure "$root/etc/ebbfs/cluster.yaml"
}

configure() {
  sed -i -e "s|^namenodes:.*|namenodes: $(everywhere 8020)|" -e "s|^store:.*|store: $(everywhere 8030)|" \
    -e "s|^kafka:.*|kafka: node1.$domain:9092|" "$1"
}

# everywhere PORT: node1:PORT,node2:PORT,node3:PORT
everywhere() {
  local node
  for node in $nodes; do echo "$node.$domain:$1"; done | paste -sd,
}

# run MACHINE WORDS...: takes the place of this shell.
run() {
  local machine=$1; shift
  exec ip netns exec "$bridge-$machine" chroot "$dir/$machine/root" "$@"
}

# ---- roles ----------------------------------------------------------------------------------------

# start_unit MACHINE UNIT: what systemd would run, by the same user, with the same words.
start_unit() {
  local unit=$dir/$1/root/lib/systemd/system/$2.service
  value() { sed -n "s/^$1=//p" "$unit"; }
  # The words of ExecStart are split.
  (run "$1" setpriv --reuid "$(value User)" --regid "$(value Group)" --clear-groups \
    env -i -C "$(value WorkingDirectory)" PATH="$PATH" $(value ExecStart)) \
    >>"$dir/$1/$2.log" 2>&1 </dev/null &
  echo $! >"$dir/$1/$2.pid"
}

stop_machine() {
  local unit pid
  for unit in $(units "$1" | tr ' ' '\n' | tac); do
    [ -e "$dir/$1/$unit.pid" ] || continue
    pid=$(cat "$dir/$1/$unit.pid")
    kill -TERM "$pid" 2>/dev/null || true
    for ((i = 0; i < 600; i++)); do
      [ -d "/proc/$pid" ] || break
      sleep 0.1
    done
    [ ! -d "/proc/$pid" ] || fail "$unit of $1 does not stop"
    rm "$dir/$1/$unit.pid"
  done
}

# await_ready UNIT: on all machines that run it.
await_ready() {
  local node port
  port=$(http_port "$1")
  [ -n "$port" ] || return 0
  for node in $nodes; do
    [ -e "$dir/$node/$1.pid" ] || continue
    for ((i = 0; ; i++)); do
      (run client curl -sf -m 5 -o /dev/null "http://$node.$domain:$port/ready") && break
      [ -d "/proc/$(cat "$dir/$node/$1.pid")" ] || fail "$1 of $node ended: $(tail -n 5 "$dir/$node/$1.log")"
      [ $i -lt 360 ] || fail "$1 of $node is not ready: $(tail -n 5 "$dir/$node/$1.log")"
      sleep 0.5
    done
  done
}

await_all() {
  local unit
  for unit in $(units node1); do await_ready "$unit"; done
}

start_machine() {
  local unit
  for unit in $(units "$1"); do start_unit "$1" "$unit"; done
}

# ---- commands -------------------------------------------------------------------------------------

up() {
  local node
  [ ! -e "/sys/class/net/$bridge" ] || fail "such machines exist already: remove them with 'down'"
  mkdir -p "$dir"
  mount_root base /
  install_packages "$dir/base/root" "$1"
  unmount_devices base
  ip link add "$bridge" type bridge
  ip link set "$bridge" up
  for node in $nodes client; do make_machine "$node"; done
  for node in $nodes; do start_unit "$node" ebbfs-store; done
  await_ready ebbfs-store
  for node in $nodes; do
    for unit in $(units "$node"); do [ "$unit" = ebbfs-store ] || start_unit "$node" "$unit"; done
  done
  await_all
  echo "three machines are up in $dir; try: exec $dir client ebb admin -report"
}

upgrade() {
  stop_machine "$1"
  install_packages "$dir/$1/root" "$2"
  start_machine "$1"
  await_all
}

down() {
  local machine pid
  for machine in $nodes client; do
    for pid in $(ip netns pids "$bridge-$machine" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
    ip link del "$bridge-v-$machine" 2>/dev/null || true
    ip netns del "$bridge-$machine" 2>/dev/null || true
    unmount_devices "$machine"
    unmount_all "$dir/$machine/root"
  done
  unmount_devices base
  unmount_all "$dir/base/root"
  ip link del "$bridge" 2>/dev/null || true
  rm -rf --one-file-system "$dir"
}

[ "$(id -u)" = 0 ] || fail "machines need root"
[ $# -ge 2 ] || usage
command=$1 dir=$(realpath -m "$2")
shift 2
case "$command $#" in
  'up 1') up "$(realpath "$1")" ;;
  exec*) run "$@" ;;
  'stop 1') stop_machine "$1" ;;
  'start 1') start_machine "$1" && await_all ;;
  'upgrade 2') upgrade "$1" "$(realpath "$2")" ;;
  'down 0') down ;;
  *) usage ;;
esac
