"""Repository rule for a library that the system provides: pkg-config first, then the plain include folders."""

_INCLUDE_FOLDERS = ["/usr/include", "/usr/local/include"]

def _pkg_config(ctx, name, flag):
    tool = ctx.which("pkg-config")
    if not tool or not name:
        return None
    result = ctx.execute([tool, flag, name])
    if result.return_code != 0:
        return None
    return [word for word in result.stdout.replace("\n", " ").split(" ") if word]

def _include_folders(ctx):
    given = ctx.os.environ.get(ctx.attr.include_variable, "") if ctx.attr.include_variable else ""
    if given:
        return [given]
    cflags = _pkg_config(ctx, ctx.attr.pkg_config, "--cflags") or []
    return [flag[2:] for flag in cflags if flag.startswith("-I")] + _INCLUDE_FOLDERS

def _system_library_impl(ctx):
    found = None
    for folder in _include_folders(ctx):
        if ctx.path(folder + "/" + ctx.attr.header).exists:
            found = folder
            break
    if not found:
        fail("\n\n%s: header %s not found (looked by pkg-config for '%s' and in %s).\n" % (
            ctx.name,
            ctx.attr.header,
            ctx.attr.pkg_config,
            ", ".join(_include_folders(ctx)),
        ) + "Install it:  apt-get install %s\n" % ctx.attr.debian_package)

    links = [] if ctx.attr.headers_only else (_pkg_config(ctx, ctx.attr.pkg_config, "--libs") or [])
    includes = ""
    if found not in _INCLUDE_FOLDERS:
        # Folders outside the compiler's own must lie in the repository, or Bazel calls their headers undeclared.
        ctx.symlink(found, "include")
        includes = """    hdrs = glob(["include/**"]),
    includes = ["include"],
"""
    ctx.file("BUILD", """cc_library(
    name = "%s",
%s    linkopts = %s,
    visibility = ["//visibility:public"],
)
""" % (ctx.name, includes, repr(links)))

system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "debian_package": attr.string(mandatory = True, doc = "what to install when the header is missing"),
        "header": attr.string(mandatory = True, doc = "header whose presence proves the library"),
        "include_variable": attr.string(doc = "variable that names a folder to take the header from instead"),
        "headers_only": attr.bool(doc = "the symbols come from elsewhere; link nothing"),
        "pkg_config": attr.string(doc = "module name; empty: none exists"),
    },
    environ = [
        "PKG_CONFIG_PATH",
        "SLURM_INCLUDE",
    ],
    local = True,
)
