"""What the statements take for granted, in words for `why_not`."""

from __future__ import annotations

from bayesregret.models import GaussianBandit


def gaussian_rewards(bandit: GaussianBandit) -> str | None:
    if bandit.noise_kind != "gaussian":
        return f"rewards must be Gaussian, and noise_kind is {bandit.noise_kind}"
    return None


def first_failure(*reasons: str | None) -> str | None:
    """The first assumption that fails, None if all hold."""
    return next((reason for reason in reasons if reason is not None), None)


def unless(holds: bool, reason: str) -> str | None:
    return None if holds else reason
