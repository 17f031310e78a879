"""Discrete Fourier transforms of many short signals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.problem import Array, Arrays, KernelProblem, SizeAxis, Sizes, normal


def draw(rng: Generator, n: Sizes) -> Arrays:
    return {"x": normal(rng, n["batch"], n["n"], 2)}


def oracle(given: Mapping[str, NDArray[Any]], n: Sizes) -> Arrays:
    x = given["x"].astype(np.float64)
    y = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=1)
    return {"y": np.stack([y.real, y.imag], axis=2)}


PROBLEM = KernelProblem(
    title="Fourier transforms",
    text="For each of the batch: y[k] = sum over j of x[j] * exp(-2 pi i j k / n); real and "
    "imaginary parts alternate. n is a power of two.",
    arrays=(
        Array("x", "float32", ("batch", "n", "2"), free=True, scaled=True),
        Array("y", "float32", ("batch", "n", "2"), out=True),
    ),
    axes=(SizeAxis("batch", 96, 6), SizeAxis("n", 1024, 128, fixed=True)),
    draw=draw,
    oracle=oracle,
    traffic=lambda n: 16.0 * n["batch"] * n["n"],
)
