"""Commands that write files: what is in the way stays, is named in one line, and is noticed before the work begins."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

from bayesregret.study import Study
from cli.test_errors import complaint
from cli.test_prior import HISTORY
from cli.test_reproduce import SWEEP

PLAN = ["plan", "bernoulli", "--horizon", "4", "--runs", "4"]
FIT = ["prior", "fit", "history.csv", "--model", "bernoulli"]
# The command, the file that it writes, and how the line begins.
COMMANDS = [
    ([*FIT, "--output", "out/p.toml"], "out/p.toml", "--output must be a file that can be written, got "),
    ([*FIT, "--figure", "out/fit.png"], "out/fit.png", "--figure must be a file that can be written, got "),
    ([*PLAN, "--output", "out/plan.html"], "out/plan.html", "--output must be a file that can be written, got "),
    ([*PLAN, "--agent", "out/a.json"], "out/a.json", "--agent must be a file that can be written, got "),
    (["reproduce", "figure-1b", "--runs", "2", "--output", "out"], "out/report.html", ""),
    (["reproduce", "figure-1b", "--runs", "2", "--output", "out"], "out/figures/figure-1b.pdf", ""),
    (["sweep", "sweep.toml", "--output", "out"], "out/contents.json", ""),
    (["sweep", "sweep.toml", "--output", "out"], "out/figures/sweep-2.csv", ""),
    (["study", "export", "study.sqlite", "out/points.csv"], "out/points.csv", ""),
    (["study", "export", "study.sqlite", "out/points.json"], "out/points.json", ""),
]


@pytest.fixture
def inputs(bayesregret):
    """The files that the commands read."""
    make_inputs()
    return bayesregret


def make_inputs():
    pathlib.Path("history.csv").write_text(HISTORY)
    pathlib.Path("sweep.toml").write_text(SWEEP)
    with Study.open("study.sqlite") as study:
        study.save({"seed": 7}, {"regret": 1.5}, seconds=0.0)
    pathlib.Path("out", "figures").mkdir(parents=True)


def link(path):
    pathlib.Path("mine").write_text("mine")
    path.symlink_to(pathlib.Path("mine").absolute())


def everything():
    """All files in all folders: kind, identity, time of the last change."""
    found = {path: path.lstat() for path in pathlib.Path().rglob("*")}
    return {path: (status.st_mode, status.st_ino, status.st_mtime_ns) for path, status in found.items()}


@pytest.mark.parametrize(("arguments", "target", "said"), COMMANDS)
@pytest.mark.parametrize(
    ("make", "found"),
    [(link, "a symbolic link"), (os.mkfifo, "a FIFO"), (pathlib.Path.mkdir, "a folder")],
)
def test_what_is_in_the_way_stays(inputs, arguments, target, said, make, found):
    make(pathlib.Path(target))
    before = everything()
    line = complaint(inputs(*arguments))
    assert line.startswith(f"{said}{target}: ")
    assert line.endswith(f": it is {found}")
    assert everything() == before


@pytest.mark.parametrize("make", [os.mkfifo, pathlib.Path.touch, lambda path: path.symlink_to("nowhere")])
@pytest.mark.parametrize("folder", ["reports", "out/figures"])
def test_what_is_in_the_way_of_a_folder_stays(inputs, make, folder):
    pathlib.Path("out/figures").rmdir()
    make(pathlib.Path(folder))
    before = everything()
    outcome = inputs("sweep", "sweep.toml", "--output", folder.removesuffix("/figures"))
    assert complaint(outcome) == f"{folder}: cannot be made a folder: File exists"
    assert everything() == before


# The superuser may write to read-only files: the child is nobody, once it has loaded all it needs.
READ_ONLY = """
import encodings.utf_8_sig, os, sys
import bayesregret.planning, bayesregret.priors, bayesregret.report.publication
from bayesregret.cli import run
from cli.test_writing import COMMANDS
if os.getuid() == 0:
    os.setuid(65534)
for folder in sys.argv[1:]:
    os.chdir(folder)
    for arguments, target, said in COMMANDS:
        print(run(arguments), file=sys.stderr)
"""


def test_read_only_files_and_folders_stay(monkeypatch):
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        for name in ("file", "folder"):
            os.mkdir(f"{made}/{name}")
            monkeypatch.chdir(f"{made}/{name}")
            make_inputs()
        for _, target, _ in COMMANDS:
            pathlib.Path(made, "file", target).write_text("old")
            pathlib.Path(made, "file", target).chmod(0o444)
        for folder in ("out", "out/figures"):
            os.chmod(f"{made}/file/{folder}", 0o777)
            os.chmod(f"{made}/folder/{folder}", 0o555)
        monkeypatch.chdir(made)
        before = everything()
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.path.dirname(os.path.dirname(__file__)), *sys.path]))
        command = [sys.executable, "-c", READ_ONLY, f"{made}/file", f"{made}/folder"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        lines = done.stderr.splitlines()
        assert lines[1::2] == ["2"] * 2 * len(COMMANDS)
        reasons = [line.rsplit(": ", 1)[1] for line in lines[::2]]
        whole, folder = ["the file is read-only"] * len(COMMANDS), ["its folder is read-only"] * len(COMMANDS)
        assert reasons == whole + folder
        assert everything() == before


def test_a_full_disk_is_one_line_and_keeps_the_old_file(inputs, monkeypatch):
    def fall(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fall)
    for arguments, target, _ in [COMMANDS[0], COMMANDS[1], COMMANDS[3], COMMANDS[-1]]:
        pathlib.Path(target).write_text("old")
        assert complaint(inputs(*arguments), 1) == f"{target}: cannot be written: No space left on device"
        assert pathlib.Path(target).read_text() == "old"
    assert not list(pathlib.Path().rglob(".*"))


def test_an_emptied_figure_is_written_again(inputs):
    pathlib.Path("sweep.toml").write_text(SWEEP.replace("reward_noise", "#"))
    arguments = ["sweep", "sweep.toml", "--output", "out", "--no-progress"]
    assert "out/report.html written" in inputs(*arguments).out
    figure = pathlib.Path("out/figures/sweep.csv")
    text = figure.read_text()
    figure.write_text("")
    assert "3 points, 0 run now; out/report.html written" in inputs(*arguments).out
    assert figure.read_text() == text
    assert "3 points, 0 run now; out/report.html up to date" in inputs(*arguments).out
    assert set(json.loads(pathlib.Path("out/contents.json").read_text())["files"]) == {
        "report.html",
        *(f"figures/sweep.{form}" for form in ("pdf", "png", "csv", "tex")),
    }
