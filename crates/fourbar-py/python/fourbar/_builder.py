"""Mechanisms built in Python, section by section as in a file."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Iterable, Mapping, Sequence

from ._model import Model, loads

GROUND = "ground"
"""The world, as a body of joints and forces."""

Number = float | str
"""A number in SI units and radians, or an expression such as ``"2*L"`` or ``"40 mm"``."""
Vector = Sequence[Number] | Any
"""Numbers; arrays of numpy are taken too."""
Place = Mapping[str, Any] | Sequence[Number]
Limits = Mapping[str, Any]
"""Bounds of a joint, with the keys of `Mechanism.limits`."""


def on(body: str, at: Vector = (0, 0, 0)) -> dict[str, Any]:
    """A place on a body, in the body frame."""
    return {"body": body, "at": at}


def drawn(body: str, at: Vector) -> dict[str, Any]:
    """A place on a body, given by its drawn position in the world."""
    return {"body": body, "world": at}


def side(body: str | Sequence[str], **shape: Any) -> dict[str, Any]:
    """One side of a contact on a body, in the body frame.

    Its shape is a ball (`at`, `radius`), a rim (`at`, `axis`, `radius`), `corners`, a `box`, a convex `polygon` or a `curve`;
    ``inside=True`` makes a ball or box hollow. Several bodies have the same shape: ``"ball*"``, or a list of names.

    >>> import fourbar
    >>> fourbar.side("foot", radius="10 mm")
    {'body': 'foot', 'radius': '10 mm'}
    """
    return {"body" if isinstance(body, str) else "bodies": body, **shape}


def plane(body: str = GROUND, *, at: Vector = (0, 0, 0), normal: Vector = (0, 0, 1)) -> dict[str, Any]:
    """A plane of a body as a side of a contact; its normal points away from the body."""
    return {"plane": {"body": body, "at": at, "normal": normal}}


def _plain(value: Any, path: str) -> Any:
    """A value in the form stored in files."""
    if isinstance(value, (str, bool)) or value is None:
        return value
    if callable(getattr(value, "tolist", None)):
        # Numpy arrays and numbers.
        value = value.tolist()
    if isinstance(value, (int, float)):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{path} cannot be {value}")
        return value
    if isinstance(value, Mapping):
        return {str(k): _plain(v, f"{path}.{k}") for k, v in value.items()}
    if isinstance(value, Iterable):
        return [_plain(v, path) for v in value]
    raise TypeError(f"{path} cannot be {value!r}")


class Mechanism:
    """A mechanism under construction.

    Elements are added by methods named like the types in mechanism files, with the same keys; every method returns the mechanism, so that
    calls can be chained. Numbers are SI and radians; expressions are texts that may use parameters, ``t``, and in forces coordinates such
    as ``O.angle``. `build` reports all errors together.

    >>> import fourbar
    >>> model = (
    ...     fourbar.Mechanism("Pendulum", gravity=[0, 0, -9.81])
    ...     .parameter("length", 1.0)
    ...     .body("rod", mass=1.0, inertia=[1e-4, "length^2/12", "length^2/12"], at=["length/2", 0, 0])
    ...     .revolute("pin", fourbar.GROUND, "rod", at=[0, 0, 0], axis=[0, 1, 0])
    ...     .build()
    ... )
    >>> bool(abs(model.assemble().joint("pin").acceleration - 1.5 * 9.81) < 1e-9)
    True
    >>> bool(abs(model.replace(length=2.0).assemble().joint("pin").acceleration - 0.75 * 9.81) < 1e-9)
    True
    """

    def __init__(self, title: str = "", *, gravity: Vector | None = None):
        self._file: dict[str, Any] = {"fourbar": 1}
        if title:
            self._file["title"] = title
        if gravity is not None:
            self.gravity(gravity)

    def _add(self, section: str, name: str, keys: Mapping[str, Any]) -> Mechanism:
        elements = self._file.setdefault(section, {})
        if not isinstance(name, str) or not name:
            raise TypeError(f"names of {section} are texts, not {name!r}")
        if name in elements:
            raise ValueError(f"there is a `{name}` in {section} already")
        elements[name] = {k.rstrip("_"): _plain(v, f"{section}.{name}.{k}") for k, v in keys.items() if v is not None}
        return self

    # Whole mechanism.

    def title(self, text: str) -> Mechanism:
        """Free text."""
        self._file["title"] = text
        return self

    def gravity(self, g: Vector) -> Mechanism:
        """Acceleration of gravity in the world, m/s^2."""
        self._file["gravity"] = _plain(g, "gravity")
        return self

    def parameter(self, name: str, value: Number) -> Mechanism:
        """A named number for use in expressions, which `Model.replace` can change."""
        self._file.setdefault("parameters", {})[name] = _plain(value, f"parameters.{name}")
        return self

    def parameters(self, **values: Number) -> Mechanism:
        """Several parameters."""
        for name, value in values.items():
            self.parameter(name, value)
        return self

    def function(self, name: str, expression: Number) -> Mechanism:
        """A function of ``t``, parameters, inputs and tables, to be used by name."""
        self._file.setdefault("functions", {})[name] = _plain(expression, f"functions.{name}")
        return self

    def table(self, name: str, points: Any = None, **keys: Any) -> Mechanism:
        """A function given by points ``[[x, y], ...]``, called as ``name(x)`` in expressions."""
        return self._add("tables", name, {"points": points, **keys})

    def input(self, name: str, *, unit: str | None = None, default: Number | None = None, range: Vector | None = None) -> Mechanism:
        """A number that is set externally between steps."""
        return self._add("inputs", name, {"unit": unit, "default": default, "range": range})

    def own_state(self, name: str, rate: Number, *, start: Number | None = None, unit: str | None = None) -> Mechanism:
        """A state variable that is integrated with the motion."""
        return self._add("states", name, {"rate": rate, "start": start, "unit": unit})

    def output(self, name: str, value: Number, *, unit: str | None = None) -> Mechanism:
        """A user-defined result column."""
        return self._add("outputs", name, {"value": value, "unit": unit})

    def point(self, name: str, place: Place) -> Mechanism:
        """A point to report, to trace and to use in expressions: `on` or `drawn`."""
        return self._add("points", name, dict(place) if isinstance(place, Mapping) else {"at": place})

    def curve(self, name: str, points: Any, *, closed: bool | None = None, plane: str | None = None) -> Mechanism:
        """A planar curve, for use in `point_on_curve`."""
        return self._add("curves", name, {"points": points, "closed": closed, "plane": plane})

    def hold(self, *names: str) -> Mechanism:
        """Joints or bodies that assembly may not move."""
        self._file.setdefault("hold", []).extend(names)
        return self

    def start(self, coordinate: str, value: Number) -> Mechanism:
        """A coordinate that assembly must meet at the start, such as ``pin.angle`` or ``pin.speed``."""
        self._file.setdefault("start", {})[coordinate] = _plain(value, f"start.{coordinate}")
        return self

    def trace(self, *names: str) -> Mechanism:
        """Points or bodies to trace in pictures."""
        self._file.setdefault("view", {}).setdefault("trace", []).extend(names)
        return self

    def plot(self, *columns: str) -> Mechanism:
        """One of the first plots of pages: columns over time."""
        self._file.setdefault("view", {}).setdefault("plots", []).append(list(columns))
        return self

    def plot_over(self, y: str, x: str) -> Mechanism:
        """One of the first plots of pages: one column over another."""
        self._file.setdefault("view", {}).setdefault("plots", []).append({"x": x, "y": y})
        return self

    def follow(self, body: str) -> Mechanism:
        """The body that the camera of pages keeps in the middle."""
        self._file.setdefault("view", {})["follow"] = body
        return self

    def columns(self, *patterns: str) -> Mechanism:
        """Columns of results to keep, such as ``motor.effort``, ``tip`` or ``*.angle``; without any, all."""
        self._file.setdefault("results", {}).setdefault("columns", []).extend(patterns)
        return self

    def study(self, **keys: Any) -> Mechanism:
        """Settings of a run: ``analysis``, ``t_end``, ``output_step``, ``formulation``, ``integrator``, ``step``, ``tol``, ``options``."""
        self._file.setdefault("study", {}).update({k: _plain(v, f"study.{k}") for k, v in keys.items() if v is not None})
        return self

    def body(
        self,
        name: str,
        *,
        mass: Number | None = None,
        inertia: Any = None,
        solid: Any = None,
        at: Vector | None = None,
        orientation: Mapping[str, Any] | None = None,
        com: Vector | None = None,
        velocity: Vector | None = None,
        omega: Vector | None = None,
        shape: Any = None,
    ) -> Mechanism:
        """A rigid body: `mass` and `inertia` (three or six numbers about the centre of mass, in body axes), or a `solid`.

        at: origin of the body frame in the world. orientation: of the body frame, such as ``{"axis": [0, 0, 1], "angle": 0.5}``. com:
        centre of mass in the body frame. velocity, omega: at the start, in the world. shape: shapes to draw.
        """
        keys = {
            "mass": mass, "inertia": inertia, "solid": solid, "at": at, "orientation": orientation, "com": com, "velocity": velocity,
            "omega": omega, "shape": shape,
        }  # fmt: skip
        return self._add("bodies", name, keys)

    # Joints.

    def joint(self, name: str, type: str, **keys: Any) -> Mechanism:
        """A joint of any type with the keys of files; ``from`` is written ``from_``."""
        return self._add("joints", name, {"type": type, **keys})

    def _pair(self, name: str, type: str, base: str, moving: str, **keys: Any) -> Mechanism:
        return self.joint(name, type, bodies=[base, moving], **keys)

    def revolute(
        self, name: str, base: str, moving: str, *, at: Any = None, axis: Any = None, frames: Any = None, limits: Limits | None = None
    ) -> Mechanism:
        """A hinge between a base and a moving body."""
        return self._pair(name, "revolute", base, moving, at=at, axis=axis, frames=frames, limits=limits)

    def prismatic(
        self, name: str, base: str, moving: str, *, at: Any = None, axis: Any = None, frames: Any = None, limits: Limits | None = None
    ) -> Mechanism:
        """A slide without rotation."""
        return self._pair(name, "prismatic", base, moving, at=at, axis=axis, frames=frames, limits=limits)

    def cylindrical(
        self, name: str, base: str, moving: str, *, at: Any = None, axis: Any = None, frames: Any = None, limits: Limits | None = None
    ) -> Mechanism:
        """Slides along its axis and turns about it."""
        return self._pair(name, "cylindrical", base, moving, at=at, axis=axis, frames=frames, limits=limits)

    def screw(
        self,
        name: str,
        base: str,
        moving: str,
        lead: Number,
        *,
        at: Any = None,
        axis: Any = None,
        frames: Any = None,
        limits: Limits | None = None,
    ) -> Mechanism:
        """Slides along its axis by `lead` metres per turn."""
        return self._pair(name, "screw", base, moving, lead=lead, at=at, axis=axis, frames=frames, limits=limits)

    def planar(
        self, name: str, base: str, moving: str, *, at: Any = None, axis: Any = None, frames: Any = None, limits: Limits | None = None
    ) -> Mechanism:
        """Moves in a plane and turns about its normal, the axis."""
        return self._pair(name, "planar", base, moving, at=at, axis=axis, frames=frames, limits=limits)

    def point_on_line(
        self, name: str, base: str, moving: str, *, at: Any = None, axis: Any = None, frames: Any = None, limits: Limits | None = None
    ) -> Mechanism:
        """A point of the moving body stays on a line of the base."""
        return self._pair(name, "point-on-line", base, moving, at=at, axis=axis, frames=frames, limits=limits)

    def point_on_plane(
        self, name: str, base: str, moving: str, *, at: Any = None, axis: Any = None, frames: Any = None, limits: Limits | None = None
    ) -> Mechanism:
        """A point of the moving body stays in a plane of the base; the axis is its normal."""
        return self._pair(name, "point-on-plane", base, moving, at=at, axis=axis, frames=frames, limits=limits)

    def point_on_curve(
        self, name: str, base: str, moving: str, curve: str, at: Any, *, radius: Number | None = None, side: str | None = None
    ) -> Mechanism:
        """A point of the moving body stays on a curve of the base; `radius` is that of a follower."""
        return self._pair(name, "point-on-curve", base, moving, curve=curve, at=at, radius=radius, side=side)

    def spherical(self, name: str, base: str, moving: str, *, at: Any = None, frames: Any = None) -> Mechanism:
        """A ball joint."""
        return self._pair(name, "spherical", base, moving, at=at, frames=frames)

    def fixed(self, name: str, base: str, moving: str, *, at: Any = None, frames: Any = None) -> Mechanism:
        """A weld."""
        return self._pair(name, "fixed", base, moving, at=at, frames=frames)

    def universal(self, name: str, base: str, moving: str, *, at: Any = None, axes: Any = None, frames: Any = None) -> Mechanism:
        """A cross joint: one axis fixed in the base, one in the moving body."""
        return self._pair(name, "universal", base, moving, at=at, axes=axes, frames=frames)

    def distance_joint(
        self, name: str, from_: Place, to: Place, *, length: Number | None = None, limits: Limits | None = None
    ) -> Mechanism:
        """Keeps the distance of two places; default: as drawn. With `limits` the distance is free between them."""
        return self.joint(name, "distance", from_=from_, to=to, length=length, limits=limits)

    def angle_joint(self, name: str, base: str, moving: str, axes: Any, *, angle: Number | None = None) -> Mechanism:
        """Keeps the angle of two directions; default: as drawn."""
        return self._pair(name, "angle", base, moving, axes=axes, angle=angle)

    def gear(self, name: str, first: str, second: str, ratio: Number, *, carrier: str | None = None) -> Mechanism:
        """Couples the coordinates of two joints: that of the second is `ratio` times that of the first."""
        return self.joint(name, "gear", joints=[first, second], ratio=ratio, carrier=carrier)

    def belt(
        self, name: str, first: str, second: str, radii: Vector, *, crossed: bool | None = None, carrier: str | None = None
    ) -> Mechanism:
        """Couples the angles of two wheels by a belt or a chain over their `radii`; a `crossed` one turns them in opposite directions."""
        return self.joint(name, "belt", joints=[first, second], radii=radii, crossed=crossed, carrier=carrier)

    def rack(self, name: str, revolute: str, prismatic: str, radius: Number) -> Mechanism:
        """Couples a rotation and a slide by a pitch radius."""
        return self.joint(name, "rack", joints=[revolute, prismatic], radius=radius)

    def limits(
        self,
        joint: str,
        *,
        min: Number | None = None,
        max: Number | None = None,
        speed_min: Number | None = None,
        speed_max: Number | None = None,
        of: str | None = None,
        restitution: Number | None = None,
        stiffness: Number | None = None,
        damping: Number | None = None,
        exponent: Number | None = None,
        speed: Number | None = None,
    ) -> Mechanism:
        """Bounds that a joint, added before, may reach but not exceed; they can also be given to the joint as a dictionary ``limits``.

        They are rigid, or with a `stiffness` springs beyond the bounds. ``speed_min=0`` makes a one-way joint. of: ``"angle"`` or
        ``"distance"`` if the joint has both.

        >>> import fourbar
        >>> model = (
        ...     fourbar.Mechanism("Bouncing ball", gravity=[0, 0, -9.81])
        ...     .body("ball", mass=1, inertia=[1, 1, 1], at=[0, 0, 1])
        ...     .prismatic("fall", fourbar.GROUND, "ball", at=[0, 0, 1], axis=[0, 0, 1])
        ...     .limits("fall", min=-1, restitution=0.8)
        ...     .build()
        ... )
        >>> sim = model.simulation()
        >>> _ = sim.advance(0.5)
        >>> [(e["kind"], round(e["t"], 6)) for e in sim.events], round((2 / 9.81) ** 0.5, 6)
        ([('impact', 0.451524)], 0.451524)
        """
        element = self._file.get("joints", {}).get(joint)
        if element is None:
            raise ValueError(f"there is no joint `{joint}` yet; add it before its limits")
        if "limits" in element:
            raise ValueError(f"joint `{joint}` has limits already")
        keys = {
            "min": min, "max": max, "speed_min": speed_min, "speed_max": speed_max, "of": of, "restitution": restitution,
            "stiffness": stiffness, "damping": damping, "exponent": exponent, "speed": speed,
        }  # fmt: skip
        element["limits"] = {k: _plain(v, f"joints.{joint}.limits.{k}") for k, v in keys.items() if v is not None}
        return self

    # Constraints.

    def constraint(self, name: str, type: str, **keys: Any) -> Mechanism:
        """A bare constraint or rolling element of any type with the keys of files; ``from`` is written ``from_``."""
        return self._add("constraints", name, {"type": type, **keys})

    def dp1(
        self, name: str, axes: Sequence[Place], value: Number, *, other_axis: Any = None, other_value: Number | None = None
    ) -> Mechanism:
        """The dot product of two directions is a function of ``t``."""
        return self.constraint(name, "dp1", axes=axes, value=value, other_axis=other_axis, other_value=other_value)

    def dp2(self, name: str, axis: Any, from_: Place, to: Place, value: Number) -> Mechanism:
        """A direction on the body of the first place, dotted with the vector between two places, is a function of ``t``."""
        return self.constraint(name, "dp2", axis=axis, from_=from_, to=to, value=value)

    def d(self, name: str, from_: Place, to: Place, value: Number) -> Mechanism:
        """The squared distance of two places is a function of ``t``."""
        return self.constraint(name, "d", from_=from_, to=to, value=value)

    def cd(self, name: str, axis: Vector, from_: Place, to: Place, value: Number) -> Mechanism:
        """A direction in the world, dotted with the vector between two places, is a function of ``t``."""
        return self.constraint(name, "cd", axis=axis, from_=from_, to=to, value=value)

    def knife_edge(self, name: str, on: Place, across: Any) -> Mechanism:
        """A point that does not move in a given direction of its body."""
        return self.constraint(name, "knife-edge", on=on, across=across)

    def rolling_sphere(self, name: str, on: Place, radius: Number, *, at: Any = None, normal: Any = None) -> Mechanism:
        """A sphere that rolls on a plane."""
        return self.constraint(name, "rolling-sphere", on=on, radius=radius, at=at, normal=normal)

    def rolling_disk(self, name: str, on: Place, axis: Any, radius: Number, *, at: Any = None, normal: Any = None) -> Mechanism:
        """A thin disk that rolls on a plane."""
        return self.constraint(name, "rolling-disk", on=on, axis=axis, radius=radius, at=at, normal=normal)

    def wheel(self, name: str, on: Place, axis: Any, radius: Number, *, at: Any = None, normal: Any = None) -> Mechanism:
        """A wheel that rolls without slipping."""
        return self.constraint(name, "wheel", on=on, axis=axis, radius=radius, at=at, normal=normal)

    # Drives and forces.

    def drive(
        self,
        name: str,
        joint: str,
        *,
        angle: Number | None = None,
        distance: Number | None = None,
        speed: Number | None = None,
        acceleration: Number | None = None,
    ) -> Mechanism:
        """Prescribes a coordinate of a joint, its speed or its acceleration as an expression of ``t``."""
        return self._add(
            "drives", name, {"joint": joint, "angle": angle, "distance": distance, "speed": speed, "acceleration": acceleration}
        )

    def force_element(self, name: str, type: str, **keys: Any) -> Mechanism:
        """A force element of any type with the keys of files."""
        return self._add("forces", name, {"type": type, **keys})

    def spring(
        self,
        name: str,
        from_: Place,
        to: Place,
        *,
        stiffness: Number | None = None,
        length: Number | None = None,
        damping: Number | None = None,
        mass: Number | None = None,
        tension: Number | None = None,
    ) -> Mechanism:
        """Spring and damper along the line between two places, or a `tension` as an expression of ``length`` and ``rate``."""
        return self.force_element(
            name, "spring", between=[from_, to], stiffness=stiffness, length=length, damping=damping, mass=mass, tension=tension
        )

    def rope(
        self,
        name: str,
        from_: Place,
        to: Place,
        *,
        length: Number,
        stiffness: Number,
        damping: Number | None = None,
        via: Sequence[Place] | None = None,
    ) -> Mechanism:
        """A rope: it pulls if longer than its length, and never pushes. via: small pulleys or eyes that it passes over, in order."""
        return self.force_element(name, "rope", between=[from_, to], via=via, length=length, stiffness=stiffness, damping=damping)

    def torsion(
        self,
        name: str,
        joint: str,
        *,
        stiffness: Number | None = None,
        angle: Number | None = None,
        damping: Number | None = None,
        torque: Number | None = None,
    ) -> Mechanism:
        """Spring and damper for the angle of a joint, or the resisting `torque` as an expression of ``angle`` and ``rate``."""
        return self.force_element(name, "torsion", joint=joint, stiffness=stiffness, angle=angle, damping=damping, torque=torque)

    def force(self, name: str, on: Place, components: Vector, *, frame: str | None = None) -> Mechanism:
        """A force at a place, N; with ``frame="body"`` the components are in body axes."""
        return self.force_element(name, "force", on=on, force=components, frame=frame)

    def torque(self, name: str, body: str, components: Vector, *, frame: str | None = None) -> Mechanism:
        """A torque on a body, N m."""
        return self.force_element(name, "torque", body=body, torque=components, frame=frame)

    def actuator(self, name: str, joint: str, effort: Number) -> Mechanism:
        """Force or torque along a joint coordinate, on the moving body with its reaction on the base."""
        return self.force_element(name, "actuator", joint=joint, effort=effort)

    def bushing(self, name: str, from_: Place, to: Place, *, stiffness: Vector, damping: Vector | None = None, frame: Any = None) -> Mechanism:
        """Elastic connection in six directions; its axes are at the first place."""
        return self.force_element(name, "bushing", between=[from_, to], stiffness=stiffness, damping=damping, frame=frame)

    def friction(
        self,
        name: str,
        joint: str,
        *,
        coulomb: Number | None = None,
        viscous: Number | None = None,
        radius: Number | None = None,
        speed: Number | None = None,
        stick: bool | None = None,
        static: Number | None = None,
        preload: Number | None = None,
        stribeck: Number | None = None,
    ) -> Mechanism:
        """Friction of a joint. With `stick` the joint is held while its effort is small, up to the `static` coefficient."""
        return self.force_element(
            name, "friction", joint=joint, coulomb=coulomb, viscous=viscous, radius=radius, speed=speed, stick=stick, static=static,
            preload=preload, stribeck=stribeck,
        )  # fmt: skip

    def springy_stop(
        self,
        name: str,
        joint: str,
        *,
        stiffness: Number,
        min: Number | None = None,
        max: Number | None = None,
        damping: Number | None = None,
        exponent: Number | None = None,
    ) -> Mechanism:
        """A spring that pushes a joint back beyond `min` or `max`; `type: stop` in files."""
        return self.force_element(name, "stop", joint=joint, min=min, max=max, stiffness=stiffness, damping=damping, exponent=exponent)

    # Contacts and events.

    def contact(
        self,
        name: str,
        first: Mapping[str, Any] | None = None,
        second: Mapping[str, Any] | None = None,
        *,
        among: Sequence[str] | None = None,
        at: Vector | None = None,
        radius: Number | None = None,
        restitution: Number | None = None,
        friction: Number | Mapping[str, Any] | None = None,
        stiffness: Number | None = None,
        exponent: Number | None = None,
        law: str | None = None,
        speed: Number | None = None,
    ) -> Mechanism:
        """Bodies that may touch: two sides (`side`, `plane`), or balls of a `radius` about `at` `among` each other.

        It is rigid, or compliant with a `stiffness`. friction: a coefficient, or ``{"coulomb": ..., "static": ..., "speed": ...}``.

        >>> import fourbar
        >>> model = (
        ...     fourbar.Mechanism("Ball that slides, then rolls", gravity=[0, 0, -9.81])
        ...     .body("ball", mass=1, inertia=[0.004, 0.004, 0.004], at=[0, 0, 0.1], velocity=[1, 0, 0])
        ...     .contact("floor", fourbar.side("ball", radius=0.1), fourbar.plane(), friction=0.2)
        ...     .build()
        ... )
        >>> bool(abs(model.run(1)["ball.v.x"][-1] - 5 / 7) < 1e-6)
        True
        """
        if (first is None) != (second is None) or (first is None) == (among is None):
            raise TypeError(f"contact `{name}` has two sides, or balls `among` each other")
        keys = {
            "between": None if among is not None else [first, second], "among": [among] if isinstance(among, str) else among, "at": at,
            "radius": radius, "restitution": restitution, "friction": friction, "stiffness": stiffness, "exponent": exponent, "law": law,
            "speed": speed,
        }  # fmt: skip
        return self._add("contacts", name, keys)

    def event(
        self,
        name: str,
        when: Number,
        do: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        direction: str | None = None,
        once: bool | None = None,
        rearm: Number | None = None,
        after: str | None = None,
    ) -> Mechanism:
        """Actions executed where an expression of time and state reaches zero.

        do: one action or several: ``{"remove": NAME}``, ``{"disable": NAME}``, ``{"enable": NAME}``, ``{"lock": JOINT}``,
        ``{"release": JOINT}``, ``{"set": {NAME: value}}``, ``{"stop": True}``. direction: ``"rising"``, ``"falling"`` or ``"any"``. once:
        whether it happens only once. rearm: distance by which the expression must return before it can happen again. after: an event that
        must have happened before.

        >>> import fourbar
        >>> model = (
        ...     fourbar.Mechanism("Stone", gravity=[0, 0, -9.81])
        ...     .body("stone", mass=1, inertia=[1, 1, 1], at=[0, 0, 1])
        ...     .event("landed", "stone.z", {"stop": True}, direction="falling")
        ...     .build()
        ... )
        >>> bool(abs(model.run(1).t[-1] - (2 / 9.81) ** 0.5) < 1e-9)
        True
        """
        actions = [do] if isinstance(do, Mapping) else do
        return self._add(
            "events", name, {"when": when, "direction": direction, "once": once, "rearm": rearm, "after": after, "do": actions}
        )

    # Paths and motors of `Model.inverse`.

    def path(
        self,
        name: str,
        point: str,
        *,
        x: Number | None = None,
        y: Number | None = None,
        z: Number | None = None,
        through: Any = None,
        closed: bool | None = None,
        profile: str | None = None,
        start: Number | None = None,
        duration: Number | None = None,
        keep: Sequence[str] | None = None,
    ) -> Mechanism:
        """A prescribed path of a point, for `Model.inverse`: coordinates as expressions of ``t``, or points to pass `through`.

        closed: whether the curve returns to its first point. profile: ``"minimum-jerk"``, ``"trapezoid"`` or ``"cycloid"``, from `start` on
        for a `duration`. keep: joints that keep their position.
        """
        keys = {
            "point": point, "x": x, "y": y, "z": z, "through": through, "closed": closed, "profile": profile, "start": start,
            "duration": duration, "keep": [keep] if isinstance(keep, str) else keep,
        }  # fmt: skip
        return self._add("paths", name, keys)

    def motor(
        self,
        name: str,
        joint: str,
        *,
        rated: Number | None = None,
        limit: Number | None = None,
        inertia: Number | None = None,
        ratio: Number | None = None,
        efficiency: Number | None = None,
        weight: Number | None = None,
    ) -> Mechanism:
        """A motor on a joint, for `Model.inverse` and `fourbar.report`.

        rated, limit: continuous and largest effort. inertia: of its rotor. ratio: turns of the rotor per turn of the joint. efficiency: of
        the gear. weight: of its effort if motors share a load.

        >>> import fourbar
        >>> model = (
        ...     fourbar.Mechanism("Lift", gravity=[0, 0, -10])
        ...     .body("car", mass=100, inertia=[1, 1, 1])
        ...     .prismatic("guide", fourbar.GROUND, "car", at=[0, 0, 0], axis=[0, 0, 1])
        ...     .point("hook", fourbar.on("car"))
        ...     .path("up", "hook", z="t^2")
        ...     .motor("winch", "guide", rated="2 kN")
        ...     .build()
        ... )
        >>> bool(abs(model.inverse().effort("winch") - 1200).max() < 1e-6)
        True
        """
        keys = {
            "joint": joint, "rated": rated, "limit": limit, "inertia": inertia, "ratio": ratio, "efficiency": efficiency, "weight": weight,
        }  # fmt: skip
        return self._add("motors", name, keys)

    # Conversion.

    def to_dict(self) -> dict[str, Any]:
        """The mechanism file as a dictionary; `fourbar.loads(json.dumps(...))` reads it."""
        return json.loads(json.dumps(self._file))

    def build(self) -> Model:
        """Checks and builds the mechanism; all errors are reported together."""
        return loads(json.dumps(self._file, indent=1), name="<mechanism>")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a mechanism file in JSON, with parameters and expressions."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self._file, file, indent=2)

    def __repr__(self) -> str:
        sections = ("bodies", "joints", "drives", "forces", "contacts", "events")
        counts = ", ".join(f"{len(self._file[s])} {s}" for s in sections if s in self._file)
        return f"<fourbar.Mechanism {self._file.get('title', '')!r}: {counts or 'empty'}>"
