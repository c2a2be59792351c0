# SPDX-License-Identifier: Apache-2.0
"""Measures speed and memory (tools/perf)."""
