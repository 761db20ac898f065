"""One file for each figure: its points, its curves and the claims it decides."""
