# SPDX-License-Identifier: Apache-2.0
"""Our nccl-bench beside nccl-tests on a GPU: same output, same times (compare.py)."""
