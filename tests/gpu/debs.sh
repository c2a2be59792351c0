#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Downloads the Debian 12 packages of Slurm, PMIx and munge that run.sh unpacks on a GPU machine without a
# package registry. Run it on Debian 12; about 6 MB land in .gpu/debs.
#   tests/gpu/debs.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

# The programs and the libraries that they and their plugins load. No rdma-core: NCCL would find it.
packages=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libmunge2 libpmix2 libevent-core-2.1-7
          libevent-pthreads-2.1-7 libhwloc15 libnuma1 liblz4-1 libjson-c5 libyaml-0-2 libjwt0 libhttp-parser2.9
          libreadline8)

grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release ||
  { echo "tests/gpu/debs.sh: needs Debian 12 (bookworm): its packages are what run.sh is written for" >&2; exit 2; }
mkdir -p .gpu/debs
cd .gpu/debs
missing=()
for package in "${packages[@]}"; do
  compgen -G "${package}_*.deb" >/dev/null && continue
  # As root apt would drop to a user who cannot write here, and say so for each package.
  apt-get -q -o APT::Sandbox::User=root download "$package" >/dev/null || missing+=("$package")
done
for package in "${missing[@]}"; do echo "tests/gpu/debs.sh: $package cannot be downloaded" >&2; done
[ "${#missing[@]}" = 0 ] || exit 1
echo "tests/gpu/debs.sh: $(find . -name '*.deb' | wc -l) packages, $(du -sm . | cut -f1) MB in .gpu/debs"
