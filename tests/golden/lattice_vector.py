"""Find the generating vector of the extensible lattice in bayesregret/bounds/gaps/linear.py; takes seconds.

Component by component: of random odd candidates, the one whose shift-averaged worst-case error (weights 1/j) is, at the
worst of the sizes 2^6 to 2^16, the smallest multiple of the best seen at that size.
"""

import numpy as np

LOG_POINTS = 16
POINTS = 2**LOG_POINTS
COORDINATES = 48
CANDIDATES = 160


def kernel(generator: int, weight: float) -> np.ndarray:
    """One coordinate's factor of the squared error at every lattice point."""
    x = (np.arange(POINTS) * generator % POINTS) / POINTS
    return 1.0 + 6.0 * weight * (x * x - x + 1.0 / 6.0)


def errors(product: np.ndarray) -> np.ndarray:
    """Squared errors of the embedded lattices of all sizes."""
    return np.array([product[:: 2 ** (LOG_POINTS - size)].mean() - 1.0 for size in range(6, LOG_POINTS + 1)])


def search() -> list[int]:
    rng = np.random.default_rng(2024)
    found = [1]
    product = kernel(1, 1.0)
    for coordinate in range(1, COORDINATES):
        weight = 1.0 / (coordinate + 1)
        drawn = 2 * rng.choice(POINTS // 2, CANDIDATES, replace=False) + 1
        candidates = [int(candidate) for candidate in drawn if candidate not in found]
        table = np.array([errors(product * kernel(candidate, weight)) for candidate in candidates])
        found.append(candidates[int(np.argmin((table / table.min(axis=0)).max(axis=1)))])
        product = product * kernel(found[-1], weight)
    return found


if __name__ == "__main__":
    print(search())
