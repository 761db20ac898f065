"""Blocks of pulls whose rewards are revealed in advance."""

import math

import numpy as np
import pytest

from bayesregret.optimal.discounted_stages import HORIZONS, make_stages


@pytest.mark.parametrize(("horizon", "pseudo_count"), [(2, 1.0), (50, 0.3), (1_000, 5.0), (1_000, 1e6)])
def test_a_block_reveals_what_its_last_pull_may_know_and_no_more(horizon, pseudo_count):
    stages = make_stages(horizon, pseudo_count, 0.1)
    pulled = np.cumsum([0] + [stage.length for stage in stages])
    assert [stage.revealed for stage in stages] == [end - 1 for end in pulled[1:]]
    assert stages[0].revealed == 0
    assert pulled[-2] < HORIZONS * horizon <= pulled[-1]
    for stage in stages:
        assert stage.discount == pytest.approx((1.0 - 1.0 / horizon) ** stage.length, rel=1e-9)
        assert stage.gain + stage.discount == pytest.approx(1.0)


def test_one_round_has_no_later_ones():
    (stage,) = make_stages(1, 2.0, 0.1)
    assert (stage.revealed, stage.gain, stage.discount) == (0, 1.0, 0.0)


def test_long_horizons_take_few_stages():
    assert len(make_stages(10**6, 1.0, 0.05)) < 2 * math.log(HORIZONS * 1e6) / 0.05
