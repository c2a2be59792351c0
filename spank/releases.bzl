"""The Slurm releases that the plugin is built for, and how one is built. docs/testing.md says why one header will do."""

load("//third_party:copts.bzl", "COPTS", "STATIC_RUNTIME")

# Slurm loads a plugin stamped with its own major and minor number; the micro number is free.
RELEASES = [
    "22.05",
    "23.02",
    "23.11",
    "24.05",
    "24.11",
    "25.05",
    "25.11",
    "26.05",
]

def plugin_name(release = None):
    """The file of a release; without one, that of the Slurm whose headers this machine has."""
    return "spank_nccl_tune%s.so" % ("_" + release if release else "")

def spank_plugin(name, stamp, **kwargs):
    """Links the plugin with the stamp of one release. The code is :plugin, the same for all."""
    native.cc_binary(
        name = name,
        srcs = [
            "slurm.h",
            stamp,
        ],
        additional_linker_inputs = ["symbols.map"],
        copts = COPTS,
        # The version script alone says what is exported. With it the linker writes a name into the file, by default the
        # file's own: all releases have one.
        linkopts = STATIC_RUNTIME + [
            "-Wl,-soname,spank_nccl_tune.so",
            "-Wl,-z,now",
            "-Wl,--version-script=$(location symbols.map)",
        ],
        linkshared = True,
        linkstatic = True,
        deps = [
            ":plugin",
            "@slurm",
        ],
        **kwargs
    )

def release_plugins(visibility):
    """A plugin for each release, and :releases for all of them. They are built where they are asked for."""
    for release in RELEASES:
        stamp = "stamp_%s.cc" % release
        native.genrule(
            name = "stamp_%s" % release,
            srcs = ["stamp.cc"],
            outs = [stamp],
            cmd = "sed 's/SLURM_VERSION_NUMBER/SLURM_VERSION_NUM(%s, 0)/' $< >$@" % ", ".join(
                [part.lstrip("0") for part in release.split(".")],
            ),
            tags = ["manual"],
            visibility = ["//tests/spank:__pkg__"],
        )
        spank_plugin(
            name = plugin_name(release),
            stamp = stamp,
            tags = ["manual"],
            visibility = visibility,
        )
    native.filegroup(
        name = "releases",
        srcs = [plugin_name(release) for release in RELEASES],
        tags = ["manual"],
        visibility = visibility,
    )
