# SPDX-License-Identifier: Apache-2.0
"""Runs every test of the project and adds them up (tools/test)."""
