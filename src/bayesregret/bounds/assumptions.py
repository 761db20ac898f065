"""What the statements take for granted, in words for `why_not`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from bayesregret.bounds.bound import Body, Parts, Setting
from bayesregret.models import GaussianBandit

ARMS_DIFFER = "it is stated for one prior width and one reward noise, and here they differ from arm to arm"


def gaussian_rewards(bandit: GaussianBandit) -> str | None:
    if bandit.noise_kind != "gaussian":
        return f"rewards must be Gaussian, and noise_kind is {bandit.noise_kind}"
    return None


def where_arms_differ(instead: Body) -> Callable[[Body], Body]:
    """The body for Gaussian arms with prior widths or reward noises of their own."""

    def choose(body: Body) -> Body:
        @functools.wraps(body)
        def chosen(bandit: GaussianBandit, setting: Setting, order: int, **options: Any) -> Parts:
            return (instead if bandit.arms_differ else body)(bandit, setting, order, **options)

        return chosen

    return choose


def _not_stated(bandit: GaussianBandit, setting: Setting, order: int, **options: Any) -> Parts:
    return Parts({"leading": math.inf}, why_not=ARMS_DIFFER)


one_width = where_arms_differ(_not_stated)


def first_failure(*reasons: str | None) -> str | None:
    """The first assumption that fails, None if all hold."""
    return next((reason for reason in reasons if reason is not None), None)


def unless(holds: bool, reason: str) -> str | None:
    return None if holds else reason
