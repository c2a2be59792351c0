# SPDX-License-Identifier: Apache-2.0
"""Makes one Debian package from a manifest, with dpkg's own tools.

  make_deb.py MANIFEST OUT      run where the paths of the manifest hold; base/version.h, CHANGELOG.md,
                                packaging/control and packaging/copyright are read from there too

Lines of a manifest:

  package NAME
  file SOURCE PATH              PATH without a leading slash; below etc/ it is a conffile, below usr/share/man compressed
  link PATH TARGET
  script preinst|postinst|prerm|postrm SOURCE

The same inputs on the same Debian release give the same bytes, whoever builds, wherever and whenever.
"""
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import changelog
import slurm_stamp
from changelog import BadInput

SCRIPTS = ("preinst", "postinst", "prerm", "postrm")
PLUGIN = "spank_nccl_tune.so"


@dataclass
class Manifest:
    """What goes into a package: its files by path, its links by path, its scripts by name."""

    package: str = ""
    files: dict = field(default_factory=dict)
    links: dict = field(default_factory=dict)
    scripts: dict = field(default_factory=dict)


def parse(text):
    """The manifest in `text`."""
    out = Manifest()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] == "package" and len(words) == 2 and not out.package:
            out.package = words[1]
        elif words[0] == "file" and len(words) == 3 and _is_path(words[2]):
            out.files[words[2]] = Path(words[1])
        elif words[0] == "link" and len(words) == 3 and _is_path(words[1]):
            out.links[words[1]] = words[2]
        elif words[0] == "script" and len(words) == 3 and words[1] in SCRIPTS:
            out.scripts[words[1]] = Path(words[2])
        else:
            raise BadInput(f'manifest:{number}: got "{line}", expected package, file, link or script with their words')
    if not out.package:
        raise BadInput("manifest: got no line with package, expected one")
    return out


def _is_path(path):
    return not path.startswith("/") and ".." not in path.split("/")


def _run(command, folder=None, seconds=0):
    """Runs a tool of dpkg in the C locale; its words are shown only when it fails."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": str(seconds)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise BadInput(f"{command[0]}: ended with {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _write(path, data, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def _compressed(data):
    return gzip.compress(data, 9, mtime=0)


def _is_program(data, path):
    return data.startswith((b"\x7fELF", b"#!")) and not path.endswith(".so")


def _lay_out(manifest, root):
    """Puts files and links in place; gives back the ELF files, stripped."""
    elf = []
    for path, source in manifest.files.items():
        data = source.read_bytes()
        target = root / path
        if path.startswith("usr/share/man/"):
            target, data = target.with_name(target.name + ".gz"), _compressed(data)
        _write(target, data, 0o755 if _is_program(data, path) else 0o644)
        if data.startswith(b"\x7fELF"):
            _run(["strip", "--strip-unneeded", "--remove-section=.comment", "--remove-section=.note", str(target)])
            elf.append(target)
    for path, to in manifest.links.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(to)
    return elf


def _plugin_words(manifest):
    """What of a package depends on the Slurm release of its plugin: (end of the version, variables for control)."""
    for path, source in manifest.files.items():
        if os.path.basename(path) == PLUGIN:
            try:
                found = slurm_stamp.release(source.read_bytes())
            except BadInput as error:
                raise BadInput(f"{source}: {error}") from error
            return f"+slurm{slurm_stamp.text(found)}", [f"slurm:Depends={slurm_stamp.depends(found)}",
                                                        f"slurm:Release={slurm_stamp.text(found)}"]
    return "", []


def _write_control(manifest, root, elf, version, log):
    """DEBIAN/control by dpkg-shlibdeps and dpkg-gencontrol, which want to stand in a source tree."""
    ending, words = _plugin_words(manifest)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        _write(source / "debian" / "control", Path("packaging/control").read_bytes())
        _write(source / "debian" / "changelog", log)
        if elf:
            _run(["dpkg-shlibdeps", "-Tsubstvars", f"-S{root}", *[f"-e{path}" for path in elf]], source)
        with open(source / "substvars", "a", encoding="utf-8") as file:
            file.writelines(word + "\n" for word in words)
        _run(["dpkg-gencontrol", f"-p{manifest.package}", f"-P{root}", f"-v{version}{ending}", "-Tsubstvars", "-ffiles",
              f"-O{root / 'DEBIAN' / 'control'}"], source)
    (root / "DEBIAN" / "control").chmod(0o644)


def _write_lists(root, manifest):
    """DEBIAN/md5sums of all but conffiles, and DEBIAN/conffiles."""
    conffiles = sorted(path for path in manifest.files if path.startswith("etc/"))
    sums = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not path.is_symlink() and not name.startswith("DEBIAN/") and name not in conffiles:
            sums.append(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {name}\n")
    _write(root / "DEBIAN" / "md5sums", "".join(sums).encode())
    if conffiles:
        _write(root / "DEBIAN" / "conffiles", "".join(f"/{path}\n" for path in conffiles).encode())


def _settle(root, seconds):
    """Modes of folders and times of everything, whatever umask and clock."""
    for path in [root, *root.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
        os.utime(path, (seconds, seconds), follow_symlinks=False)


def make(manifest, out):
    """Writes the package to the file `out`."""
    version = changelog.version_of(Path("base/version.h").read_text(encoding="utf-8"))
    text, seconds = changelog.convert(Path("CHANGELOG.md").read_text(encoding="utf-8"), version)
    log = text.encode()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        (root / "DEBIAN").mkdir(parents=True)
        elf = _lay_out(manifest, root)
        documents = root / "usr/share/doc" / manifest.package
        _write(documents / "changelog.gz", _compressed(log))
        _write(documents / "copyright", Path("packaging/copyright").read_bytes())
        for name, source in manifest.scripts.items():
            _write(root / "DEBIAN" / name, source.read_bytes(), 0o755)
        _write_lists(root, manifest)
        _settle(root, seconds)
        _write_control(manifest, root, elf, version, log)
        _settle(root, seconds)
        made = Path(folder) / "made.deb"
        # One thread: how xz cuts its blocks depends on their number.
        _run(["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", str(root), str(made)], None, seconds)
        shutil.copyfile(made, out)


def main(words):
    """Makes one package; 1 and a line on stderr when that is not possible."""
    if len(words) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        make(parse(Path(words[0]).read_text(encoding="utf-8")), words[1])
    except (BadInput, OSError) as error:
        print(f"make_deb: {words[0]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
