"""Settings of runs, common to all functions that run a mechanism."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, TypedDict

Progress = bool | Callable[[float, float], object] | None


class Settings(TypedDict, total=False):
    """Settings of a run, as described in `Model.run`; the defaults are those of the file."""

    output_step: float | None
    formulation: str | None
    integrator: str | None
    step: float | None
    tol: float | None
    analysis: str | None
    options: Mapping[str, object] | None
    inputs: Mapping[str, object] | None
    mode: int | None


NAMES = tuple(Settings.__annotations__)


class Run(Settings, total=False):
    """Settings of a run, its kept columns and its progress function."""

    columns: str | Iterable[str] | None
    progress: Progress


def of(call: str, settings: Mapping[str, Any], without: Iterable[str] = ()) -> dict[str, Any]:
    """Settings in the form of the engine; unknown names raise the usual Python error."""
    for name in settings:
        if name not in NAMES or name in without:
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}")
    copied = {k: dict(v) if k in ("options", "inputs") and v is not None else v for k, v in settings.items()}
    return copied


def flags(call: str, t_end: float | None, settings: Mapping[str, Any]) -> list[str]:
    """The same as words of a command line, for studies of many runs."""
    given = of(call, settings)
    words = [] if t_end is None else [f"--t-end={number('t_end', t_end)}"]
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if name == "options":
            words += [f"--option={k}={v}" for k, v in value.items()]
        elif name == "inputs":
            words += [f"--input={k}={quantity(f'inputs[{k!r}]', v)}" for k, v in value.items()]
        elif name in ("output_step", "step", "tol"):
            words.append(f"{flag}={number(name, value)}")
        else:
            words.append(f"{flag}={value}")
    return words


def number(name: str, value: object) -> str:
    """A finite number as text."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is a number, not {value!r}")
    x = float(value)
    if x != x or x in (float("inf"), float("-inf")):
        raise ValueError(f"{name} cannot be {x}")
    return repr(x)


def quantity(name: str, value: object) -> str:
    """A number, or a text with a unit."""
    return value if isinstance(value, str) else number(name, value)


def pairs(flag: str, given: Mapping[str, object] | None, write: Callable[[str, Any], str] = quantity) -> list[str]:
    """Words of a command line for a mapping."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise TypeError(f"{flag.strip('-')} is a mapping by name, not {given!r}")
    return [f"{flag}={name}={write(name, value)}" for name, value in given.items()]


def texts(flag: str, given: str | Iterable[str] | None) -> list[str]:
    """Words of a command line for one or more texts."""
    if given is None:
        return []
    return [f"{flag}={text}" for text in ([given] if isinstance(given, str) else given)]


def whole(flag: str, value: int | None) -> list[str]:
    """Words of a command line for a count."""
    if value is None:
        return []
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{flag.strip('-').replace('-', '_')} is a whole number, not {value!r}")
    return [f"{flag}={value.__index__()}"]
