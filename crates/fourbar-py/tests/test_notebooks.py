"""Runs every notebook."""

import pathlib

import pytest

jupytext = pytest.importorskip("jupytext")
nbclient = pytest.importorskip("nbclient")

FOLDER = pathlib.Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(p for p in FOLDER.glob("[0-9]*.py"))


def test_all_nine_are_there():
    assert len(NOTEBOOKS) == 9


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    # Pictures are shown in the cells.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = jupytext.read(path)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    assert any("image/png" in o.get("data", {}) or "text/html" in o.get("data", {}) for o in shown), "nothing is shown"
