"""`explore`: the live page in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesregret.extras import require
from bayesregret.models.bandit import BanditLike, as_bandit


def explore(
    bandit: BanditLike | None = None,
    policies: str | Sequence[str] | None = None,
    *,
    horizon: int = 1_000,
    delta: float | None = None,
    runs: int = 10_000,
    seed: int = 0,
) -> Any:
    """Show the live page in a notebook: move a slider, see the regret.

    The page has the problem in sliders, the regret of policies, regret between its bounds, and a single run to play.
    `bayesregret explore` opens the same page in a browser.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent, optional
        The problem at first; by default the paper's Gaussian one. Up to 50 independent arms can be edited.
    policies : str or sequence of str, optional
        Policies at first, by their names such as "thompson" or "bayes-ucb:delta=0.1".
    horizon : int, default 1,000
        Number of rounds, at most 100,000.
    delta : float, optional
        Failure probability of the policies' confidence bounds; by default one over the horizon.
    runs : int, default 10,000
        Largest number of runs of a simulation.
    seed : int, default 0
        Seed of all random numbers.

    Returns
    -------
    panel.viewable.Viewable
        What a notebook shows at the end of a cell. It needs ``pip install "bayesregret[explore]"``.

    Examples
    --------
    >>> page = explore(GaussianBandit(prior_mean=[1, 0, 0], prior_width=1, reward_noise=1), horizon=500)
    >>> type(page).__name__
    'Column'
    """
    require("explore", "explore")
    import panel as pn

    from bayesregret.exploring.page import LivePage
    from bayesregret.exploring.settings import PageState, checked, state_of

    settings: dict[str, Any] = {"horizon": horizon, "delta": delta, "runs": runs, "seed": seed}
    if policies is not None:
        settings["policies"] = _texts(policies)
    given = {} if bandit is None else {"given": as_bandit(bandit)}
    state = PageState(**settings) if bandit is None else state_of(given["given"], "given", **settings)
    state = checked(state, given)
    pn.extension(inline=True)
    return LivePage(state, given, has_address=False).layout()


def _texts(policies: str | Sequence[str]) -> tuple[str, ...]:
    texts = (policies,) if isinstance(policies, str) else tuple(policies)
    for text in texts:
        if not isinstance(text, str):
            raise ValueError('policies must be names such as "thompson" or "bayes-ucb:delta=0.1" on the page')
    return texts
