"""asv suites: the work of the table's rows, followed from commit to commit."""

import sys
from pathlib import Path

# asv finds this package alone; the problems are defined beside it, once for the table and the suites.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
