"""The JSON Schema of saved agents, from the classes that read them: `python docs/book/agent_schema.py` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

import bayesregret
from bayesregret.agent import saved, states

PATH = Path(bayesregret.__file__).parent / "schemas" / "agent.json"
STATES = (
    states.SavedIndexState,
    states.SavedEveryRoundState,
    states.SavedLinearIndexState,
    states.SavedLinearEveryRoundState,
)
LINK = "#/$defs/{name}"
FIELDS = {
    "format": "always this text",
    "version": "of the format; states of version 1 are read, too",
    "policy": "name and settings of the policy",
    "problem": "the bandit that the agent was started with, as in a problem file",
    "arms": "names of the arms",
    "horizon": "number of rounds, if given",
    "seed": "seed of the policy's random choices",
    "state": "what the agent has learned",
    "checksum": "of all this; spaces and the order of fields do not matter",
    "counts": "number of rewards of each arm; in a linear posterior, of pulls",
    "totals": "sum of the rewards of each arm",
    "squares": "sum of squared deviations of the rewards of each arm, where a posterior needs it",
    "pending": "number of pulls of each arm whose reward has not arrived",
    "rounds": "number of decisions so far",
    "stream": "state of the random numbers",
    "memory": "what the policy keeps between rounds",
    "streak": "pulls of one arm that are not in the posterior yet",
    "posterior": "the linear posterior of the rewards received",
    "counted": "the linear posterior with pending pulls counted",
    "updates": "number of rank-one updates since it was computed anew",
    "surplus": "sum of the rewards of each arm minus those expected at the prior mean",
    "mean": "posterior mean of each arm",
    "variance": "posterior variance of each arm",
    "roots": "square root of the posterior covariance, a column for each arm",
    "arm": "the arm",
    "pulls": "number of its pulls",
    "excess": "by how much their rewards exceed those expected before them",
    "information": "information of the posterior about this arm",
}
WHAT = {
    "SavedIndexState": "An index policy on independent arms.",
    "SavedEveryRoundState": "A policy that chooses in every round, on independent arms.",
    "SavedLinearIndexState": "An index policy on a linear bandit.",
    "SavedLinearEveryRoundState": "A policy that chooses in every round, on a linear bandit.",
    "PosteriorState": "A linear posterior; columns are arms.",
    "StreakState": "Pulls of one arm in a row.",
    "LazyState": "A linear posterior and the pulls that are not in it yet.",
}


def agent_schema() -> dict[str, Any]:
    _, made = msgspec.json.schema_components([saved.Text, *STATES], ref_template=LINK)
    text = made.pop("Text")
    text["properties"]["format"] = {"const": saved.FORMAT}
    text["properties"]["version"] = {"enum": list(range(1, saved.VERSION + 1))}
    text["properties"]["state"] = {"anyOf": [{"$ref": LINK.format(name=each.__name__)} for each in STATES]}
    text["properties"]["problem"] = {"$ref": "problem.json"}
    described = {name: _described(each, WHAT[name]) for name, each in made.items()}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | _described(text, "What `Agent.to_json` writes.") | {"title": "Saved agent", "$defs": described}


def _described(schema: dict[str, Any], text: str) -> dict[str, Any]:
    fields = {name: {**each, "description": FIELDS[name]} for name, each in schema["properties"].items()}
    return {**schema, "description": text, "properties": fields}


if __name__ == "__main__":
    PATH.write_text(json.dumps(agent_schema(), indent=2) + "\n", encoding="utf-8")
