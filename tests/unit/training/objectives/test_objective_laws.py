"""Fits recover what was planted, and say where they end."""

from __future__ import annotations

import math

import pytest
import torch

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.objectives import fit_overoptimisation, fit_sigmoid
from unhack.training.objectives.laws import Overoptimisation, Sigmoid

KL = torch.linspace(0.0, 30.0, 40, dtype=torch.float64)
NOISE = torch.randn(40, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


class TestOveroptimisation:
    @pytest.mark.parametrize("form", ["best_of_n", "reinforcement"])
    @pytest.mark.parametrize("base", [None, 0.12])
    def test_planted_coefficients_come_back(self, form: str, base: float | None) -> None:
        law = Overoptimisation(form, 0.4, 0.15, 0.12, 0.0)  # type: ignore[arg-type]
        gold = torch.tensor([law.gold(kl) for kl in KL.tolist()], dtype=torch.float64)
        found = fit_overoptimisation(KL, gold, form=form, base=base)
        assert found.alpha == pytest.approx(0.4, abs=1e-9)
        assert found.beta == pytest.approx(0.15, abs=1e-9)
        assert found.base == pytest.approx(0.12, abs=1e-9)
        assert found.residual < 1e-9

    @pytest.mark.parametrize("form", ["best_of_n", "reinforcement"])
    def test_the_peak_is_the_largest_value(self, form: str) -> None:
        law = Overoptimisation(form, 0.4, 0.15, 0.0, 0.0)  # type: ignore[arg-type]
        grid = torch.linspace(0.01, 40.0, 4001, dtype=torch.float64).tolist()
        best = max(grid, key=law.gold)
        assert law.peak_kl == pytest.approx(best, abs=0.02)

    def test_noise_shows_in_the_residual_and_tells_the_forms_apart(self) -> None:
        law = Overoptimisation("reinforcement", 0.5, 0.3, 0.1, 0.0)
        gold = torch.tensor([law.gold(kl) for kl in KL.tolist()], dtype=torch.float64)
        right = fit_overoptimisation(KL, gold + 0.01 * NOISE, form="reinforcement")
        wrong = fit_overoptimisation(KL, gold + 0.01 * NOISE, form="best_of_n")
        assert right.alpha == pytest.approx(0.5, abs=0.05)
        assert right.residual == pytest.approx(0.01, rel=0.4)
        assert right.residual < wrong.residual

    def test_a_reward_that_only_rises_has_no_peak(self) -> None:
        found = fit_overoptimisation(KL, KL.sqrt() + 0.01 * KL, form="best_of_n")
        assert found.beta < 0
        assert found.peak_kl == math.inf

    def test_what_cannot_be_fitted_is_refused(self) -> None:
        with pytest.raises(UsageError, match="at least 3"):
            fit_overoptimisation(KL[:2], KL[:2], form="best_of_n")
        with pytest.raises(UsageError, match="at least 0"):
            fit_overoptimisation(KL - 1, KL, form="best_of_n")
        with pytest.raises(UnknownNameError, match="best_of_n"):
            fit_overoptimisation(KL, KL, form="best_of")


class TestSigmoid:
    COMPUTE = torch.logspace(2, 4, 25, dtype=torch.float64)

    def curve(self, asymptote: float, middle: float, exponent: float) -> torch.Tensor:
        law = Sigmoid(0.1, asymptote, middle, exponent, 0.0)
        return torch.tensor([law.reward(c) for c in self.COMPUTE.tolist()], dtype=torch.float64)

    @pytest.mark.parametrize(
        ("asymptote", "middle", "exponent"),
        [(0.61, 1500.0, 1.8), (0.45, 200.0, 0.7), (0.8, 6000.0, 3.0), (0.02, 900.0, 1.0)],
    )
    def test_planted_parameters_come_back(
        self, asymptote: float, middle: float, exponent: float
    ) -> None:
        found = fit_sigmoid(self.COMPUTE, self.curve(asymptote, middle, exponent), start=0.1)
        assert found.asymptote == pytest.approx(asymptote, abs=1e-4)
        assert found.middle == pytest.approx(middle, rel=1e-3)
        assert found.exponent == pytest.approx(exponent, rel=1e-3)
        assert found.residual < 1e-5

    def test_the_first_half_foretells_the_second(self) -> None:
        truth = self.curve(0.61, 1000.0, 1.8)
        noisy = truth + 0.003 * NOISE[:25]
        found = fit_sigmoid(self.COMPUTE[:18], noisy[:18], start=0.1)
        assert found.asymptote == pytest.approx(0.61, abs=0.03)
        assert found.reward(self.COMPUTE[-1].item()) == pytest.approx(truth[-1].item(), abs=0.03)

    def test_an_asymptote_beyond_the_largest_reward_is_not_given(self) -> None:
        rising = 0.1 + 0.2 * (self.COMPUTE / 1e4) ** 0.5
        assert fit_sigmoid(self.COMPUTE, rising, start=0.1).asymptote > 1.0
        bounded = fit_sigmoid(self.COMPUTE, rising, start=0.1, ceiling=1.0)
        assert bounded.asymptote == pytest.approx(1.0)

    def test_compute_lies_above_zero(self) -> None:
        with pytest.raises(UsageError, match="above 0"):
            fit_sigmoid(torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, 0.1, 0.2]), start=0.0)
