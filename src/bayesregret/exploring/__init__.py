"""The live page: move a slider, see the regret. `br.explore` shows it in a notebook, `bayesregret explore` serves it."""
