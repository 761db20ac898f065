"""`python -m bayesregret` is `bayesregret`."""

from bayesregret.cli import main

main()
