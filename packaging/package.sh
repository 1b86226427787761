#!/usr/bin/env bash
# Makes a release of a built tree: a tar file and Debian packages.
#
#   package.sh HOME VERSION OUT
#
# Prints the path of each file that it makes. The layout of a release, which 'ebb' and the class Build know:
#   ebb                  the launcher
#   VERSION              the version
#   bin/chunkserver      the chunk server
#   bin/ebbfs            the file system shell, 'ebb fs'
#   bin/ebbfs-mount      'ebb mount' and 'ebb umount'
#   lib/*.jar            every jar once; lib/NAME.classpath holds the jars of one program
#   lib/tools            programs that run on a stock client
#   native               the C API: lib, include, share
#   python               the Python package, a wheel
#   conf docs LICENSE README.md
set -euo pipefail
umask 022
home=$1 version=$2 out=$3
mkdir -p "$home/.build"
work=$(mktemp -d "$home/.build/package.XXXXXX")
trap 'rm -rf "$work"' EXIT
tree=$work/ebbfs-$version
# The files of a release have the time of its commit, so that two builds of it are alike.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$home" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

make_tree() {
  mkdir -p "$tree/bin" "$tree/lib"
  cp "$home/ebb" "$home/LICENSE" "$home/README.md" "$tree/"
  cp -r "$home/docs" "$home/conf" "$tree/"
  echo "$version" >"$tree/VERSION"
  install -m 755 "$home/chunk-cluster/target/cmake/chunkserver" "$tree/bin/"
  install -m 755 "$home/chunk-cluster/target/cmake/ebbfs" "$home/chunk-cluster/target/cmake/ebbfs-mount" "$tree/bin/"
  strip "$tree"/bin/*
  cmake --install "$home/chunk-cluster/target/cmake" --component capi --prefix "$tree/native" >/dev/null
  strip --strip-unneeded "$tree/native/lib/libebbfs.so.0.0.0"
  mkdir "$tree/python"
  EBBFS_VERSION=${version/\~/.dev} python3 -B "$home/python/build_backend.py" "$tree/python" >/dev/null
  cp -r "$home/testbed/stock-client/target/tools" "$tree/lib/tools"
  add_program cli "$home/cli/target/classes:$(cat "$home/cli/target/classpath.txt")"
  add_program broker "$(cat "$home/testbed/broker/target/classpath.txt")"
  add_program httpfs "$(cat "$home/httpfs/target/classpath.txt")"
  add_program stock-client "$(cat "$home/testbed/stock-client/target/classpath.txt")"
  library_packages >"$tree/REQUIRES"
}

# add_program NAME CLASSPATH: copies the jars, packs folders of classes into jars, and lists them.
add_program() {
  local entry jar
  local -a entries
  IFS=: read -ra entries <<<"$2"
  for entry in "${entries[@]}"; do
    [ -e "$entry" ] || continue
    jar=$(basename "$entry")
    if [ -d "$entry" ]; then
      jar=ebbfs-$(basename "$(dirname "$(dirname "$entry")")").jar
      [ -f "$tree/lib/$jar" ] || pack "$entry" "$tree/lib/$jar"
    elif [ ! -f "$tree/lib/$jar" ]; then
      cp "$entry" "$tree/lib/$jar"
    fi
    echo "$jar"
  done >"$tree/lib/$1.classpath"
}

pack() {
  jar --create --date="$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" --no-compress --file "$2" -C "$1" .
}

# The Debian packages that a machine needs to run a release, one a line.
library_packages() {
  echo openjdk-17-jre-headless
  shlibs bin/chunkserver bin/ebbfs bin/ebbfs-mount native/lib/libebbfs.so.0.0.0 | sed 's/, /\n/g' | sort -u
}

# shlibs FILE...: the packages of the shared libraries of programs and libraries, with the least versions, as dpkg names them.
shlibs() {
  mkdir -p "$work/shlibs/debian"
  printf 'Source: ebbfs\n\nPackage: ebbfs-chunkserver\nArchitecture: any\n' >"$work/shlibs/debian/control"
  (cd "$work/shlibs" && dpkg-shlibdeps -O "${@/#/$tree/}" 2>"$work/shlibs.log") |
    sed -n 's/^shlibs:Depends=//p'
}

make_tar() {
  local file=$out/ebbfs-$version.tar.gz
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    -cf - "ebbfs-$version" | gzip -1n >"$file"
  echo "$file"
}

# ---- Debian packages ------------------------------------------------------------------------------

# add_package NAME ARCHITECTURE DEPENDS SHORT LONG: the control file of a package.
add_package() {
  mkdir -p "$work/$1/DEBIAN"
  cat >"$work/$1/DEBIAN/control" <<END
Package: $1
Version: $version
Architecture: $2
Maintainer: EbbFS maintainers <maintainers@ebbfs.invalid>
Section: net
Priority: optional
Depends: $3
Installed-Size: $(du -sk --exclude=DEBIAN "$work/$1" | cut -f1)
Description: $4
 $5
END
}

# add_units NAME UNIT...: systemd units of a package, and the scripts that stop and restart them.
add_units() {
  local name=$1 script; shift
  install -d "$work/$name/lib/systemd/system" "$work/$name/DEBIAN"
  local unit
  for unit in "$@"; do install -m 644 "$home/packaging/systemd/$unit.service" "$work/$name/lib/systemd/system/"; done
  for script in postinst prerm postrm; do
    sed "s/@UNITS@/$*/" "$home/packaging/debian/role.$script" >"$work/$name/DEBIAN/$script"
    chmod 755 "$work/$name/DEBIAN/$script"
  done
}

make_common() {
  local root=$work/ebbfs-common script
  install -d "$root/usr/lib/ebbfs" "$root/usr/bin" "$root/etc/ebbfs" "$root/etc/default" "$root/DEBIAN" \
    "$root/usr/share/doc/ebbfs-common"
  cp -r "$tree/ebb" "$tree/VERSION" "$tree/lib" "$tree/conf" "$root/usr/lib/ebbfs/"
  ln -s ../lib/ebbfs/ebb "$root/usr/bin/ebb"
  cp -r "$tree/docs" "$tree/README.md" "$root/usr/share/doc/ebbfs-common/"
  cp "$tree/LICENSE" "$root/usr/share/doc/ebbfs-common/copyright"
  installed_conf "$root/etc/ebbfs"
  install -m 644 "$home/packaging/debian/default" "$root/etc/default/ebbfs"
  (cd "$root" && find etc -type f -printf '/%p\n' | sort) >"$root/DEBIAN/conffiles"
  for script in postinst postrm; do
    install -m 755 "$home/packaging/debian/common.$script" "$root/DEBIAN/$script"
  done
  add_package ebbfs-common all "openjdk-17-jre-headless | java17-runtime-headless, adduser" \
    "distributed file system for stock HDFS clients: programs and configuration" \
    "The launcher 'ebb', the jars of all roles, and the configuration in /etc/ebbfs."
}

# The examples, with ports for probes, files for secrets, and a first directory for blocks.
installed_conf() {
  local file
  for file in cluster namenode store chunk-server manager policies raid-node; do
    cp "$home/conf/$file.yaml" "$1/$file.yaml"
  done
  set_value "$1/namenode.yaml" httpPort 9870
  set_value "$1/store.yaml" httpPort 9872
  set_value "$1/chunk-server.yaml" disks '[/var/lib/ebbfs/chunks]'
  set_value "$1/cluster.yaml" serviceKey /etc/ebbfs/service.key
  set_value "$1/cluster.yaml" '  apiToken' /etc/ebbfs/api.token
  chmod 644 "$1"/*.yaml
}

# set_value FILE KEY VALUE: fails if the file has no such line.
set_value() {
  grep -q "^$2:" "$1" || { echo "package: $1 has no line '$2:'" >&2; exit 1; }
  sed -i "s|^$2:.*|$2: $3|" "$1"
}

make_role() {
  case "$1" in
    namenode)
      add_units ebbfs-namenode ebbfs-namenode
      add_package ebbfs-namenode all "ebbfs-common (= $version)" "distributed file system: the namenode" \
        "Names, blocks and stripes. One machine of a cluster runs it, or several that share a store."
      ;;
    store)
      add_units ebbfs-store ebbfs-store
      add_package ebbfs-store all "ebbfs-common (= $version)" "distributed file system: the metadata store" \
        "A node of the store that several namenodes share. Three machines of a cluster run it."
      ;;
    chunkserver)
      install -D -m 755 "$tree/bin/chunkserver" "$work/ebbfs-chunkserver/usr/lib/ebbfs/bin/chunkserver"
      add_units ebbfs-chunkserver ebbfs-chunkserver
      add_package ebbfs-chunkserver "$(dpkg --print-architecture)" "ebbfs-common (= $version), $(shlibs bin/chunkserver)" \
        "distributed file system: the chunk server" "Stores blocks on the disks of its machine."
      ;;
    client)
      install -D -m 755 -t "$work/ebbfs-client/usr/lib/ebbfs/bin" "$tree/bin/ebbfs" "$tree/bin/ebbfs-mount"
      # libfuse is linked into ebbfs-mount; fuse3 brings fusermount3.
      add_package ebbfs-client "$(dpkg --print-architecture)" \
        "ebbfs-common (= $version), $(shlibs bin/ebbfs bin/ebbfs-mount), fuse3" \
        "distributed file system: the native client" "The file system shell 'ebb fs', and 'ebb mount' by FUSE."
      ;;
    control)
      add_units ebbfs-control ebbfs-control ebbfs-raid-node ebbfs-kafka
      add_package ebbfs-control all "ebbfs-common (= $version)" "distributed file system: the control plane" \
        "The adaptive manager and the raid-node; raid-nodes alone; a Kafka broker for clusters without one."
      ;;
  esac
}

# The C API with its header, in one package: it needs neither a JVM nor the packages of the roles.
make_library() {
  local root=$work/libebbfs
  install -d "$root/usr" "$root/DEBIAN"
  cp -a "$tree/native/." "$root/usr/"
  install -D -m 644 "$tree/LICENSE" "$root/usr/share/doc/libebbfs/copyright"
  echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
  add_package libebbfs "$(dpkg --print-architecture)" "$(shlibs native/lib/libebbfs.so.0.0.0)" \
    "distributed file system: the C library of the native client" \
    "The functions of Hadoop's libhdfs without a JVM, their header, and an example."
}

make_python() {
  local root=$work/python3-ebbfs
  install -d "$root/usr/lib/python3/dist-packages" "$root/DEBIAN"
  python3 -m zipfile -e "$tree"/python/*.whl "$root/usr/lib/python3/dist-packages"
  install -D -m 644 "$tree/LICENSE" "$root/usr/share/doc/python3-ebbfs/copyright"
  add_package python3-ebbfs all "python3, libebbfs (= $version)" \
    "distributed file system: the Python package" \
    "Files in Python, and a file system of fsspec if that is installed, over libebbfs."
}

build_package() {
  local architecture; architecture=$(sed -n 's/^Architecture: //p' "$work/$1/DEBIAN/control")
  local file=$out/${1}_${version}_$architecture.deb
  find "$work/$1" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  # The jars are compressed already.
  dpkg-deb --root-owner-group -Znone --build "$work/$1" "$file" >/dev/null
  echo "$file"
}

mkdir -p "$out"
make_tree
make_tar
make_common
build_package ebbfs-common
make_library
build_package libebbfs
make_python
build_package python3-ebbfs
for role in namenode store chunkserver client control; do
  make_role "$role"
  build_package "ebbfs-$role"
done
