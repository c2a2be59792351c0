# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Bazel for the tools: in the clone's own folder when there is no home to write to. Source after cd to the clone.

bazel_command() {
  local -a startup=()
  # An account without a name, as containers have, has no USER, and Bazel ends without one.
  [ -n "${USER:-}" ] || export USER="${LOGNAME:-$(id -un 2>/dev/null || echo "uid$(id -u)")}"
  if [ ! -w "${HOME:-/nonexistent}" ]; then
    startup=(--output_user_root="$PWD/.bazel-cache")
    export HOME="$PWD/.bazel-cache"
    mkdir -p "$HOME"
  fi
  bazel "${startup[@]}" "$@"
}
