#!/usr/bin/env bash
# Tests chunk servers under a stock HDFS NameNode with a stock HDFS client.
#   stock_namenode_test.sh CHUNKSERVER NAMENODE_CLASSPATH_FILE CLIENT_CLASSPATH_FILE
# The test works in a new temporary directory and on free ports. It prints "passed" at the end. With
# KEEP=1 the directory stays.
set -euo pipefail
chunkserver=$1
namenode_cp=$(cat "$2")
client_cp=$(cat "$3")
dir=$(mktemp -d)
declare -A pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  [ "${KEEP:-}" = 1 ] && echo "kept: $dir" || rm -rf "$dir"
}
trap cleanup EXIT
fail() { echo "FAILED: $*"; tail -n 8 "$dir"/*.log; exit 1; }

# A port of 127.0.0.1 on which nobody listens.
free_port() {
  local candidate
  for _ in $(seq 100); do
    candidate=$((20000 + RANDOM % 12000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$candidate") 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# ---- a stock namenode --------------------------------------------------------------------------
port=$(free_port)
# The namenode's web server needs its pages on the class path, but the jars do not contain them.
mkdir -p "$dir/conf/webapps/hdfs/WEB-INF" "$dir/conf/webapps/static"
echo '<web-app/>' > "$dir/conf/webapps/hdfs/WEB-INF/web.xml"
cat > "$dir/conf/core-site.xml" <<XML
<configuration>
  <property><name>fs.defaultFS</name><value>hdfs://127.0.0.1:$port</value></property>
</configuration>
XML
cat > "$dir/conf/hdfs-site.xml" <<XML
<configuration>
  <property><name>dfs.namenode.name.dir</name><value>file://$dir/name</value></property>
  <property><name>dfs.namenode.http-address</name><value>127.0.0.1:0</value></property>
  <property><name>dfs.namenode.fs-limits.min-block-size</name><value>4096</value></property>
  <property><name>dfs.blocksize</name><value>1048576</value></property>
  <property><name>dfs.replication</name><value>3</value></property>
  <property><name>dfs.heartbeat.interval</name><value>1</value></property>
  <property><name>dfs.namenode.heartbeat.recheck-interval</name><value>1000</value></property>
  <property><name>dfs.namenode.redundancy.interval.seconds</name><value>1s</value></property>
  <property><name>dfs.client.block.write.replace-datanode-on-failure.policy</name><value>ALWAYS</value></property>
</configuration>
XML
cat > "$dir/conf/log4j.properties" <<'PROPERTIES'
log4j.rootLogger=WARN, err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.target=System.err
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%d %p %c{1}: %m%n
PROPERTIES
namenode=org.apache.hadoop.hdfs.server.namenode.NameNode
java -cp "$dir/conf:$namenode_cp" $namenode -format -nonInteractive > "$dir/format.log" 2>&1 ||
  fail "formatting the namenode"
java -Xmx256m -cp "$dir/conf:$namenode_cp" $namenode > "$dir/namenode.log" 2>&1 &
pids[namenode]=$!

# ---- chunk servers -----------------------------------------------------------------------------
start_server() {
  rm -f "$dir/ready$1"
  "$chunkserver" --namenode "127.0.0.1:$port" --data "$dir/data$1/a,$dir/data$1/b" \
    --heartbeat-millis 500 --ready-file "$dir/ready$1" ${LOG:-} >> "$dir/server$1.log" 2>&1 &
  pids[server$1]=$!
}
await() {
  local what=$1 seconds=$2
  shift 2
  for _ in $(seq $((seconds * 5))); do
    "$@" && return
    sleep 0.2
  done
  fail "$what did not happen within $seconds s"
}
for i in 1 2 3 4; do start_server $i; done
for i in 1 2 3 4; do await "registration of server $i" 60 test -s "$dir/ready$i"; done

dfs() { java -cp "$dir/conf:$client_cp" org.apache.hadoop.fs.FsShell "$@" 2>> "$dir/client.log"; }
sum() { sha256sum | cut -d' ' -f1; }

# ---- write, read, checksum ---------------------------------------------------------------------
head -c 5300001 /dev/urandom > "$dir/file"
want=$(sum < "$dir/file")
dfs -put "$dir/file" /file || fail "put"
: > "$dir/empty"
dfs -put "$dir/empty" /empty || fail "put of an empty file"
[ "$(dfs -cat /file | sum)" = "$want" ] || fail "the file reads back differently"
dfs -checksum /file | grep -q MD5-of || fail "checksum"
dfs -D dfs.checksum.combine.mode=COMPOSITE_CRC -checksum /file | grep -q COMPOSITE-CRC32C ||
  fail "composite checksum"
dfs -D dfs.checksum.type=CRC32 -D dfs.blocksize=65536 -put "$dir/file" /crc32 || fail "put of CRC32"
[ "$(dfs -cat /crc32 | sum)" = "$want" ] || fail "the CRC32 file reads back differently"
composite() {
  dfs -D dfs.checksum.combine.mode=COMPOSITE_CRC -checksum "$1" | awk '{print $3}'
}
dfs -D dfs.blocksize=65536 -put "$dir/file" /small || fail "put of small blocks"
[ "$(composite /file)" = "$(composite /small)" ] || fail "composite checksums depend on blocks"

# ---- append ------------------------------------------------------------------------------------
head -c 700003 /dev/urandom > "$dir/more"
dfs -appendToFile "$dir/more" /file || fail "append"
want2=$(cat "$dir/file" "$dir/more" | sum)
[ "$(dfs -cat /file | sum)" = "$want2" ] || fail "the appended file reads back differently"

# ---- a server dies -----------------------------------------------------------------------------
kill -9 "${pids[server1]}"
[ "$(dfs -cat /file | sum)" = "$want2" ] || fail "read after the death of a server"
dfs -put "$dir/file" /second || fail "put after the death of a server"
[ "$(dfs -cat /second | sum)" = "$want" ] || fail "the second file reads back differently"
replicas() { [ "$(find "$dir"/data[234] -path '*finalized*' -name 'blk_*.meta' | wc -l)" -ge "$1" ]; }
# 6 blocks of /file, 6 of /second and 81 each of /crc32 and /small, on three servers.
await "re-replication" 60 replicas $((3 * (6 + 6 + 81 + 81)))

# ---- a damaged block: the client reads another replica -----------------------------------------
for data in "$dir"/data2/*/finalized/*/blk_*[0-9]; do
  printf 'damage' | dd of="$data" conv=notrunc bs=1 seek=100 status=none
done
[ "$(dfs -cat /second | sum)" = "$want" ] || fail "read past damaged blocks"

# ---- all servers restart -----------------------------------------------------------------------
for i in 2 3 4; do kill -TERM "${pids[server$i]}"; done
for i in 2 3 4; do
  code=0
  wait "${pids[server$i]}" || code=$?
  [ $code = 0 ] || fail "server $i ended with code $code on SIGTERM"
done
for i in 1 2 3 4; do start_server $i; done
for i in 1 2 3 4; do await "registration of server $i" 60 test -s "$dir/ready$i"; done
[ "$(dfs -cat /file | sum)" = "$want2" ] || fail "read after the restart"

# ---- removal -----------------------------------------------------------------------------------
dfs -rm -r -skipTrash /file /second /crc32 /small > /dev/null || fail "rm"
gone() { ! find "$dir"/data? -name 'blk_*' | grep -q .; }
await "removal of the blocks" 60 gone

# ---- a server of another cluster ---------------------------------------------------------------
kill -TERM "${pids[server4]}"
wait "${pids[server4]}" || true
sed -i 's/clusterId=.*/clusterId=CID-of-another/' "$dir"/data4/a/VERSION
code=0
"$chunkserver" --namenode "127.0.0.1:$port" --data "$dir/data4/a,$dir/data4/b" \
  2> "$dir/foreign.txt" || code=$?
[ $code = 1 ] && grep -q "CID-of-another" "$dir/foreign.txt" || fail "a foreign directory is taken"
echo passed
