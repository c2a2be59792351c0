# SPDX-License-Identifier: Apache-2.0
"""The embedded cluster: a real Slurm of N nodes inside one process tree of namespaces. See docs/cluster.md."""
