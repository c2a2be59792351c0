"""SPANK plugins for end-to-end tests, one for each Slurm release; a test builds the one that it needs."""

load("//spank:releases.bzl", "RELEASES")
load("//third_party:copts.bzl", "COPTS", "STATIC_RUNTIME")

def _plugin(name, srcs, **kwargs):
    native.cc_binary(
        name = name,
        srcs = srcs + ["//spank:slurm.h"],
        copts = COPTS,
        linkshared = True,
        linkstatic = True,
        tags = ["manual"],
        **kwargs
    )

def stand_ins():
    """container_stand_in_RELEASE.so, and faulty_plugin_RELEASE.so: ours, with faults between it and Slurm."""
    for release in RELEASES:
        number = ",".join([part.lstrip("0") for part in release.split(".")])
        _plugin(
            name = "container_stand_in_%s.so" % release,
            srcs = ["container_stand_in.cc"],
            linkopts = STATIC_RUNTIME,
            local_defines = ["PLUGIN_VERSION=SLURM_VERSION_NUM(%s,0)" % number],
            deps = ["@slurm"],
        )
        _plugin(
            name = "faulty_plugin_%s.so" % release,
            srcs = [
                "faults.cc",
                "//spank:stamp_%s.cc" % release,
            ],
            additional_linker_inputs = ["//spank:symbols.map"],
            linkopts = STATIC_RUNTIME + ["-Wl,--version-script=$(location //spank:symbols.map)"],
            deps = [
                "//spank:plugin",
                "@slurm",
            ],
        )
