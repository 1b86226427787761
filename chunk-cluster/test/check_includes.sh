#!/usr/bin/env bash
# Checks the layers of the C++ code: which folder may include which, and that no folders form a circle.
#
#   check_includes.sh            checks chunk-cluster/src, and src/main/cpp of coding-core and workloads
#   check_includes.sh DIR...     checks the folders in these directories by the same table
#
# Prints one line for each violation, "FILE:LINE: RULE", and exits with 1 if there is any.
set -euo pipefail

# A folder, and the folders that it may include besides itself. The lowest layer comes first.
# "proto" stands for the generated headers, NAME.pb.h. Tests obey the rules of their folder.
allowed() {
  cat <<'EOF'
gf:
common:
disk:      common
rpc:       common proto
transfer:  common disk proto
combine:   common gf disk rpc transfer proto
server:    common gf disk rpc transfer combine proto
client:    common gf rpc transfer combine proto
cli:       common client proto
capi:      common client proto
mount:     common client proto
tools:     common client proto
metadata_load: common disk rpc transfer proto
data_tool: common client proto
EOF
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -eq 0 ]; then
  project=$(cd "$here/../.." && pwd)
  set -- "$project/chunk-cluster/src" "$project/coding-core/src/main/cpp" "$project/workloads/src/main/cpp"
fi

for root in "$@"; do
  [ -d "$root" ] || { echo "check_includes.sh: $root is not a directory" >&2; exit 2; }
done

for root in "$@"; do
  find "$root" -mindepth 2 -type f \( -name '*.h' -o -name '*.cc' -o -name '*.inc' \) -print0 |
    xargs -0 -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
    awk -v root="$root/" '{ print root "\t" $0 }'
done | awk -F '\t' -v table="$(allowed)" '
  # Is there a way from `from` to `to` along the includes found so far?
  function reaches(from, to,    next_one) {
    if (from == to) return 1
    visited[from] = 1
    for (next_one in known)
      if ((from, next_one) in edge && !(next_one in visited) && reaches(next_one, to)) return 1
    return 0
  }
  function report(rule) { print place ": " rule; bad = 1 }
  BEGIN {
    rows = split(table, row, "\n")
    for (r = 1; r <= rows; r++) {
      split(row[r], side, ":")
      known[side[1]] = 1
      count = split(side[2], below, " ")
      for (b = 1; b <= count; b++) may[side[1], below[b]] = 1
    }
    known["proto"] = 1
  }
  {
    # root TAB file:line:#include "header"
    rest = substr($0, length($1) + 2)
    match(rest, /:[0-9]+:/)
    file = substr(rest, 1, RSTART - 1)
    place = file substr(rest, RSTART, RLENGTH - 1)
    folder = substr(file, length($1) + 1)
    sub(/\/.*/, "", folder)
    split(rest, quoted, "\"")
    header = quoted[2]
    if (header ~ /^[^\/]*\.pb\.h$/) target = "proto"
    else if (header ~ /\//) { target = header; sub(/\/.*/, "", target) }
    else { report("\"" header "\" names no folder; write \"FOLDER/" header "\""); next }
    checked++
    if (!(folder in known)) {
      report("folder " folder " has no line in the table of check_includes.sh"); next
    }
    if (target == folder) next
    if (!((folder, target) in may)) report(folder " may not include " target)
    if (!((folder, target) in edge)) {
      split("", visited)
      if (target in known && reaches(target, folder))
        report("a circle of folders: " target " includes " folder " already, perhaps through others")
      edge[folder, target] = 1
    }
  }
  END {
    if (!checked && !bad) { print "check_includes.sh: no includes found; wrong directory?"; bad = 1 }
    exit bad
  }'
