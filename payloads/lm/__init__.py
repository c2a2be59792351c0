# SPDX-License-Identifier: Apache-2.0
"""A language model over several machines: what payloads/train_lm.py is made of (docs/payloads.md).

Modules that need PyTorch: model, data, world, parallel, checkpoint, trainer. The others are Python alone."""
