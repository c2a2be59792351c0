#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The Debian packages: what is in them, that the same inputs give the same bytes, and their life by the real dpkg, in a
# root of their own and on a copy of this machine: installed, used by a real Slurm, upgraded, removed, purged.

bats_require_minimum_version 1.5.0
load cluster

PLUGIN=nccl-tune-slurm-plugin
PACKAGES=("$PLUGIN" nccl-tune nccl-bench)
DROP_IN=etc/slurm/plugstack.conf.d/zz-nccl_tune.conf
SO=usr/lib/nccl-tune/spank_nccl_tune.so
DEBS=$CLONE/bazel-bin/packaging

setup_file() {
  make_state
  (cd "$CLONE" && . tools/bazel.bash && bazel_command build --noshow_progress //packaging:deb) \
    >"$NCCL_TUNE_CLUSTER_DIR/build.log" 2>&1 3>&- || { cat "$NCCL_TUNE_CLUSTER_DIR/build.log"; return 1; }
}

teardown_file() {
  remove_state
}

setup() {
  ROOT=$BATS_TEST_TMPDIR/root
  mkdir -p "$ROOT"/var/lib/dpkg/{info,updates,triggers}
  touch "$ROOT/var/lib/dpkg/status"
}

# dpkg on the root: nothing to chroot into, nothing of Slurm installed there, and nobody to answer a question.
dpkg_root() {
  local force=depends,script-chrootless
  [ "$(id -u)" = 0 ] || force+=,not-root,bad-path
  PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive dpkg --root="$ROOT" --force-"$force" "$@" </dev/null 2>&1 3>&-
}

install_all() {
  local package debs=()
  for package in "${PACKAGES[@]}"; do debs+=("$DEBS/$package.deb"); done
  dpkg_root -i "${debs[@]}"
}

# Everything in the root but dpkg's own database.
files() { (cd "$ROOT" && find . -mindepth 1 -path ./var/lib/dpkg -prune -o -printf '%P\n' | grep -vxE 'var(/lib|/log|/log/dpkg.log)?' | sort); }
state_of() { dpkg-query --admindir="$ROOT/var/lib/dpkg" -W -f '${db:Status-Abbrev}' "$1"; }
field() { dpkg-deb -f "$DEBS/$1.deb" "$2"; }

# The plugin's package as a later version, after a command has changed its tree.
later() {
  local tree=$BATS_TEST_TMPDIR/tree
  rm -rf "$tree"
  dpkg-deb -R "$DEBS/$PLUGIN.deb" "$tree"
  (cd "$tree" && "$@")
  sed -i 's/^Version: /Version: 9./' "$tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Znone -b "$tree" "$BATS_TEST_TMPDIR/later.deb" >/dev/null
}

@test "each package says what it is and needs, and holds what Debian asks for" {
  local package version tree
  version=$(sed -n 's/.*kVersion = "\(.*\)";/\1/p' "$CLONE/base/version.h")
  for package in "${PACKAGES[@]}"; do
    tree=$BATS_TEST_TMPDIR/$package
    [ "$(field "$package" Package)" = "$package" ]
    dpkg-deb -R "$DEBS/$package.deb" "$tree"
    (cd "$tree" && md5sum --quiet -c DEBIAN/md5sums)
    [ "$(find "$tree" -type f -not -path '*/DEBIAN/*' -not -path '*/etc/*' | wc -l)" = "$(wc -l <"$tree/DEBIAN/md5sums")" ]
    grep -q 'common-licenses/Apache-2.0' "$tree/usr/share/doc/$package/copyright"
    [[ $(zcat "$tree/usr/share/doc/$package/changelog.gz" | head -1) == "nccl-tune ($version) "* ]]
    [[ $(field "$package" Depends) == *"libc6 (>= "* ]]
    # Whoever builds it: root's, and nothing that others could write.
    run -0 dpkg-deb -c "$DEBS/$package.deb"
    run -1 grep -vE '^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--|lrwxrwxrwx) root/root ' <<<"$output"
    # Nothing of the folder it was built in.
    run -1 grep -rlaF -e "$CLONE" -e /execroot/ -e /sandbox/ "$tree"
  done
  [ "$(field nccl-tune Version)" = "$version" ]
  [ "$(cat "$BATS_TEST_TMPDIR/$PLUGIN/DEBIAN/conffiles")" = "/$DROP_IN" ]
  [ ! -e "$BATS_TEST_TMPDIR/nccl-tune/etc" ] && [ ! -e "$BATS_TEST_TMPDIR/nccl-bench/etc" ]
  # Active as it is shipped: the plugin alone, and for nobody who does not ask.
  [ "$(grep -v '^#' "$BATS_TEST_TMPDIR/$PLUGIN/$DROP_IN")" = "optional /$SO" ]
}

@test "the plugin depends on the Slurm it was built for, and on no other" {
  local installed release next
  installed=$(dpkg-query -W -f '${Version}' slurm-wlm-basic-plugins) || skip "Slurm is not Debian's"
  release=$(cut -d. -f1,2 <<<"$installed")
  next=$(printf '%s.%02d' "${release%.*}" $((10#${release#*.} + 1)))
  [[ $(field $PLUGIN Version) == *"+slurm$release" ]]
  [[ $(field $PLUGIN Depends) == *"slurm-wlm-basic-plugins (>= $release) | "*", slurm-wlm-basic-plugins (<< $next~) | "* ]]
}

@test "the same inputs give the same bytes, for another user, in another folder, under another umask" {
  local package copy as=()
  make_plain_clone
  copy=$PLAIN_CLONE/again # which other users can reach
  mkdir -p "$copy/packaging"
  [ "$(id -u)" != 0 ] || as=("${PLAIN[@]}")
  (cd "$CLONE" && for package in "${PACKAGES[@]}"; do
    sed -n 's/^file \([^ ]*\) .*/\1/p; s/^script [a-z]* //p' "$DEBS/$package.manifest" | sort -u | xargs cp -L --parents -t "$copy"
  done && cp -L --parents base/version.h CHANGELOG.md packaging/{control,copyright,*.py} "$copy")
  cp "$DEBS"/*.manifest "$copy"
  mkdir "$copy/out"
  chmod -R a+rX "$copy" && chmod 777 "$copy/out"
  cd "$copy"
  for package in "${PACKAGES[@]}"; do
    "${as[@]}" sh -c "umask 077; TMPDIR=$copy/out /usr/bin/python3 -B packaging/make_deb.py $package.manifest out/$package.deb"
    cmp "$copy/out/$package.deb" "$DEBS/$package.deb"
  done
}

@test "installed in a root: its programs and its plugin serve a real Slurm" {
  needs_host "packages, which are for this machine's Slurm"
  install_all
  [ "$(state_of $PLUGIN)" = "ii " ]
  [ "$("$ROOT/usr/bin/nccl-tune" --version)" = "nccl-tune $(field nccl-tune Version)" ]
  "$ROOT/usr/bin/nccl-bench" --help >/dev/null
  # shellcheck disable=SC2016
  [ "$(PATH=$ROOT/usr/bin:$PATH bash -c '. "$1" && COMP_CWORD=1 && _nccl_tune nccl-tune exp nccl-tune && echo "${COMPREPLY[@]}" &&
    _nccl_tune nccl-launch --no nccl-launch && echo "${COMPREPLY[@]}"' sh \
    "$ROOT/usr/share/bash-completion/completions/nccl-tune")" = $'explain\n--no-output-timeout' ]
  # A mark in the installed drop-in shows that it is this one which Slurm reads.
  sed -i 's/^optional .*/& default=explain/' "$ROOT/$DROP_IN"
  up installed --bin "$ROOT"
  cmp "$ROOT/$SO" "$NCCL_TUNE_CLUSTER_DIR/installed/bin/spank_nccl_tune.so"
  # shellcheck disable=SC2016
  run -0 --separate-stderr "$CLUSTER" run --name installed srun -N3 --ntasks-per-node=1 sh -c 'echo "$NCCL_IB_HCA"' 3>&-
  [ "$output" = $'=mlx5_1:1\n=mlx5_1:1\n=mlx5_1:1' ]
  # shellcheck disable=SC2154  # run sets it
  [[ $stderr == *"nccl-tune: server[1-3] (3 nodes)"* ]]
  run -0 "$CLUSTER" run --name installed srun -N3 --ntasks-per-node=1 --mpi=pmix --nccl-tune \
    nccl-launch -- nccl-bench all_reduce -b 1K -e 4K -f 2 3>&-
  [[ $output == *"# Out of bounds values : 0 OK"* ]]
  "$CLUSTER" down --name installed 3>&-
}

@test "an upgrade asks nothing, keeps what the site has changed, and leaves the old file to whoever has it mapped" {
  local before
  install_all
  before=$(sha256sum <"$ROOT/$SO")
  sed -i 's/^optional .*/& default=auto/' "$ROOT/$DROP_IN"
  exec 4<"$ROOT/$SO"
  later sh -c "echo later >>$SO"
  dpkg_root -i "$BATS_TEST_TMPDIR/later.deb"
  [ "$(state_of $PLUGIN)" = "ii " ]
  tail -n 1 "$ROOT/$SO" | grep -qx later
  [ "$(sha256sum <&4)" = "$before" ]
  exec 4<&-
  grep -q '\.so default=auto$' "$ROOT/$DROP_IN"
  [ ! -e "$ROOT/$DROP_IN.dpkg-dist" ]
}

@test "an upgrade with another drop-in: taken where the site changed nothing, laid beside where it did, gone stays gone" {
  local as_site
  later sh -c "sed -i 's/^optional .*/& timeout_ms=400/' $DROP_IN"
  install_all
  dpkg_root -i "$BATS_TEST_TMPDIR/later.deb"
  grep -q '\.so timeout_ms=400$' "$ROOT/$DROP_IN"

  later sh -c "sed -i 's/^optional .*/& timeout_ms=300/; ' $DROP_IN && sed -i 's/^Version: /Version: 99./' DEBIAN/control"
  sed -i 's/^optional .*/#&/' "$ROOT/$DROP_IN"
  as_site=$(cat "$ROOT/$DROP_IN")
  dpkg_root --force-confdef --force-confold -i "$BATS_TEST_TMPDIR/later.deb"
  [ "$(cat "$ROOT/$DROP_IN")" = "$as_site" ]
  grep -q '\.so timeout_ms=300$' "$ROOT/$DROP_IN.dpkg-dist"

  rm "$ROOT/$DROP_IN"
  later sh -c "sed -i 's/^Version: /Version: 999./' DEBIAN/control"
  dpkg_root --force-confdef --force-confold -i "$BATS_TEST_TMPDIR/later.deb"
  [ ! -e "$ROOT/$DROP_IN" ]
}

@test "removed: no drop-in without its plugin; installed again: the site's changes are back" {
  install_all
  sed -i 's/^optional .*/& default=auto/' "$ROOT/$DROP_IN"
  dpkg_root -r "${PACKAGES[@]}"
  [ "$(state_of $PLUGIN)" = "rc " ]
  [ "$(files | grep -v '^etc')" = $'var/lib/nccl-tune-slurm-plugin\nvar/lib/nccl-tune-slurm-plugin/zz-nccl_tune.conf' ]
  [ -z "$(find "$ROOT/etc" -type f)" ]
  dpkg_root -i "$DEBS/$PLUGIN.deb"
  grep -q '\.so default=auto$' "$ROOT/$DROP_IN"
  [ ! -e "$ROOT/var/lib/nccl-tune-slurm-plugin" ]
  # A removal that dpkg gives up.
  DPKG_ROOT=$ROOT sh "$ROOT/var/lib/dpkg/info/$PLUGIN.prerm" remove
  [ ! -e "$ROOT/$DROP_IN" ]
  DPKG_ROOT=$ROOT sh "$ROOT/var/lib/dpkg/info/$PLUGIN.postinst" abort-remove
  grep -q '\.so default=auto$' "$ROOT/$DROP_IN"
}

@test "removed where the place for the drop-in is taken: what is there is kept, and the removal goes on" {
  local parked=$ROOT/var/lib/nccl-tune-slurm-plugin
  install_all
  mkdir -p "$parked"
  echo mine >"$parked/zz-nccl_tune.conf"
  dpkg_root -r "$PLUGIN"
  grep -qx mine "$parked/zz-nccl_tune.conf.~1~"
  grep -q '^optional' "$parked/zz-nccl_tune.conf"
  dpkg_root -P "$PLUGIN"
  [ ! -e "$parked" ]
  dpkg_root -i "$DEBS/$PLUGIN.deb"
  touch "$parked"
  run -0 dpkg_root -r "$PLUGIN"
  [[ $output == *"$DROP_IN could not be moved to $parked: remove it"* ]]
  dpkg_root -P "$PLUGIN"
  [ ! -e "$parked" ]
  [ ! -e "$ROOT/$DROP_IN" ]
}

@test "purged: nothing is left, neither at once nor after a removal, and what is not ours stays" {
  mkdir -p "$ROOT/etc/nccl-tune"
  echo 'mode = "off"' >"$ROOT/etc/nccl-tune/nccl-tune.toml"
  install_all
  dpkg_root -P "${PACKAGES[@]}"
  [ "$(files)" = $'etc\netc/nccl-tune\netc/nccl-tune/nccl-tune.toml' ]
  install_all
  dpkg_root -r "${PACKAGES[@]}"
  dpkg_root -P "$PLUGIN"
  [ "$(files)" = $'etc\netc/nccl-tune\netc/nccl-tune/nccl-tune.toml' ]
  run -0 dpkg-query --admindir="$ROOT/var/lib/dpkg" -W
  [ -z "$output" ]
}

@test "installed on a copy of this machine: dependencies hold, and Slurm serves from where the packages put things" {
  needs_host "packages, which are for this machine's Slurm"
  [ "$(id -u)" = 0 ] || skip "needs root: installs packages on a copy of this machine"
  local package
  make_plain_clone
  for package in "${PACKAGES[@]}"; do cp "$DEBS/$package.deb" "$PLAIN_CLONE"; done
  cat >"$PLAIN_CLONE/life.sh" <<'END'
set -eu
clone=$1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
cluster() { "$clone/tools/cluster" "$@" --name copy; }
inside() { "$clone/tools/cluster" run --name copy "$@"; }
dpkg --no-triggers -i "$clone"/nccl-*.deb
mkdir "$clone/none"
cluster up --bin "$clone/none"
echo 'include /etc/slurm/plugstack.conf.d/*.conf' >"$NCCL_TUNE_CLUSTER_DIR/copy/conf/plugstack.conf"
inside srun --help | grep -e --nccl-tune
inside srun -N3 --ntasks-per-node=1 sh -c 'echo "silent ${NCCL_IB_HCA-none}"'
inside srun -N3 --ntasks-per-node=1 --nccl-tune sh -c 'echo "asked ${NCCL_IB_HCA-none}"'
inside srun -N3 --ntasks-per-node=1 --mpi=pmix --nccl-tune nccl-launch -- nccl-bench all_reduce -b 1K -e 4K -f 2
dpkg --no-triggers -r nccl-tune-slurm-plugin
echo removed
inside srun -N3 true
echo ran
dpkg --no-triggers -P nccl-tune-slurm-plugin nccl-tune nccl-bench
find /etc /usr /var/lib \( -name '*nccl-tune*' -o -name '*nccl_tune*' -o -name '*nccl-bench*' \) | sed 's/^/left: /'
cluster down
END
  run "$BATS_TEST_DIRNAME/on_a_copy.sh" "$NCCL_TUNE_CLUSTER_DIR" sh "$PLAIN_CLONE/life.sh" "$PLAIN_CLONE" 3>&-
  echo "$output"
  [ "$status" != 77 ] || skip "no file system can be laid over this machine's root"
  [ "$status" = 0 ]
  [[ $output == *"--nccl-tune=["* ]]
  [ "$(grep -c '^silent none$' <<<"$output")" = 3 ]
  [ "$(grep -c '^asked =mlx5_1:1$' <<<"$output")" = 3 ]
  [[ $output == *"# Out of bounds values : 0 OK"* ]]
  # Slurm says nothing of a plugin that has been taken away.
  [[ $output == *$'\nremoved\nran\n'* ]]
  [[ $output != *"left: "* ]]
  [ ! -e /usr/lib/nccl-tune ]
}

@test "dpkg refuses to set up a plugin for another Slurm" {
  [ "$(id -u)" = 0 ] || skip "needs root: installs packages on a copy of this machine"
  make_plain_clone
  dpkg-deb -R "$DEBS/$PLUGIN.deb" "$BATS_TEST_TMPDIR/tree"
  sed -i '/^Depends:/s/2[0-9]\.[01][0-9]/99.05/; /^Depends:/s/(<< 2[0-9]\.[01][0-9]~)/(<< 99.06~)/g' "$BATS_TEST_TMPDIR/tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Znone -b "$BATS_TEST_TMPDIR/tree" "$PLAIN_CLONE/other.deb"
  run "$BATS_TEST_DIRNAME/on_a_copy.sh" "$NCCL_TUNE_CLUSTER_DIR" dpkg --no-triggers -i "$PLAIN_CLONE/other.deb" 3>&-
  echo "$output"
  [ "$status" != 77 ] || skip "no file system can be laid over this machine's root"
  [ "$status" = 1 ]
  [[ $output == *"nccl-tune-slurm-plugin depends on slurm-wlm-basic-plugins (>= 99.05) | slurm-smd"* ]]
}
