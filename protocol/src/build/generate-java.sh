#!/usr/bin/env bash
# Generates Java for the project's own .proto files against Hadoop's shaded protobuf runtime.
# Usage: generate-java.sh TARGET_DIR PROTO_DIR; TARGET_DIR/hdfs.desc must exist.
set -euo pipefail
target=$1 protos=$2
raw=$target/protoc-java out=$target/generated-sources/protobuf
rm -rf "$raw" && mkdir -p "$raw" "$out"
# Our own files first become descriptors: protoc takes either sources or descriptor sets as input.
for f in "$protos"/*.proto; do names+=("$(basename "$f")"); done
protoc --descriptor_set_in="$target/hdfs.desc" --proto_path="$protos" --java_out="$raw" "${names[@]}"
find "$raw" -name '*.java' -exec sed -i 's/com\.google\.protobuf/org.apache.hadoop.thirdparty.protobuf/g' {} +
# Copy only what changed, so that an incremental compilation stays one.
(cd "$raw" && find . -name '*.java') | while read -r f; do
  mkdir -p "$out/$(dirname "$f")"
  cmp -s "$raw/$f" "$out/$f" || cp "$raw/$f" "$out/$f"
done
