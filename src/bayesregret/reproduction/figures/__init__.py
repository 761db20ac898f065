"""One file per figure: its points, its trends, and the claims that its numbers decide."""
