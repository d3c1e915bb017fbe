"""Common parts of the tests."""

import os

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")

import fourbar


@pytest.fixture(scope="session")
def fourbar_model():
    return fourbar.load("fourbar")


@pytest.fixture(scope="session")
def pendulum():
    """A rod of 1 m and 2 kg on a pin, with a torque on it, horizontal at the start."""
    return (
        fourbar.Mechanism("Pendulum", gravity=[0, 0, -9.81])
        .parameters(m=2.0, L=1.0)
        .body("rod", mass="m", inertia=[1e-4, "m*L^2/12", "m*L^2/12"], at=["L/2", 0, 0])
        .revolute("pin", fourbar.GROUND, "rod", at=[0, 0, 0], axis=[0, 1, 0])
        .input("torque", unit="N*m", default=0, range=[-100, 100])
        .actuator("motor", "pin", "torque")
        .point("tip", fourbar.on("rod", ["L/2", 0, 0]))
        .study(t_end=1, output_step=0.01)
        .build()
    )
