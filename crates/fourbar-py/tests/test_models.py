"""Reading, changing and rejecting mechanisms."""

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
    # The original is unchanged, and later values take precedence.
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
    # All errors are reported together.
    with pytest.raises(fourbar.FourbarError) as caught:
        fourbar.loads("fourbar: 1\nbodies:\n  a: {mas: 1}\njoints:\n  j: {type: revolut}\n")
    assert len(caught.value.diagnostics) >= 2
    # Misspelt names.
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
    assert fourbar.load("event_catapult").events == ("latched", "fired", "thrown", "landed")
    assert model.contacts == () and model.events == ()
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
    """Calls every method of the builder that adds a joint, a force or a constraint, with the keys of files."""
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
    b.limits("j0", min="-90 deg", max=1.5, restitution=0.2).belt("belt", "j0", "j13", ["40 mm", 0.06], crossed=True)
    b.springy_stop("stop", "j1", min=-1, max=1, stiffness=1e4, exponent=2)
    b.rope("over", on(g), on("b10"), length=20, stiffness=10, via=[on(g, [5, 0, 3]), on("b8", [0, 0, 3])])
    b.contact("floor", fourbar.side("b14", at=[0, 0, 0], radius=0.1), fourbar.plane(at=[0, 0, -3], normal=[0, 0, 1]), restitution=0.5)
    b.contact("heap", among=["b5", "b6"], radius=0.1, friction={"coulomb": 0.3, "speed": 0.01}, stiffness=1e5)
    b.event("late", "t - 1", [{"disable": "s"}, {"set": {"u": 0}}], direction="rising", once=True)
    b.event("end", "b5.z + 10", {"stop": True}, after="late")
    b.path("line", "p", through=[[3, 0, 1], [3.1, 0, 1], [3.2, 0, 1]], duration=1, keep=["j0"]).motor("m", "j3", rated=10, ratio=5)
    b.plot("j0.angle", "j1.distance").plot_over("p.z", "p.x").follow("b0").columns("*.angle", "p")
    # Parameters and inputs may come in any order.
    b.input("u", unit="N*m")
    return b


# The elements of `every_element` from methods for contacts, events, limits, paths, motors and views, in file notation.
STATED = """
joints:
  j0: {type: revolute, bodies: [ground, b0], at: [0, 0, 0], axis: [0, 1, 0], limits: {min: -90 deg, max: 1.5, restitution: 0.2}}
  belt: {type: belt, joints: [j0, j13], radii: [40 mm, 0.06], crossed: true}
forces:
  stop: {type: stop, joint: j1, min: -1, max: 1, stiffness: 1e4, exponent: 2}
  over:
    type: rope
    between: [{body: ground, at: [0, 0, 0]}, {body: b10, at: [0, 0, 0]}]
    via: [{body: ground, at: [5, 0, 3]}, {body: b8, at: [0, 0, 3]}]
    length: 20
    stiffness: 10
contacts:
  floor: {between: [{body: b14, radius: 0.1}, {plane: {at: [0, 0, -3]}}], restitution: 0.5}
  heap: {among: [b5, b6], radius: 0.1, friction: {coulomb: 0.3, speed: 0.01}, stiffness: 1e5}
events:
  late: {when: t - 1, do: [{disable: s}, {set: {u: 0}}], direction: rising, once: true}
  end: {when: b5.z + 10, do: [{stop: true}], after: late}
paths: {line: {point: p, through: [[3, 0, 1], [3.1, 0, 1], [3.2, 0, 1]], duration: 1, keep: [j0]}}
motors: {m: {joint: j3, rated: 10, ratio: 5}}
view: {trace: [p], plots: [[j0.angle, j1.distance], {x: p.x, y: p.z}], follow: b0}
results: {columns: ['*.angle', p]}
"""


def test_every_method_of_the_builder_makes_what_files_have():
    model = every_element().build()
    kinds = {kind for kind, _, _ in model.joint_kinds.values()}
    assert len(kinds) == 13, kinds
    assert model.forces[:10] == ("s", "r", "ts", "f", "q", "act", "bu", "fr", "stop", "over")
    assert model.constraints == ("disk", "knife")
    assert model.contacts == ("floor", "heap") and model.events == ("late", "end")


def test_a_built_mechanism_is_the_one_that_a_file_states(tmp_path):
    yaml = pytest.importorskip("yaml")
    built = every_element()
    file = built.to_dict()
    # The same file with these elements written by hand.
    for section, elements in yaml.safe_load(STATED).items():
        file[section] = {**file.get(section, {}), **elements}
    built.build().save(tmp_path / "built.yaml")
    fourbar.loads(yaml.safe_dump(file, sort_keys=False)).save(tmp_path / "stated.yaml")
    assert (tmp_path / "built.yaml").read_text() == (tmp_path / "stated.yaml").read_text()


def test_limits_are_given_to_joints_or_after_them():
    def ball():
        return fourbar.Mechanism(gravity=[0, 0, -10]).body("ball", mass=1, inertia=[1, 1, 1], at=[0, 0, 1])

    axis = {"at": [0, 0, 1], "axis": [0, 0, 1]}
    after = ball().prismatic("fall", fourbar.GROUND, "ball", **axis).limits("fall", min=-1, restitution=0.5)
    inside = ball().prismatic("fall", fourbar.GROUND, "ball", **axis, limits={"min": -1, "restitution": 0.5})
    assert after.to_dict() == inside.to_dict()
    # It falls by one metre and rises to a quarter of it.
    r = after.build().run(0.8, output_step=0.01)
    height = r["ball.r.z"]
    assert height.min() > -1e-9 and height[r.t > 0.5].max() == pytest.approx(0.25, abs=1e-3)
    with pytest.raises(ValueError, match="already"):
        inside.limits("fall", max=1)
    with pytest.raises(ValueError, match="no joint `rise` yet"):
        inside.limits("rise", max=1)
    # A rope is a distance with a largest value.
    rope = ball().distance_joint("rope", fourbar.on(fourbar.GROUND, [0, 0, 2]), fourbar.on("ball"), limits={"max": 1.5})
    assert rope.build().run(1)["ball.r.z"].min() == pytest.approx(0.5, abs=1e-6)


def test_contacts_and_events_of_the_builder_act():
    m = fourbar.Mechanism("Dropped ball", gravity=[0, 0, -10]).body("ball", mass=1, inertia=[1, 1, 1], at=[0, 0, 1])
    m.contact("floor", fourbar.side("ball", radius=0.5), fourbar.plane(), restitution=0.5)
    m.event("top", "ball.vz", {"stop": True}, direction="falling")
    model = m.build()
    assert model.contacts == ("floor",) and model.events == ("top",)
    sim = model.simulation()
    sim.advance(2)
    # It falls by half a metre and rises to an eighth.
    assert sim.ended_by == "top" and sim.t == pytest.approx(1.5 * (2 * 0.5 / 10) ** 0.5, abs=1e-8)
    assert sim.body("ball").position[2] == pytest.approx(0.625, abs=1e-8)
    assert "1 contacts, 1 events" in repr(m)


def test_a_contact_needs_two_sides_or_balls_among_each_other():
    m = fourbar.Mechanism().body("ball", mass=1, inertia=[1, 1, 1])
    ball = fourbar.side("ball", radius=0.1)
    for wrong in ({}, {"first": ball}, {"first": ball, "second": fourbar.plane(), "among": ["ball"]}):
        with pytest.raises(TypeError, match="two sides"):
            m.contact("floor", **wrong)
    assert fourbar.side(["a", "b"], box=[1, 1, 1]) == {"bodies": ["a", "b"], "box": [1, 1, 1]}


def test_a_belt_and_a_rope_over_pulleys_move_as_in_closed_form():
    m = fourbar.Mechanism("Belt").body("small", mass=1, inertia=[1, 1, 1]).body("large", mass=1, inertia=[1, 1, 1], at=[1, 0, 0])
    m.revolute("a", fourbar.GROUND, "small", at=[0, 0, 0], axis=[0, 1, 0]).revolute("b", fourbar.GROUND, "large", at=[1, 0, 0], axis=[0, 1, 0])
    m.belt("belt", "a", "b", [0.04, 0.06]).drive("turn", "a", angle="3*t")
    r = m.build().run(1)
    np.testing.assert_allclose(r["b.angle"], 2 * r.t, atol=1e-10)
    # A weight on a rope over two pulleys hangs lower by its weight over the stiffness.
    m = fourbar.Mechanism("Rope", gravity=[0, 0, -10]).body("weight", mass=1, inertia=[1, 1, 1], at=[1, 0, -1])
    m.prismatic("guide", fourbar.GROUND, "weight", at=[1, 0, -1], axis=[0, 0, 1])
    on = fourbar.on
    m.rope("rope", on(fourbar.GROUND, [0, 0, -1]), on("weight"), via=[on(fourbar.GROUND), on(fourbar.GROUND, [1, 0, 0])], length=3, stiffness=100)
    rest = m.build().equilibrium()
    assert rest.state.joint("guide").distance == pytest.approx(-0.1, abs=1e-8)
