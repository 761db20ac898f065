"""The reference says what the service does: its requests, rights, statuses and numbers."""

import pathlib
import re

from bayesregret.service.errors import ANSWERS
from bayesregret.service.gate import RIGHT
from bayesregret.service.limits import Limits

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "reference" / "service.md").read_text()


def test_every_request_is_in_the_reference_with_its_right(client):
    listed = re.findall(r"^\| `(GET|POST) (\S+)` \| (\w*) ", PAGE, re.MULTILINE)
    schema = client.get("/openapi.json").json()
    made = [
        (method.upper(), path, operation.get(RIGHT, ""))
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    assert sorted(listed) == sorted([*made, ("GET", "/experiments/{name}/page", "read")])


def test_every_status_is_in_the_reference():
    listed = {int(status) for status in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert listed == {*ANSWERS, 405, 431}


def test_limits_are_those_of_the_reference():
    limits = Limits()
    for number in (limits.body, limits.headers, limits.batch, limits.concurrent, limits.arms):
        assert f"{number:,} " in PAGE


def test_numbers_are_those_of_the_reference(client):
    client.get("/health")
    listed = set(re.findall(r"bayesregret_(\w+)", PAGE))
    made = set(re.findall(r"^# TYPE bayesregret_(\w+)", client.get("/metrics").text, re.MULTILINE))
    assert listed == made
