"""`bayesregret token`."""

import re

from bayesregret.service.tokens import right_of


def test_add_list_and_remove(bayesregret, monkeypatch):
    outcome = bayesregret("token", "add", "shop", "--right", "decide")
    assert outcome.status == 0
    token = outcome.out.split()[0]
    assert re.fullmatch(r"brt_[\w-]{43}", token)
    assert "authorization: Bearer TOKEN" in outcome.out
    other = bayesregret("token", "add", "board", "--right", "read", "--json").data
    assert (other["name"], other["right"]) == ("board", "read")
    lines = bayesregret("token", "list").out.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [["name", "right"], ["shop", "decide"], ["board", "read"]]
    listed = bayesregret("token", "list", "--json")
    assert [each["name"] for each in listed.data["tokens"]] == ["shop", "board"]
    assert token not in listed.out
    assert bayesregret("token", "remove", "shop") == (0, "the token shop is removed\n", "")
    assert [each["name"] for each in bayesregret("token", "list", "--json").data["tokens"]] == ["board"]


def test_bad_input_is_one_line(bayesregret):
    bayesregret("token", "add", "shop", "--right", "decide")
    for words, line in {
        ("add", "shop", "--right", "read"): "NAME must be that of no other token, got 'shop'",
        ("add", "x", "--right", "write"): '--right must be "read" or "decide" or "admin", got \'write\'',
        ("add", "x"): "Missing option '--right': What it gives",
        ("remove", "x"): "NAME must be that of a token, got 'x'",
    }.items():
        outcome = bayesregret("token", *words)
        assert (outcome.status, outcome.out) == (2, "")
        assert outcome.err.startswith(f"bayesregret: {line}")


def test_no_token_gives_no_right():
    assert right_of("brt_x", []) is None
