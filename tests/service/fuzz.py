"""Requests with every field fuzzed, given to the application itself; what it must never do is an assertion."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import Any

from sqlalchemy import func, select

import bayesregret as br
from bayesregret.service import Tokens, create_app
from bayesregret.store.tables import events, experiments, tokens

STATUSES = {200, 201, 400, 401, 403, 404, 405, 409, 413, 415, 422}
SECRETS = ("sqlite", "traceback", "/tmp", ".db", "sqlalchemy", "bayesregret_", "site-packages", 'file "')
RIGHTS = ("read", "decide", "admin")
NUMBERS = (0, 1, -1, 2, 0.5, -0.0, 1e308, -1e308, 5e-324, 10**20, 2**63, 2**53, 10**400)
TEXTS = (
    "",
    " ",
    "0",
    "1",
    "-1",
    "x",
    "é",
    "\u0661",
    "\u0000",
    "\ud800",
    "\n",
    "a" * 300,
    "a" * 100_000,
    "../../etc/passwd",
    "checkout'; DROP TABLE events; --",
    "%00",
    "<script>alert(1)</script>",
    "NaN",
    "null",
    "blue",
    "lost",
    "zero",
)
CONTAINERS = ([], {}, [[]], [None], {"": None}, [1, 2], ["a"] * 2000, {"a": {"b": {"c": []}}})
RAW = (
    b"",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"\xff\xfe",
    b"{}{}",
    b'{"reward": NaN}',
    b'{"reward": Infinity, "decision": "x"}',
    b'{"key": "a", "key": "b"}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"reward": ' + b"9" * 5000 + b"}",
    b'{"key": "\\ud800"}',
    b'{"reward": 1e999, "decision": "1-00000000"}',
    b"\0" * 100,
    b'{"key": tru',
    b"{} " * 400_000,
)
TYPES = (
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "",
    "application/json; charset=latin-1",
    "\xff",
)
QUERIES = ("", "exact=x", "exact=", "exact=false&exact=2", "format=x", "format=jsonl", "%00=%ff", "a" * 5000)
POLICIES = (
    "bayes-ucb",
    "thompson",
    "ucb1",
    "bayes-ucb:delta=0.1",
    "bayes-ucb:delta=7",
    "gittins",
    "kl-ucb",
    "nope",
    "lin-ucb",
    "explore-commit",
    "information-directed",
    "quantile-ucb",
    "moss",
    "bayes-optimal",
    "epsilon-greedy:epsilon=x",
)
PROBLEM = {"model": "bernoulli", "alpha": [1, 1], "beta": [1, 1]}


class Attack:
    """A store with experiments, the application on it, and a generator of requests."""

    def __init__(self, folder: str, seed: int) -> None:
        self.chance = random.Random(seed)
        self.store = br.experiments(f"sqlite:///{folder}/fuzz.db")
        bandits = {"first": br.BernoulliBandit([1, 1], [1, 1]), "second": br.GaussianBandit([0, 0, 0], 1, 1)}
        for name, bandit in bandits.items():
            self.store.start(name, bandit, "bayes-ucb", horizon=10**6)
        self.store.start("short", bandits["first"], "thompson", horizon=3)
        self.tokens = {right: Tokens(self.store.database).add(right, right) for right in RIGHTS}
        self.app = create_app(self.store, require_tokens=True)
        self.ids = ["1-00000000"]
        self.found: Counter[int] = Counter()

    async def run(self, number: int) -> None:
        async with self.app.router.lifespan_context(self.app):
            before = self.state()
            for _ in range(number):
                request = self.request()
                status, body = await self.call(*request)
                after = self.state()
                check(request, status, body, before, after)
                before = after
                self.found[status] += 1
        for name in self.store.names():
            self.store.experiment(name).replay()
        self.store.close()

    def state(self) -> tuple[Any, ...]:
        """What a refused request must not change: how many rows each table has."""
        with self.store.database.read() as connection:
            return tuple(
                connection.execute(select(func.count()).select_from(table)).scalar()
                for table in (events, experiments, tokens)
            )

    async def call(self, method: str, path: str, query: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        """Return the status and the body of the application's answer to one request."""
        sent: list[dict[str, Any]] = []
        parts = [body[:1000], body[1000:]]

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": parts.pop(0) if parts else b"", "more_body": bool(parts)}

        async def send(message: Any) -> None:
            sent.append(message)

        raw = [
            (name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in headers.items()
        ]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode("utf-8", "replace"),
            "root_path": "",
            "headers": raw,
            "query_string": query.encode("latin-1", "replace"),
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        await self.app(scope, receive, send)
        status = sent[0]["status"]
        text = b"".join(message.get("body", b"") for message in sent)
        if status == 200 and path.endswith("/decisions"):
            self.ids = [*self.ids[-50:], json.loads(text)["decision"]]
        return status, text

    # --- requests ----------------------------------------------------------------------------------------------------

    def request(self) -> tuple[str, str, str, dict[str, str], bytes]:
        pick = self.chance
        path, data = self.action()
        method = "GET" if data is None else "POST"
        if pick.random() < 0.02:
            method = pick.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "get", "X"])
        body = b"" if data is None else json.dumps(self.fuzzed(data)).encode()
        if pick.random() < 0.04:
            body = pick.choice(RAW)
        if pick.random() < 0.02:
            body = bytes(pick.randrange(256) for _ in range(pick.randrange(200)))
        headers = {"host": "127.0.0.1", "content-type": "application/json"}
        if pick.random() < 0.05:
            headers["content-type"] = pick.choice(TYPES)
        if pick.random() < 0.02:
            headers["content-length"] = pick.choice(["-1", "x", "99999999999999999999", "0", "", "1e3", "2000000"])
        headers["authorization"] = self.authorization()
        query = "exact=false" if pick.random() < 0.9 else pick.choice(QUERIES)
        return method, path, query, headers, body

    def authorization(self) -> str:
        pick = self.chance
        if pick.random() < 0.85:
            return f"Bearer {self.tokens[pick.choice(['decide', 'admin', 'admin'])]}"
        right = self.tokens[pick.choice(RIGHTS)]
        return pick.choice(
            [
                "",
                "Bearer",
                "Bearer x",
                f"Bearer {right}",
                f"bearer  {right}",
                f"Bearer {right}x",
                "Basic !!",
                "Basic eDp5",
                f"Token {right}",
                "Bearer \xff",
                "Bearer " + "a" * 10_000,
            ]
        )

    def action(self) -> tuple[str, Any]:
        """Return a path and the body of a request that would be right, None for a GET."""
        pick = self.chance
        name = pick.choice(["first", "first", "second", "short"])
        if pick.random() < 0.03:
            name = pick.choice(["nope", "%2e%2e", "..", "a b", "é", "x" * 1000, "", "first/", "\u0000"])
        base = f"/experiments/{name}"
        known = pick.choice(self.ids)
        actions = [
            (f"{base}/decisions", {"key": f"user-{pick.randrange(10**6)}"}),
            (f"{base}/decisions/batch", {"keys": [f"b-{pick.randrange(100)}", f"b-{pick.randrange(100)}"]}),
            (f"{base}/rewards", {"decision": known, "reward": pick.choice([0, 1, 1.0, 0.5])}),
            (f"{base}/rewards", {"decision": self.changed(known), "reward": 1}),
            (
                f"{base}/rewards/batch",
                {"rewards": [{"decision": known, "reward": 1}, {"decision": known, "reward": 0}]},
            ),
            (f"{base}/pause", {"arm": pick.choice([0, "arm-0"])}),
            (f"{base}/resume", {"arm": pick.choice([0, "arm-0"])}),
            (f"{base}/arms", {"name": f"new-{pick.randrange(3)}", "prior": {"alpha": 1, "beta": 2}}),
            (f"{base}/stop" if name == "short" else f"{base}/decisions", {}),
            (
                pick.choice(
                    [base, f"{base}/export", f"{base}/page", "/experiments", "/", "/docs", "/health", "/ready", "/nope"]
                ),
                None,
            ),
            ("/experiments", self.setup()),
        ]
        weights = [8, 3, 8, 4, 3, 1, 1, 1, 1, 1, 3]
        return pick.choices(actions, weights)[0]

    def setup(self) -> dict[str, Any]:
        """Settings of a new experiment; most names are there already, so that the store does not grow much."""
        pick = self.chance
        name = pick.choice(["first", "second", "short"]) if pick.random() < 0.98 else f"new-{pick.randrange(10**6)}"
        policy = pick.choice(POLICIES)
        return {
            "name": name,
            "problem": PROBLEM,
            "policy": policy,
            "horizon": 20,
            "arms": ["blue", "green"],
            "unit": "visitor",
            "seed": 1,
            "reward_after": 60.0,
            "missing": "zero",
        }

    def changed(self, text: str) -> str:
        """Return a text with one character changed."""
        place = self.chance.randrange(len(text))
        return text[:place] + self.chance.choice("0123456789abcdef-x") + text[place + 1 :]

    def fuzzed(self, data: Any) -> Any:
        """Return the data with some field changed, left out or added, or as it is."""
        pick = self.chance
        if pick.random() < 0.4 or not isinstance(data, dict):
            return data if pick.random() < 0.7 else self.nasty()
        made = dict(data)
        field = pick.choice([*made, "extra"])
        what = pick.random()
        if what < 0.15:
            made.pop(field, None)
        elif what < 0.5 and isinstance(made.get(field), dict):
            made[field] = self.fuzzed(made[field])
        elif what < 0.5 and isinstance(made.get(field), list):
            made[field] = [*made[field], self.nasty()]
        else:
            made[field] = self.nasty()
        return made

    def nasty(self) -> Any:
        pick = self.chance
        return pick.choice([None, True, False, pick.choice(NUMBERS), pick.choice(TEXTS), pick.choice(CONTAINERS)])


def check(request: Any, status: int, body: bytes, before: Any, after: Any) -> None:
    """What holds for every request."""
    shown = f"{str(request)[:600]} -> {status} {body[:300]!r}"
    assert status in STATUSES, shown
    if status < 400:
        return
    assert before == after, f"a refused request changed something: {shown}"
    line = json.loads(body)
    assert list(line) == ["error"], shown
    assert line["error"].isprintable(), shown
    assert 0 < len(line["error"]) <= 500, shown
    sent = str(request).lower()
    assert not [word for word in SECRETS if word in line["error"].lower() and word not in sent], shown


def attack(folder: str, number: int, seed: int) -> Counter[int]:
    """Send requests; return how many got each status. AssertionError if one got what it must not."""
    made = Attack(folder, seed)
    asyncio.run(made.run(number))
    return made.found
