"""Any invalid argument from Python gives an exception, and the process survives.

Calls with random, mostly invalid arguments run in a separate process, so that a crash appears as its exit code. The seed is printed for
repetition.
"""

import os
import random
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import fourbar
from fourbar import _fourbar

SECONDS = float(os.environ.get("FOURBAR_FUZZ_SECONDS", "12"))

FUZZ = textwrap.dedent(
    '''
    import faulthandler, pickle, random, signal, sys, time, warnings
    import numpy as np
    import fourbar
    from fourbar import _fourbar

    seed, seconds = int(sys.argv[1]), float(sys.argv[2])
    rng = random.Random(seed)
    warnings.simplefilter("ignore")
    NAMES = ["fourbar", "a04_bricard", "pid_pendulum", "bicycle", "ra_double_pendulum", "double_wishbone", "rope_swing", "dca_five_bar"]
    models = [fourbar.load(n) for n in NAMES]
    states = [m.assemble() for m in models]
    results = [m.run(0.05) for m in models]
    loops = []
    loops.append(loops)

    class Odd:
        def __float__(self): raise RuntimeError("no number")
        def __index__(self): return 10**30
        def __str__(self): raise RuntimeError("no text")
        def __repr__(self): raise RuntimeError("no text")
        def __iter__(self): raise RuntimeError("no items")
        def __len__(self): return -1
        def __array__(self, *a, **k): raise RuntimeError("no array")
        def __fspath__(self): return 3

    def value():
        k = rng.randrange(34)
        simple = [None, True, 0, -1, 1, 10**400, 2**64, -(2**63), 0.0, -0.0, 1e-320, 1e308, float("nan"), float("inf"), -float("inf"),
                  "", "t", "P.*", "*", "\\x00", "\\ud800", "a" * 10000, b"bytes", object(), Odd(), loops]
        if k < len(simple):
            return simple[k]
        shapes = [(), (0,), (3,), (3, 7), (3, 6), (1, 7), (2, 2, 2)]
        return [
            lambda: np.full(rng.choice(shapes), rng.choice([0.0, 1.0, np.nan, np.inf])),
            lambda: np.arange(21, dtype=rng.choice(["i4", "f4", "c16", "O", "U3"])).reshape(3, 7)[::rng.choice([1, -1])],
            lambda: [value() for _ in range(rng.randrange(4))],
            lambda: {name(): value() for _ in range(rng.randrange(3))},
            lambda: (value(), value()),
            lambda: rng.choice(models), lambda: rng.choice(states), lambda: rng.choice(results),
        ][k - len(simple)]()

    def name():
        m = rng.choice(models)
        return rng.choice([rng.choice(m.columns), rng.choice(m.bodies + m.joints + m.points + ("?",)), "crank_length", "target", "torque", "O.angle", ""])

    def some():
        return name() if rng.random() < 0.4 else value()

    KEYS = ["t_end", "output_step", "formulation", "integrator", "step", "tol", "analysis", "options", "inputs", "mode", "columns"]
    WORDS = ["ra", "rp", "reps", "so3xr3", "se3", "lie", "dca", "grcr", "natural", "auto", "radau", "dopri5", "gen-alpha", "taylor", "kinematics", "dynamics"]

    def settings():
        s = {"t_end": rng.choice([0.01, 0.02, -1, float("nan"), 0])}
        for k in rng.sample(KEYS, rng.randrange(4)):
            # Large ends and tiny steps are allowed and would only take long.
            x = rng.choice(WORDS) if rng.random() < 0.4 else some()
            if k in ("t_end", "output_step", "step", "tol") and isinstance(x, (int, float)) and x == x and 0 < x:
                x = min(max(x, 1e-3), 0.05)
            s[k] = x
        return s

    def simulate(m):
        sim = m.simulation(**{k: v for k, v in settings().items() if k not in ("t_end", "output_step", "columns")})
        for _ in range(rng.randrange(6)):
            now = sim.t
            steps = [lambda: sim.advance(rng.choice([now, now + 0.01, now - 1, float("nan")])), lambda: sim.step(rng.choice([0.003, -1, float("nan"), value(), None]) if rng.random() < 0.5 else 0.002),
                     lambda: sim.inputs.__setitem__(some(), value()), lambda: sim.inputs[some()], lambda: sim.inputs.update(value()),
                     lambda: setattr(sim, "state", rng.choice(states)), lambda: sim.assemble(rng.choice(states)), lambda: sim.restore(some()),
                     lambda: sim.joint(some()), lambda: sim.body(some()), lambda: sim[some()], lambda: sim.row(), lambda: sim.point(some()),
                     lambda: sim.force(some()), lambda: sim.drive(some()), lambda: sim.finish(), lambda: sim.run_ahead(value()),
                     lambda: pickle.loads(pickle.dumps(sim)).step(0.001), lambda: repr(sim), lambda: sim.state.acceleration()]
            attempt(rng.choice(steps))

    def limited(x):
        return isinstance(x, (int, float)) and not isinstance(x, bool) and x == x and abs(x) > 5

    def evaluate(s):
        calls = [lambda: s.replace(q=value(), v=value() if rng.random() < 0.5 else None), lambda: s.replace(t=value()), lambda: s.joint(some()), lambda: s.body(some()),
                 lambda: s.equations(value()), lambda: s.inverse_dynamics(value(), value()), lambda: s.point(some()), lambda: s.force(some()),
                 lambda: s.acceleration(), lambda: s.jacobian(), lambda: s.reactions(), lambda: s == value(), lambda: s.drive(some())]
        attempt(rng.choice(calls))

    def look(r):
        calls = [lambda: r[some()], lambda: r.select(value()), lambda: r.vector(some()), lambda: r.get(some()), lambda: some() in r,
                 lambda: r.save(value()) if False else None, lambda: r.html(rng.choice(results)), lambda: pickle.loads(pickle.dumps(r)),
                 lambda: r.to_numpy().__setitem__(0, 1), lambda: r.t.sort(), lambda: r.__arrow_c_stream__(value()),
                 lambda: _fourbar.arrow_stream(value(), value(), value()), lambda: _fourbar.Ran.restored(some()),
                 lambda: r._model._core.page(value()), lambda: r._model._core.run(value(), value(), value())
                 if rng.random() < 0.2 else None]
        attempt(rng.choice(calls))

    def about(m):
        x = value()
        if limited(x):
            return
        calls = [lambda: m.modes(x, inputs=value()), lambda: m.linearize(x, inputs=value(), outputs=value(), values=value()),
                 lambda: m.equilibrium(kind=some(), t=0.0 if limited(y := value()) else y, inputs=value()), lambda: m.assemble(value(), mode=value())]
        attempt(rng.choice(calls))

    def study(m):
        vary = {rng.choice(list(m.parameters) or ["x"]): rng.choice([(0.05, 0.06, 2), (0.05, 0.06), [0.05], "1..2", "1,2 mm:3:log", value(), some()])}
        measures = {rng.choice(["x", "y", "case", "", name()]): rng.choice(["max(t)", "last(O.angle)", "max(", "range(P.y)", some(), value()])}
        vary, measures = rng.choice([vary, value()]), rng.choice([measures, value()])
        short = {"t_end": rng.choice([0.01, value()])} if rng.random() < 0.9 else settings()
        short = {k: min(x, 0.02) if limited(x) else x for k, x in short.items() if k != "columns"}
        calls = [lambda: m.sweep(vary, measures, threads=2, **short), lambda: m.sweep(vary, measures, sobol=rng.choice([3, value()]), seed=rng.choice([None, value()]), **short),
                 lambda: m.sweep(vary, measures, executor=rng.choice([value(), None]), chunk=value(), **short), lambda: m.sweep(value(), value(), trajectories=value()),
                 lambda: m.tolerance(value(), measures, samples=rng.choice([0, 2, value()]), keep=value(), **short),
                 lambda: m.tolerance({k: rng.choice(["0.1 mm", "IT7", "sigma:", "clearance:1mm", value()]) for k in list(m.parameters)[:2]}, measures, samples=2, **short),
                 lambda: m.optimize(vary, minimize=rng.choice(["max(t)", some()]), evaluations=rng.choice([4, value()]), starts=1, **short),
                 lambda: m.optimize(vary, fit=measures, keep=value(), method=some(), starts=1, evaluations=4, **short),
                 lambda: m.inverse(some(), motors=value(), weights=value(), t_end=0.01), lambda: m.sensitivities(some(), to=value(), t_end=0.01),
                 lambda: fourbar.synthesize(**{rng.choice(["path", "function", "motion", "place"]): value(), "starts": 1}), lambda: fourbar.report(value())]
        attempt(rng.choice(calls))

    def build():
        b = fourbar.Mechanism(gravity=rng.choice([None, [0, 0, -9.81]]))
        methods = [n for n in dir(b) if not n.startswith("_") and n not in ("save", "build")]
        for _ in range(rng.randrange(1, 8)):
            args = [some() for _ in range(rng.randrange(1, 6))]
            attempt(lambda: getattr(b, rng.choice(methods))(*args))
        attempt(lambda: b.build())

    counts = {}
    def attempt(f):
        try:
            f()
            counts["fine"] = counts.get("fine", 0) + 1
        except Exception as e:
            counts[type(e).__name__] = counts.get(type(e).__name__, 0) + 1
            if isinstance(e, fourbar.FourbarError):
                assert e.diagnostics and str(e), e
                if e.code == "S252":
                    print("PANIC", seed, str(e)[:500], flush=True)
                    sys.exit(3)

    # What is allowed and takes long is stopped as by Ctrl-C; what cannot be stopped is a finding.
    def stop(*_):
        raise TimeoutError

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, stop)
    end = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < end:
        rounds += 1
        faulthandler.dump_traceback_later(60, exit=True)
        if hasattr(signal, "SIGALRM"):
            signal.setitimer(signal.ITIMER_REAL, 2)
        m = rng.choice(models)
        k = rng.randrange(12)
        if k >= 10: attempt(lambda: study(m))
        elif k < 3: attempt(lambda: m.run(**settings()))
        elif k == 3: attempt(lambda: simulate(m))
        elif k == 4: attempt(lambda: evaluate(rng.choice(states)))
        elif k == 5: attempt(lambda: look(rng.choice(results)))
        elif k == 6: attempt(lambda: about(m))
        elif k == 7: attempt(build)
        elif k == 8: attempt(lambda: m.replace(**{rng.choice(list(m.parameters) or ["x"]): value()}))
        else:
            text = m.text
            a = rng.randrange(len(text)); b = min(len(text), a + rng.randrange(40))
            attempt(lambda: fourbar.loads(text[:a] + rng.choice(["", "1e999", ": {", "[", "nan", "-", "\\t", "\\x00"]) + text[b:]).run(0.01, output_step=0.005))
    if hasattr(signal, "SIGALRM"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    # It still computes as ever.
    assert np.array_equal(models[0].run(0.05)["P.y"], results[0]["P.y"])
    print("rounds", rounds, counts)
    '''
)


def test_random_calls_end_in_exceptions_and_never_in_a_crash(tmp_path):
    script = tmp_path / "fuzz.py"
    script.write_text(FUZZ)
    seed = int(os.environ.get("FOURBAR_FUZZ_SEED", random.SystemRandom().randrange(2**31)))
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(script), str(seed), str(SECONDS)], capture_output=True, text=True, timeout=SECONDS + 240, cwd=tmp_path
    )
    print(f"seed {seed}\n{done.stdout}")
    assert done.returncode == 0, f"seed {seed}, exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert "rounds" in done.stdout and "fine" in done.stdout


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_panic_is_an_error_of_the_package(elsewhere, capfd):
    with pytest.raises(fourbar.FourbarError) as caught:
        _fourbar._panics(elsewhere)
    assert caught.value.code == "S252" and "on purpose" in str(caught.value)


def test_arrays_outlive_what_made_them():
    y = fourbar.load("fourbar").run()["P.y"]
    v = fourbar.load("fourbar").simulation().state.v
    joint = fourbar.load("fourbar").simulation().joint("O").force
    inputs = fourbar.load("pid_pendulum").simulation().inputs
    import gc

    gc.collect()
    assert y.max() > 0.1 and np.isfinite(v).all() and np.isfinite(joint).all() and inputs["target"] == 1.0


def test_exceptions_of_callbacks_come_through_threads():
    """Many threads, some of which fail, do not affect each other."""
    model, failures, good = fourbar.load("ra_double_pendulum"), [], []

    def work(k):
        try:
            if k % 3 == 0:
                model.run(-1)
            elif k % 3 == 1:
                model.joint  # an attribute that is not there
            else:
                good.append(model.run(0.2)["energy.total"][-1])
        except (fourbar.FourbarError, AttributeError) as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(12)]
    [t.start() for t in threads]
    [t.join(60) for t in threads]
    assert len(failures) == 8 and len(set(good)) == 1 and len(good) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_computes():
    model = fourbar.load("fourbar")
    model.check()
    expected = model.run()["P.y"].max()
    pid = os.fork()
    if pid == 0:
        try:
            code = 0 if model.run()["P.y"].max() == expected and model.check().mobility == 1 else 1
        except BaseException:
            code = 2
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
