"""The integrals behind information-directed sampling: who is best, and how much each arm reveals about it."""
