"""A Debian package as a target: NAME.manifest lists what goes in, NAME.deb is made from it by make_deb.py."""

_MAKER = [
    "changelog.py",
    "control",
    "copyright",
    "make_deb.py",
    "slurm_stamp.py",
    "//:CHANGELOG.md",
    "//base:version.h",
]

def debian_package(name, files, links = {}, scripts = {}):
    """Makes NAME.manifest and NAME.deb. Not part of //...: a build under a sanitizer is nothing to install.

    Args:
      name: of the package.
      files: label of each file to its path below /.
      links: path of each link below / to its target.
      scripts: label of each maintainer script to the list of its names.
    """
    sources = files.keys() + scripts.keys()
    lines = ["package " + name]
    lines += ["file $(location %s) %s" % entry for entry in files.items()]
    lines += ["link %s %s" % entry for entry in links.items()]
    lines += ["script %s $(location %s)" % (one, label) for label, names in scripts.items() for one in names]
    native.genrule(
        name = name + "_manifest",
        srcs = sources,
        outs = [name + ".manifest"],
        cmd = "cat >$@ <<'END'\n%s\nEND" % "\n".join(lines),
        tags = ["manual"],
    )
    native.genrule(
        name = name + "_deb",
        srcs = sources + _MAKER + [name + ".manifest"],
        outs = [name + ".deb"],
        cmd = "/usr/bin/python3 -B $(location make_deb.py) $(location %s.manifest) $@" % name,
        tags = ["manual"],
    )
