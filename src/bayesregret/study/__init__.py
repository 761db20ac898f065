"""Studies: durable stores of finished points, each one SQLite file.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder, Study.open(f"{folder}/study.sqlite") as study:
...     study.save({"horizon": 100, "seed": 7}, {"regret": 12.5}, seconds=0.25)
...     study.result({"horizon": 100, "seed": 7})
...     study.result({"horizon": 100, "seed": 8})
{'regret': 12.5}
"""

from __future__ import annotations

from bayesregret.study.export import FORMATS, export
from bayesregret.study.files import StudyError, StudyWriteError
from bayesregret.study.points import StudyEntry, point_key
from bayesregret.study.store import Study

__all__ = ["FORMATS", "Study", "StudyEntry", "StudyError", "StudyWriteError", "export", "point_key"]
