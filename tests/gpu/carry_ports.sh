#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes what ports.sh needs on a GPU machine without Bazel, libibverbs' header or iproute2, in .gpu.
#   tests/gpu/carry_ports.sh [RELEASE]...      releases of NCCL there, for the model; 2.28.3 and 2.28.9 by default
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/bazel.bash
. tools/bazel.bash
[ $# -gt 0 ] || set -- 2.28.3 2.28.9

bazel_command build --noshow_progress //tests/nccl:bootstrap_probe //tests/nccl:rank_probe //tests/nccl:model_answers
mkdir -p .gpu/bin .gpu/answers .gpu/verbs .gpu/iproute2/lib
cp -fL bazel-bin/tests/nccl/{bootstrap_probe,rank_probe} .gpu/bin/
for release; do bazel-bin/tests/nccl/model_answers tests/hosts "$release" >".gpu/answers/$release.json"; done

gcc -std=c11 -Wall -Wextra -Werror -O2 -fPIC -shared -Wl,--version-script=tests/gpu/fakeverbs.lds \
  -Wl,-soname,libibverbs.so.1 -o .gpu/verbs/libibverbs.so.1 tests/gpu/fakeverbs.c
# NCCL asks for the first name first: a real library under it would win.
cp -f .gpu/verbs/libibverbs.so.1 .gpu/verbs/libibverbs.so

program=$(command -v ip)
cp -fL "$program" .gpu/iproute2/lib/
ldd "$program" | awk '$3 ~ /^\// && $1 !~ /^libc\.so/ {print $3}' | while read -r file; do cp -fL "$file" .gpu/iproute2/lib/; done
cat >.gpu/iproute2/ip <<'END'
#!/bin/bash
here=$(dirname "$0")
LD_LIBRARY_PATH=$here/lib exec "$here/lib/ip" "$@"
END
chmod -R u+w .gpu/bin .gpu/iproute2
chmod 755 .gpu/iproute2/ip
du -sh .gpu
