#!/bin/sh
# run.sh SCRIPT ARGUMENTS...: runs a script of this directory with the package installed from its wheel, and with fsspec, which
# comes from PyPI into an environment of its own below target. With EBBFS_PYARROW=1 pyarrow is there, too. Processes that build
# the same tree wait for one another.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
packages='fsspec==2026.2.0'
[ "${EBBFS_PYARROW:-}" != 1 ] || packages="$packages pyarrow==26.0.1"
environment=$here/../target/environment
mkdir -p "$environment"
(
  flock 9
  stamp=$environment/$(echo "$packages" | tr ' =' '__')
  if [ ! -e "$stamp" ]; then
    python3 -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet $packages
    : >"$stamp"
  fi
  "$environment/bin/python" -m pip install --quiet --no-index --no-deps --force-reinstall "$here/.."
) 9>"$environment/lock"
script=$1
shift
exec "$environment/bin/python" -B "$here/$script" "$@"
