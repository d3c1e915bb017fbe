"""A mechanism as an environment of Gymnasium; it needs ``pip install fourbar[gym]``.

Inputs of the mechanism are the actions, columns of its results the observations.

>>> import fourbar.gym
>>> env = fourbar.gym.MechanismEnv("pid_pendulum", dt=0.05, observations=["O.angle", "O.speed"], t_end=1.0)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
>>> observation.shape, info["t"]
((2,), 0.05)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ._errors import FourbarError
from ._model import Model, load

Array = NDArray[np.float64]
Rule = str | Callable[[Mapping[str, float]], float]


class MechanismEnv(gymnasium.Env[Array, Array]):
    """An environment from a mechanism.

    model: a `Model`, or an argument of `load`. dt: time between two actions, s. observations: patterns of columns, in this order; by
    default coordinates and speeds of all joints, states and outputs. actions: names of the inputs; by default all. limits: smallest and
    largest action for inputs without a range. reward, terminated: the name of a column (such as an output of the file), or a function of
    the columns by name; by default zero and never. t_end: time at which an episode is truncated, s. vary: parameters that every reset draws
    at random between two values. Other keywords are settings of `Model.simulation`.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        model: Model | str | os.PathLike[str],
        *,
        dt: float = 0.01,
        observations: str | Iterable[str] | None = None,
        actions: Iterable[str] | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        reward: Rule | None = None,
        terminated: Rule | None = None,
        t_end: float | None = None,
        vary: Mapping[str, tuple[float, float]] | None = None,
        render_mode: None = None,
        **settings: Any,
    ):
        self.model = model if isinstance(model, Model) else load(model)
        if not (np.isfinite(dt) and dt > 0):
            raise ValueError(f"dt must be positive, not {dt}")
        self.dt, self.t_end = float(dt), float(t_end if t_end is not None else self.model.t_end)
        self.actions = tuple(actions) if actions is not None else tuple(self.model.inputs)
        if not self.actions:
            raise ValueError("the mechanism has no inputs, so there is nothing to act with; files declare them under `inputs:`")
        ranges = self.model.input_ranges | dict(limits or {})
        unknown = [a for a in self.actions if a not in self.model.inputs]
        if unknown:
            raise ValueError(f"there is no input {unknown[0]!r}")
        low, high = (np.array([ranges[a][k] for a in self.actions], dtype=np.float64) for k in (0, 1))
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise ValueError("actions need ends: state a `range` of the inputs in the file, or give `limits`")
        columns = self.model.columns
        chosen = [observations] if isinstance(observations, str) else list(observations or self._usual())
        places: dict[int, None] = {}
        for pattern in chosen:
            found = self.model._core.choose([pattern])
            # Every choice of columns includes the time; here it is an observation only if requested.
            places |= dict.fromkeys(k for k in found if columns[k] != "t" or pattern == "t")
        self._places = np.array(list(places), dtype=np.intp)
        self.observations = tuple(columns[k] for k in self._places)
        self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (len(self._places),), np.float64)
        self._reward, self._terminated = self._rule(reward), self._rule(terminated)
        self._vary, self._settings = dict(vary or {}), settings
        for name, ends in self._vary.items():
            if name not in self.model.parameters:
                raise ValueError(f"there is no parameter {name!r} to vary")
            if len(ends) != 2 or not np.isfinite(ends).all() or ends[0] > ends[1]:
                raise ValueError(f"{name!r} varies between two numbers, the smaller one first, not {ends!r}")
        self.render_mode = render_mode
        self._simulation: Any = None
        self._start: Any = None

    def _usual(self) -> list[str]:
        ends = (".angle", ".distance", ".speed")
        joints = [c for c in self.model.columns if c.endswith(ends) and c.split(".")[0] in self.model.joints]
        return joints + list(self.model.states) + list(self.model.outputs)

    def _rule(self, rule: Rule | None) -> Callable[[Array], float] | None:
        if rule is None:
            return None
        if isinstance(rule, str):
            if rule not in self.model.columns:
                raise ValueError(f"there is no column {rule!r}")
            place = self.model.columns.index(rule)
            return lambda row: float(row[place])
        names = self.model.columns
        return lambda row: rule(dict(zip(names, row.tolist())))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begins an episode at the start of the mechanism; `options` may contain ``parameters`` to change."""
        super().reset(seed=seed)
        changed = {k: float(self.np_random.uniform(*ends)) for k, ends in self._vary.items()}
        changed |= (options or {}).get("parameters", {})
        if changed or self._start is None or self._simulation is None:
            model = self.model.replace(**changed) if changed else self.model
            self._simulation = model.simulation(**self._settings)
            self._start = None if changed else self._simulation.save()
        else:
            # Setting the state alone would not undo events.
            self._simulation.restore(self._start)
        row = self._simulation.row()
        return row[self._places], {"t": self._simulation.t, "parameters": changed}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Holds the actions for one time step. A failing run ends the episode; ``info["error"]`` gives the reason. So does an event with
        ``stop: true``, which ``info["ended_by"]`` names."""
        if self._simulation is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        given = np.asarray(action, dtype=np.float64)
        if given.shape != self.action_space.shape:
            raise ValueError(f"an action has shape {self.action_space.shape}, one number for each of {self.actions}, not {given.shape}")
        values = np.clip(given, self.action_space.low, self.action_space.high)  # type: ignore[attr-defined]
        info: dict[str, Any] = {}
        failed = False
        try:
            for name, value in zip(self.actions, values):
                self._simulation.inputs[name] = float(value)
            self._simulation.step(self.dt)
        except FourbarError as error:
            failed, info["error"] = True, error
        row = self._simulation.row()
        info["t"] = self._simulation.t
        if self._simulation.ended:
            info["ended_by"] = self._simulation.ended_by
        reward = self._reward(row) if self._reward else 0.0
        over = failed or self._simulation.ended or (self._terminated is not None and bool(self._terminated(row)))
        return row[self._places], float(reward), over, bool(self._simulation.t >= self.t_end - 1e-9), info

    def close(self) -> None:
        """Releases the simulation."""
        self._simulation, self._start = None, None


if "fourbar/Mechanism-v0" not in gymnasium.registry:
    gymnasium.register("fourbar/Mechanism-v0", entry_point="fourbar.gym:MechanismEnv")
