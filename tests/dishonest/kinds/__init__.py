"""All dishonest submissions, by kind: a file each."""

import importlib
import pkgutil
from collections.abc import Mapping

from tests.dishonest.attempt import Attempt

KINDS: Mapping[str, tuple[Attempt, ...]] = {
    module.name: importlib.import_module(f"{__name__}.{module.name}").ATTEMPTS
    for module in pkgutil.iter_modules(__path__)
}
"""By kind, the submissions of that kind; students' ids are unlike each other across all kinds."""
