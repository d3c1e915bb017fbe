"""Mechanisms read, changed and refused."""

import pickle

import numpy as np
import pytest

import fourbar

FREE_FALL = """
fourbar: 1
title: Stone
gravity: [0, 0, -9.81]
parameters: {height: 20, v0: 3}
bodies: {stone: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0, 0, height], velocity: [v0, 0, 0]}}
study: {t_end: 2, output_step: 0.1}
"""


def test_all_shipped_models_load_and_describe_themselves():
    assert len(fourbar.examples()) > 40
    for name in fourbar.examples():
        model = fourbar.load(name)
        assert model.bodies and model.columns[0] == "t"
        assert set(model.units) == set(model.columns)
        assert repr(model).startswith("<fourbar.Model ")


def test_a_text_is_read_and_runs_as_free_fall_does():
    r = fourbar.loads(FREE_FALL).run()
    np.testing.assert_allclose(r["stone.r.z"], 20 - 0.5 * 9.81 * r.t**2, atol=1e-9)
    np.testing.assert_allclose(r["stone.r.x"], 3 * r.t, atol=1e-9)


def test_a_file_is_read_by_its_path(tmp_path):
    path = tmp_path / "stone.yaml"
    path.write_text(FREE_FALL)
    for given in (path, str(path)):
        model = fourbar.load(given, height=5)
        assert model.title == "Stone" and model.parameters["height"] == 5
        assert model.name.endswith("stone.yaml")


def test_parameters_are_numbers_expressions_and_scalars_of_numpy():
    model = fourbar.load("fourbar")
    for value in (0.06, "60 mm", "0.03*2", np.float64(0.06), np.float32(0.06)):
        assert model.replace(crank_length=value).parameters["crank_length"] == pytest.approx(0.06, rel=1e-6)
    # The one that was there has not changed, and later values win.
    assert model.parameters["crank_length"] == pytest.approx(0.08)
    assert model.replace(crank_length=0.05).replace(crank_length=0.06).parameters["crank_length"] == 0.06
    kept = model.replace(Px=0.05).replace(crank_length=0.06)
    assert kept.parameters["Px"] == 0.05


@pytest.mark.parametrize("value, kind", [(float("nan"), ValueError), (float("inf"), ValueError), (None, TypeError), ([1], TypeError), (True, TypeError)])
def test_parameters_that_are_no_numbers_are_refused(value, kind):
    with pytest.raises(kind, match="crank_length"):
        fourbar.load("fourbar", crank_length=value)


def test_errors_carry_every_field():
    with pytest.raises(fourbar.FourbarError) as caught:
        fourbar.loads("fourbar: 1\nbodies:\n  a: {mas: 1}\n", name="wrong.yaml")
    e = caught.value
    assert e.code.startswith("M") and e.line == 3 and e.column is not None and e.help
    assert e.file == "wrong.yaml" and e.time is None
    assert "mas" in str(e) and "^" in str(e) and "wrong.yaml:3" in str(e)
    assert len(e.diagnostics) >= 1 and fourbar.explain(e.code).startswith(e.code)
    # All mistakes at once.
    with pytest.raises(fourbar.FourbarError) as caught:
        fourbar.loads("fourbar: 1\nbodies:\n  a: {mas: 1}\njoints:\n  j: {type: revolut}\n")
    assert len(caught.value.diagnostics) >= 2
    # Names that are nearly right.
    with pytest.raises(fourbar.FourbarError, match="crank_length"):
        fourbar.load("fourbar", crank_lenght=1)
    again = pickle.loads(pickle.dumps(e))
    assert again.code == e.code and str(again) == str(e) and again.line == 3


def test_warnings_are_warnings_of_python():
    with pytest.warns(fourbar.FourbarWarning) as caught:
        fourbar.load("fourbar").run(0.1, options={"rho": 0.5})
    assert caught[0].message.diagnostic.code == "W302"
    assert caught[0].filename == __file__


def test_a_model_is_written_and_read_again(tmp_path):
    model = fourbar.load("fourbar", crank_length=0.06)
    model.save(tmp_path / "short.yaml")
    again = fourbar.load(tmp_path / "short.yaml")
    np.testing.assert_allclose(again.run()["P.y"], model.run()["P.y"], atol=1e-12)


def test_names_of_all_sections():
    model = fourbar.load("pid_pendulum")
    assert model.inputs == {"target": 1.0} and model.input_ranges == {"target": (-3.0, 3.0)}
    assert model.states == ("integral", "speed") and model.points == ("centre",) and model.forces == ("controller",)
    assert model.joint_kinds == {"O": ("revolute", "ground", "bob")}
    assert fourbar.load("fourbar").drives == ("motor",)
    assert fourbar.load("bicycle").constraints == ("road_r", "road_f")
    assert (model.t_end, model.output_step) == (4.0, 0.02)
    assert "natural" in fourbar.formulations()


def test_the_built_mechanism_is_the_read_one():
    m = fourbar.Mechanism("Slider crank", gravity=[0, 0, -9.81])
    m.parameters(r=0.1, l=0.3, speed="4*pi")
    m.body("crank", mass=1, inertia=[1e-3] * 3, at=["r/2", 0, 0])
    m.body("rod", mass=1, inertia=np.full(3, 1e-3), at=["r + l/2", 0, 0])
    m.body("piston", mass=1, inertia=[1e-3] * 3, at=["r + l", 0, 0])
    m.revolute("O", fourbar.GROUND, "crank", at=[0, 0, 0], axis=[0, 1, 0])
    m.revolute("A", "crank", "rod", at=["r", 0, 0], axis=(0, 1, 0))
    m.revolute("B", "rod", "piston", at=["r + l", 0, 0], axis=np.array([0, 1, 0]))
    m.prismatic("slide", fourbar.GROUND, "piston", at=["r + l", 0, 0], axis=[1, 0, 0])
    m.drive("motor", "O", angle="speed*t").study(t_end=0.5, output_step=0.01)
    result = m.build().run(columns=["slide.distance", "O.angle"])
    angle, r, l = result["O.angle"], 0.1, 0.3
    np.testing.assert_allclose(angle, 4 * np.pi * result.t, atol=1e-12)
    closed_form = r * np.cos(angle) + np.sqrt(l**2 - (r * np.sin(angle)) ** 2) - (r + l)
    np.testing.assert_allclose(result["slide.distance"], closed_form, atol=1e-10)
    assert fourbar.loads(__import__("json").dumps(m.to_dict())).joints == ("O", "A", "B", "slide")


def test_the_builder_refuses_what_it_can_see_and_says_the_rest_at_once():
    m = fourbar.Mechanism().body("a", mass=1, inertia=[1, 1, 1])
    with pytest.raises(ValueError, match="already"):
        m.body("a", mass=2)
    with pytest.raises(ValueError, match="bodies.b.mass"):
        m.body("b", mass=float("nan"))
    m.revolute("pin", fourbar.GROUND, "b", at=[0, 0, 0], axis=[0, 0, 1]).spherical("ball", "c", "a", at=[0, 0, 0])
    with pytest.raises(fourbar.FourbarError) as caught:
        m.build()
    assert {n for d in caught.value.diagnostics for n in d.names} >= {"b", "c"} or "`b`" in str(caught.value)


def every_element():
    """A call of every method of the builder that adds a joint, a force or a constraint: keys are those of files."""
    b = fourbar.Mechanism("everything", gravity=[0, 0, -9.81])
    for k in range(16):
        b.body(f"b{k}", mass=1, inertia=[1, 1, 1], at=[k, 0, 0])
    g, on = fourbar.GROUND, fourbar.on
    b.revolute("j0", g, "b0", at=[0, 0, 0], axis=[0, 1, 0]).prismatic("j1", g, "b1", at=[1, 0, 0], axis=[1, 0, 0])
    b.cylindrical("j2", g, "b2", at=[2, 0, 0], axis=[1, 0, 0]).screw("j3", g, "b3", 0.01, at=[3, 0, 0], axis=[1, 0, 0])
    b.planar("j4", g, "b4", at=[4, 0, 0], axis=[0, 0, 1]).point_on_line("j5", g, "b5", at=[5, 0, 0], axis=[1, 0, 0])
    b.point_on_plane("j6", g, "b6", at=[6, 0, 0], axis=[0, 0, 1]).spherical("j7", g, "b7", at=[7, 0, 0])
    b.fixed("j8", g, "b8", at=[8, 0, 0]).universal("j9", g, "b9", at=[9, 0, 0], axes=[[1, 0, 0], [0, 1, 0]])
    b.distance_joint("j10", on(g, [10, 0, 1]), on("b10")).angle_joint("j11", g, "b11", [[1, 0, 0], [0, 1, 0]])
    b.curve("track", [[0, 0], [1, 0.1], [2, 0], [3, 0.2]]).point_on_curve("j12", g, "b12", "track", fourbar.drawn("b12", [1, 0.1, 0]))
    b.revolute("j13", g, "b13", at=[13, 0, 0], axis=[1, 0, 0]).gear("gear", "j0", "j13", 2).rack("rack", "j0", "j1", 0.1)
    b.rolling_disk("disk", on("b14"), [0, 1, 0], 0.5, at=[0, 0, -0.5]).knife_edge("knife", on("b15"), [0, 1, 0])
    b.spring("s", on(g), on("b2"), stiffness=10, length=1, damping=0.1).rope("r", on(g), on("b4"), length=3, stiffness=100)
    b.torsion("ts", "j0", stiffness=1).force("f", on("b5"), [1, "2*t", 0]).torque("q", "b7", [0, 0, 1], frame="body")
    b.actuator("act", "j13", "u").bushing("bu", on(g), on("b7"), stiffness=[1] * 6).friction("fr", "j0", viscous=0.1)
    b.output("twice", "2*j0.angle").own_state("z", "-z", start=1).point("p", on("b3", [0, 0, 1])).trace("p")
    b.table("lift", [[0, 0], [1, 1], [2, 0]]).function("ramp", "min(t, 1)")
    # Parameters and inputs may come in any order.
    b.input("u", unit="N*m")
    return b


def test_every_method_of_the_builder_makes_what_files_have():
    model = every_element().build()
    kinds = {kind for kind, _, _ in model.joint_kinds.values()}
    assert len(kinds) == 13, kinds
    assert model.forces == ("s", "r", "ts", "f", "q", "act", "bu", "fr")
    assert model.constraints == ("disk", "knife")
