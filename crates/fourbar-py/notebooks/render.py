"""Executes the notebooks and writes them as HTML: `python render.py FOLDER`."""

import pathlib
import sys

import jupytext
import nbclient
import nbconvert

here, folder = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[1])
for path in sorted(here.glob("[0-9]*.py")):
    notebook = jupytext.read(path)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    html, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    out = folder / f"{path.stem}.html"
    out.write_text(html, encoding="utf-8")
    print(f"{out} ({len(html) / 1e6:.1f} MB)", flush=True)
