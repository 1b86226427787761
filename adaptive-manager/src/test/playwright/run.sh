#!/bin/sh
# run.sh SCRIPT ARGUMENTS...: runs a script of this directory with Playwright, which comes from PyPI into an environment
# of its own below target. Processes that build the same tree wait for one another. Chromium is Debian's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
playwright=playwright==1.65.2
environment=$here/../../../target/playwright
mkdir -p "$environment"
(
  flock 9
  if [ ! -e "$environment/$playwright" ]; then
    python3 -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet "$playwright"
    : >"$environment/$playwright"
  fi
) 9>"$environment/lock"
script=$1
shift
exec "$environment/bin/python" -B "$here/$script" "$@"
