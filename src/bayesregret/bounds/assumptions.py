"""Assumptions of the statements, with the reasons that `Bound.why_not` gives where they fail."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from bayesregret.bounds.bound import Body, Parts, Setting
from bayesregret.models import GaussianBandit

HOMOSCEDASTIC_ONLY = "the statement assumes one prior width and one reward noise, and here they differ between arms"


def gaussian_rewards(bandit: GaussianBandit) -> str | None:
    """Return a reason if rewards are not Gaussian, otherwise None."""
    if bandit.noise_kind != "gaussian":
        return f"rewards must be Gaussian, and noise_kind is {bandit.noise_kind}"
    return None


def with_heteroscedastic_form(heteroscedastic: Body) -> Callable[[Body], Body]:
    """Return a decorator of a body for equal prior widths and noises; the argument is its heteroscedastic form."""

    def choose(body: Body) -> Body:
        @functools.wraps(body)
        def chosen(bandit: GaussianBandit, setting: Setting, order: int, **options: Any) -> Parts:
            return (heteroscedastic if bandit.arms_differ else body)(bandit, setting, order, **options)

        return chosen

    return choose


def _not_stated(bandit: GaussianBandit, setting: Setting, order: int, **options: Any) -> Parts:
    return Parts({"leading": math.inf}, why_not=HOMOSCEDASTIC_ONLY)


homoscedastic_only = with_heteroscedastic_form(_not_stated)


def first_failure(*reasons: str | None) -> str | None:
    """Return the first reason that is not None, None if all assumptions hold."""
    return next((reason for reason in reasons if reason is not None), None)


def unless(holds: bool, reason: str) -> str | None:
    """Return the reason unless the assumption holds."""
    return None if holds else reason
