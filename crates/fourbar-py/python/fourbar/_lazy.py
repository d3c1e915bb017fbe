"""numpy, imported when it is first used: half a second that `import fourbar` does not take."""

from __future__ import annotations

import importlib
from typing import Any


class _Numpy:
    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module("numpy"), name)
        setattr(self, name, value)
        return value


np: Any = _Numpy()
