"""numpy, imported at first use, which saves half a second of `import fourbar`."""

from __future__ import annotations

import importlib
from typing import Any


class _Numpy:
    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module("numpy"), name)
        setattr(self, name, value)
        return value


np: Any = _Numpy()
