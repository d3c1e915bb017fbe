"""Progress bars of runs, in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

# Shorter runs show no bar, seconds.
PATIENCE = 2.0
EVERY = 0.2


def in_notebook() -> bool:
    """Whether output is displayed in a notebook."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell = ipython.get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


class Bar:
    """The bar of one run; `close` removes it."""

    def __init__(self, patience: float = PATIENCE, what: str = "t =", unit: str = " s"):
        self.what, self.unit = what, unit
        self.started = time.monotonic()
        self.patience = patience
        self.last = 0.0
        self.handle: Any = None
        self.shown = False
        self.notebook = in_notebook()

    def __call__(self, t: float, t_end: float) -> None:
        now = time.monotonic()
        if now - self.started < self.patience or now - self.last < EVERY:
            return
        self.last = now
        share = min(max(t / t_end, 0.0), 1.0) if t_end > 0 else 0.0
        left = (now - self.started) * (1 - share) / share if share > 0 else 0.0
        words = f"{self.what} {t:.4g} of {t_end:.4g}{self.unit}, {left:.0f} s left"
        self.shown = True
        if self.notebook:
            from IPython.display import HTML, display

            html = HTML(f'<progress value="{share:.4f}" style="width:20em"></progress> {100 * share:.0f} %, {words}')
            if self.handle is None:
                self.handle = display(html, display_id=True)
            else:
                self.handle.update(html)
        else:
            done = int(30 * share)
            sys.stderr.write(f"\r\x1b[K{'█' * done}{'░' * (30 - done)} {100 * share:3.0f} %  {words}")
            sys.stderr.flush()

    def close(self) -> None:
        """Removes the bar."""
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))
        elif self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def bar(progress: bool | Callable[[float, float], object] | None, what: str = "t =", unit: str = " s") -> Any:
    """The progress callback of a run: a bar if output is interactive, a function of the caller, or nothing."""
    if callable(progress):
        return progress
    if progress is None:
        progress = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    return Bar(what=what, unit=unit) if progress else None
