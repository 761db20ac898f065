"""The live page: move a slider, see the regret.

`br.explore` shows it in a notebook, and `bayesregret explore` serves it on this machine.
"""
