"""Compiles .cu and .cc sources by nvcc into a library that C++ targets depend on. See docs/building-cuda.md."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_FLAGS = [
    "-std=c++20",
    "-O2",
    # The kernels use the same constexpr functions as the host.
    "--expt-relaxed-constexpr",
    "-Werror=all-warnings",
    "-Xcompiler=-fPIC,-fvisibility=hidden,-Wall,-Wextra,-Wshadow,-Wnon-virtual-dtor,-Wno-unused-function",
]

def _compile(ctx, source, headers):
    object_file = ctx.actions.declare_file("%s/%s.pic.o" % (ctx.label.name, source.basename))
    arguments = ctx.actions.args()
    arguments.add_all(_FLAGS)
    arguments.add_all(ctx.attr.flags)
    arguments.add("-I.")
    arguments.add("-c", source)
    arguments.add("-o", object_file)
    ctx.actions.run(
        executable = ctx.attr.nvcc,
        arguments = [arguments],
        inputs = depset([source], transitive = [headers]),
        outputs = [object_file],
        # nvcc looks for the host compiler on PATH.
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin"},
        mnemonic = "CudaCompile",
        progress_message = "Compiling %s by nvcc" % source.short_path,
    )
    return object_file

def _cuda_library_impl(ctx):
    deps = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    headers = depset(ctx.files.hdrs, transitive = [deps.compilation_context.headers])
    objects = depset([_compile(ctx, source, headers) for source in ctx.files.srcs])
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    linking_context, _ = cc_common.create_linking_context_from_compilation_outputs(
        name = ctx.label.name,
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(objects = objects, pic_objects = objects),
        user_link_flags = ctx.attr.link_flags,
        linking_contexts = [deps.linking_context],
        disallow_dynamic_library = True,
    )
    own = CcInfo(
        compilation_context = cc_common.create_compilation_context(headers = depset(ctx.files.hdrs)),
        linking_context = linking_context,
    )
    return [DefaultInfo(files = objects), cc_common.merge_cc_infos(direct_cc_infos = [own], cc_infos = [])]

cuda_library = rule(
    implementation = _cuda_library_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "flags": attr.string_list(doc = "architectures and include folders"),
        "hdrs": attr.label_list(allow_files = [".h"]),
        "link_flags": attr.string_list(doc = "the static CUDA runtime"),
        "nvcc": attr.string(mandatory = True),
        "srcs": attr.label_list(allow_files = [".cu", ".cc"]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
