"""Bodies of requests. Checked here for their types only: what values may be, the store says."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

KEY = "A text of your own, such as the id of a user: the same key gets the same decision."
DECISION = "The id that came with the decision."


class Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class StartBody(Body):
    """An experiment to start."""

    name: str = Field(description="Letters, digits, dots, hyphens and underscores.")
    problem: dict[str, Any] = Field(description="The fields of a problem file: its model and the prior.")
    policy: str | dict[str, Any] = Field(description="A name, perhaps with settings, such as bayes-ucb:delta=0.1.")
    horizon: int = Field(description="Number of rounds.")
    arms: list[str] | None = Field(None, description="Names of the arms.")
    unit: str | None = Field(None, description="What a round is, such as visitor.")
    seed: int = Field(0, description="Seed of the policy's random choices.")
    reward_after: float | None = Field(None, description="Seconds after which a missing reward is given up.")
    missing: str = Field("zero", description="What a reward that is given up counts as: zero, or lost.")


class DecideBody(Body):
    """A decision to make."""

    key: str | None = Field(None, description=KEY)


class DecideManyBody(Body):
    """Decisions to make together: for each key one."""

    keys: list[str] = Field(description=KEY)


class RewardBody(Body):
    """A reward."""

    decision: str = Field(description=DECISION)
    reward: float = Field(description="Its reward.")


class RewardManyBody(Body):
    """Rewards that are taken together: all, or none."""

    rewards: list[RewardBody]


class ArmBody(Body):
    """An arm."""

    arm: str | int = Field(description="Its name or its number.")


class AddArmBody(Body):
    """An arm to add."""

    name: str = Field(description="Name of the new arm.")
    prior: dict[str, Any] = Field(description='Fields of its prior, such as {"alpha": 1, "beta": 30}.')


class StopBody(Body):
    """Nothing: an empty object, {}."""


class DecisionAnswer(BaseModel):
    """A decision."""

    decision: str = Field(description=DECISION)
    arm: int = Field(description="Number of the arm to use.")
    name: str = Field(description="Name of the arm to use.")


class DecisionsAnswer(BaseModel):
    """Decisions, in the order of their keys."""

    decisions: list[DecisionAnswer]


class TakenAnswer(BaseModel):
    """How many rewards the log has now that were in the request."""

    taken: int
