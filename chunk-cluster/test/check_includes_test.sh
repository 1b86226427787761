#!/usr/bin/env bash
# Tests check_includes.sh: a clean tree passes, and each kind of planted violation is reported.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/check_includes.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# plant FILE INCLUDE...: a file with these includes after one line of comment.
plant() {
  local file=$tree/$1; shift
  mkdir -p "$(dirname "$file")"
  { echo '// planted'; printf '#include "%s"\n' "$@"; } >"$file"
}

# expect STATUS TEXT: the status of the check, and a line that its output must hold.
expect() {
  local status=0 output
  output=$("$check" "$tree") || status=$?
  if [ "$status" != "$1" ] || { [ -n "$2" ] && ! grep -qxF "$2" <<<"$output"; }; then
    printf 'expected status %s and the line\n  %s\nfound status %s and\n%s\n' \
      "$1" "$2" "$status" "$output" >&2
    exit 1
  fi
}

plant disk/store.cc disk/store.h common/error.h
plant transfer/server.h disk/store.h datatransfer.pb.h
plant rpc/interop/tool.cc rpc/client.h
expect 0 ''

plant disk/upward.cc common/error.h transfer/server.h
expect 1 "$tree/disk/upward.cc:3: disk may not include transfer"
rm "$tree/disk/upward.cc"

plant common/generated.h hdfs.pb.h
expect 1 "$tree/common/generated.h:2: common may not include proto"
rm "$tree/common/generated.h"

plant transfer/bare.cc server.h
expect 1 "$tree/transfer/bare.cc:2: \"server.h\" names no folder; write \"FOLDER/server.h\""
rm "$tree/transfer/bare.cc"

plant attic/old.cc common/error.h
expect 1 "$tree/attic/old.cc:2: folder attic has no line in the table of check_includes.sh"
rm -r "$tree/attic"

# A circle of three: rpc -> disk -> transfer -> rpc.
plant rpc/a.cc disk/store.h
plant disk/b.cc transfer/server.h
plant transfer/c.cc rpc/client.h
"$check" "$tree" >"$tree/output" && { echo 'a circle was not found' >&2; exit 1; }
grep -q 'a circle of folders' "$tree/output" || { cat "$tree/output" >&2; exit 1; }
rm "$tree/rpc/a.cc" "$tree/disk/b.cc" "$tree/transfer/c.cc" "$tree/output"

expect 0 ''
echo 'check_includes.sh finds what it must'
