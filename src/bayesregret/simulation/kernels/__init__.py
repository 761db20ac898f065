"""Simulation kernels: one loop for each way in which a policy can be played, and the choice between them."""
