"""What every test relies on: one thread for each process, so that tests can run side by side and fork; and no test
leaves anything in the home of whoever runs it. What draws its own examples has no deadline: no test depends on time.
"""

from __future__ import annotations

import os
import tempfile

import hypothesis

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
_work = tempfile.TemporaryDirectory(prefix="katze-work-")
os.environ["KATZE_WORK"] = _work.name

hypothesis.settings.register_profile("katze", deadline=None)
hypothesis.settings.load_profile("katze")
