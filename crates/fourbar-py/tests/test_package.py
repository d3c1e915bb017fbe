"""The package itself: import, types, help."""

import importlib.resources
import subprocess
import sys

import pytest

import fourbar
from fourbar import _fourbar


def test_versions_agree():
    import importlib.metadata

    assert fourbar.__version__ == importlib.metadata.version("fourbar")


def test_types_come_along():
    files = {p.name for p in importlib.resources.files("fourbar").iterdir()}
    assert {"py.typed", "_fourbar.pyi"} <= files


def test_the_stub_names_what_the_module_has():
    import ast

    text = importlib.resources.files("fourbar").joinpath("_fourbar.pyi").read_text()
    classes = {n.name: {m.name for m in n.body if isinstance(m, ast.FunctionDef)} for n in ast.parse(text).body if isinstance(n, ast.ClassDef)}
    functions = {n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    for name, members in classes.items():
        there = {m for m in dir(getattr(_fourbar, name)) if not m.startswith("_")}
        stated = {m for m in members if not m.startswith("_")}
        # Declared names exist, and public names are declared.
        assert stated <= there, (name, stated - there)
        if name not in ("Core", "Ran"):
            assert there <= stated, (name, there - stated)
    assert functions <= set(dir(_fourbar))


def test_everything_has_a_docstring():
    for name in fourbar.__all__:
        thing = getattr(fourbar, name)
        if isinstance(thing, str):
            continue
        assert thing.__doc__, name
        if isinstance(thing, type):
            public = [m for m in vars(thing) if not m.startswith("_")]
            bare = [m for m in public if not getattr(getattr(thing, m), "__doc__", "x") and callable(getattr(thing, m))]
            assert not bare, (name, bare)


def test_types_are_checked_by_mypy(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "uses.py"
    script.write_text(
        "import fourbar\n"
        "m: fourbar.Model = fourbar.load('fourbar', crank_length=0.06)\n"
        "r: fourbar.Result = m.run(1.0, tol=1e-6)\n"
        "s: fourbar.State = m.assemble()\n"
        "sim: fourbar.Simulation = m.simulation()\n"
        "angle: float = sim.joint('O').angle\n"
        "q: float = s.q[0, 0]\n"
        "c: fourbar.Sweep = m.sweep({'crank_length': (0.05, 0.06, 2)}, {'x': 'max(P.y)'}, tol=1e-6)\n"
        "best: fourbar.Model = m.optimize({'crank_length': '50..60 mm'}, minimize='max(P.y)').model\n"
    )
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, cwd=tmp_path, timeout=1200)
    assert done.returncode == 0, done.stdout
    done = subprocess.run([*command, "-p", "fourbar"], capture_output=True, text=True, cwd=tmp_path, timeout=1200)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import fourbar\nfourbar.load('fourbar').run('one second')\nfourbar.load('fourbar').assemble().qq\nfourbar.load('fourbar').run(tool=1e-6)\n")
    done = subprocess.run([*command, str(wrong)], capture_output=True, text=True, cwd=tmp_path, timeout=1200)
    assert done.stdout.count("error:") == 3, done.stdout


def test_the_import_itself_loads_no_numpy():
    code = "import sys, fourbar; print('numpy' in sys.modules); fourbar.load('fourbar').run(0.1).vector('P'); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["False", "True"], done.stderr


def test_the_import_needs_nothing_but_numpy():
    code = "import sys; sys.modules.update({m: None for m in ('pandas', 'polars', 'xarray', 'pyarrow', 'matplotlib', 'scipy', 'gymnasium', 'IPython')}); import fourbar; print(fourbar.load('fourbar').run()['P.y'].shape)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "(201,)", done.stderr
