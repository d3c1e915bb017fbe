"""Display in notebooks."""

from __future__ import annotations

import pathlib

from ._progress import in_notebook


def frame(page: str, height: int = 560) -> str:
    """A whole page in a frame of a cell. It needs no server and no extension, and is kept in stored notebooks."""
    from html import escape  # Its table of entities takes longer to import than all of this package.

    style = f"width:100%;height:{height}px;border:1px solid #8884;border-radius:6px"
    source = escape(page, quote=True)
    return f'<iframe style="{style}" sandbox="allow-scripts allow-same-origin allow-downloads" srcdoc="{source}"></iframe>'


def text(words: str) -> str:
    """Plain text, unchanged."""
    from html import escape

    return f'<pre style="font-family:monospace;font-size:12px;line-height:1.35;white-space:pre;overflow-x:auto">{escape(words)}</pre>'


def show(page: str, path: str | pathlib.Path | None, open: bool | None) -> pathlib.Path | None:
    """Shows a page: in the cell of a notebook, otherwise in a browser. With a path it is written there."""
    notebook = in_notebook()
    if path is None and notebook and open is not False:
        from IPython.display import HTML, display

        display(HTML(frame(page)))
        return None
    if path is None:
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="fourbar-", delete=False, encoding="utf-8") as file:
            file.write(page)
            path = file.name
    else:
        pathlib.Path(path).write_text(page, encoding="utf-8")
    path = pathlib.Path(path).resolve()
    if open if open is not None else not notebook:
        # Slow to import.
        import webbrowser

        webbrowser.open(path.as_uri())
    return path
