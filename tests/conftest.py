"""What every test shares: Hypothesis with a fixed seed."""

import os

from hypothesis import settings

JIT_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

settings.register_profile("compiled", deadline=None, derandomize=True, print_blob=True, max_examples=100)
settings.register_profile("plain", parent=settings.get_profile("compiled"), max_examples=15)
settings.load_profile("plain" if JIT_IS_OFF else "compiled")
