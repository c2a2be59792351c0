# SPDX-License-Identifier: Apache-2.0
"""Figures: what a token costs, what a GPU can do at most, and seconds that intervals cover together."""

# Dense bf16 rate of the matrix units in Tflop/s, by a part of the name that CUDA gives; the first that fits. Of NVIDIA's data
# sheets, which give twice as much "with sparsity" for those with a * there:
#   https://www.nvidia.com/en-us/data-center/h200/  (H200 *), .../h100/ (H100 SXM, PCIe and NVL *), .../a100/ (A100),
#   .../l40s/ (L40S *), https://www.nvidia.com/en-us/data-center/products/a10-gpu/ (A10 *)
PEAKS = (("H200 NVL", 835.0), ("H200", 989.0), ("GH200", 989.0), ("H100 PCIe", 756.0), ("H100 NVL", 835.0), ("H100", 989.0),
         ("A100", 312.0), ("L40S", 362.0), ("A10G", None), ("A10", 125.0))


def peak_tflops(given, gpu, precision):
    """Tflop/s of one rank: `given` by the user, else by the GPU's name in bf16; None when not known."""
    if given is not None:
        return given
    if gpu is None or precision != "bf16":
        return None
    return next((peak for part, peak in PEAKS if part in gpu), None)


def flops_of_token(parameters, layers, width, context):
    """What training on one token costs: 6 for each parameter that takes part in a matrix product (2 forward, 4 backward), and
    12 x layers x width x context for attention over whole windows (PaLM, appendix B, arXiv 2204.02311; what a causal mask
    leaves out is counted too)."""
    return 6 * parameters + 12 * layers * width * context


def utilisation(tokens_per_second, flops_per_token, peak, ranks):
    """Model FLOP utilisation, 0 to 1; None without a peak (Tflop/s of a rank)."""
    return None if peak is None else tokens_per_second * flops_per_token / (peak * 1e12 * ranks)


def covered(intervals):
    """The length that intervals (begin, end) cover together, however they overlap; in their own unit."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(intervals):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total

