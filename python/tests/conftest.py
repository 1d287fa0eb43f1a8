"""How many examples hypothesis tries: few by default, as many as STRIDEWISE_EXAMPLES says for a long run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "stridewise",
    max_examples=int(os.environ.get("STRIDEWISE_EXAMPLES", "80")),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("stridewise")
