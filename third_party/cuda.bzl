"""Finds CUDA and NCCL's header; neither is required. See docs/building-cuda.md.

The repository holds defs.bzl with CUDA_FOUND, CUDA_WHY (why not, one line) and cuda_library.
"""

def _cuda_home(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "")
    if home:
        return home if ctx.path(home + "/bin/nvcc").exists else None
    if ctx.path("/usr/local/cuda/bin/nvcc").exists:
        return "/usr/local/cuda"
    nvcc = ctx.which("nvcc")
    return str(nvcc.realpath.dirname.dirname) if nvcc else None

def _nccl_include(ctx, cuda_home):
    folders = [cuda_home + "/include", "/usr/include"]
    nccl_home = ctx.os.environ.get("NCCL_HOME", "")
    if nccl_home:
        folders = [nccl_home + "/include"]
    for folder in folders:
        if ctx.path(folder + "/nccl.h").exists:
            return folder
    python = ctx.which("python3")
    if python and not nccl_home:
        found = ctx.execute([python, "-c", "import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])"])
        folder = found.stdout.strip() + "/include"
        if found.return_code == 0 and ctx.path(folder + "/nccl.h").exists:
            return folder
    return None

def _runtime_folder(ctx, cuda_home):
    for folder in ["/lib64", "/lib", "/targets/x86_64-linux/lib"]:
        if ctx.path(cuda_home + folder + "/libcudart_static.a").exists:
            return cuda_home + folder
    return None

def _architectures(ctx, nvcc):
    """Of 70, 80 and 90 those that this nvcc knows: machine code for each, and PTX of the newest for later GPUs."""
    listed = ctx.execute([nvcc, "--list-gpu-arch"])
    known = [arch for arch in ["70", "80", "90"] if "compute_" + arch in listed.stdout.split("\n")]
    if listed.return_code != 0 or not known:
        return None
    flags = ["-gencode=arch=compute_%s,code=sm_%s" % (arch, arch) for arch in known]
    return flags + ["-gencode=arch=compute_%s,code=compute_%s" % (known[-1], known[-1])]

def _find(ctx):
    """The toolkit as a struct, or the reason (a string) why there is none."""
    home = _cuda_home(ctx)
    if not home:
        return "built without CUDA: no nvcc in CUDA_HOME, /usr/local/cuda or PATH"
    include = _nccl_include(ctx, home)
    if not include:
        return "built without NCCL: no nccl.h in NCCL_HOME, %s/include, /usr/include or Python's nvidia.nccl" % home
    runtime = _runtime_folder(ctx, home)
    if not runtime:
        return "built without CUDA: no libcudart_static.a in " + home
    architectures = _architectures(ctx, home + "/bin/nvcc")
    if not architectures:
        return "built without CUDA: nvcc in %s knows no GPU from sm_70 to sm_90" % home
    return struct(nvcc = home + "/bin/nvcc", include = include, runtime = runtime, architectures = architectures)

_DEFS = """load("@nccl_tune//third_party:cuda_library.bzl", _cuda_library = "cuda_library")

CUDA_FOUND = {found}
CUDA_WHY = {why}

def cuda_library(name, **kwargs):
    _cuda_library(name = name, nvcc = {nvcc}, flags = {flags}, link_flags = {link_flags}, **kwargs)
"""

def _cuda_toolkit_impl(ctx):
    found = _find(ctx)
    missing = type(found) == "string"
    ctx.file("BUILD", "")
    ctx.file("defs.bzl", _DEFS.format(
        found = repr(not missing),
        why = repr(found if missing else ""),
        nvcc = repr("" if missing else found.nvcc),
        flags = repr([] if missing else found.architectures + ["-isystem", found.include]),
        link_flags = repr([] if missing else [
            "-L" + found.runtime,
            "-lcudart_static",
            "-lrt",
            "-lpthread",
            "-ldl",
        ]),
    ))

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME", "NCCL_HOME", "PATH"],
    local = True,
)
