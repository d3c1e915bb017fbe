"""Runs the code of the page on Python and of the package's README."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["docs/python.md", "crates/fourbar-py/README.md"])
def test_code_of_a_page_runs(page, monkeypatch, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in blocks:
        if "fourbar.gym" in block:
            pytest.importorskip("gymnasium")
        exec(compile(block, page, "exec"), names)
