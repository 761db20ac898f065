"""Routes for decisions and rewards."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from bayesregret.service.answers import json_answer
from bayesregret.service.bodies import (
    DecideBody,
    DecideManyBody,
    DecisionAnswer,
    DecisionsAnswer,
    RewardBody,
    RewardManyBody,
    TakenAnswer,
)
from bayesregret.service.desk import Desk
from bayesregret.service.errors import ANSWERS
from bayesregret.service.gate import GuardedRoute, right
from bayesregret.service.limits import allowed_batch
from bayesregret.store import Decision
from bayesregret.store.events import DECIDE, REWARD

router = APIRouter(prefix="/experiments/{name}", route_class=GuardedRoute, responses=ANSWERS)


@router.post("/decisions", openapi_extra=right("decide"), response_model=DecisionAnswer)
async def decide(name: str, body: DecideBody, request: Request) -> Any:
    """Decide which arm to use now. The decision is durable; the same key always gets the same one."""
    desk: Desk = request.app.state.desk
    made = await (await desk.queue(name)).ask(("decide", body.key))
    desk.answered(DECIDE, 1)
    return json_answer(_decision(made))


@router.post("/decisions/batch", openapi_extra=right("decide"), response_model=DecisionsAnswer)
async def decide_many(name: str, body: DecideManyBody, request: Request) -> Any:
    """Make several decisions in one transaction, or none if one is refused."""
    desk: Desk = request.app.state.desk
    keys = allowed_batch(request.app.state.limits, "keys", body.keys)
    made = await desk.run((await desk.experiment(name)).decide_many, keys)
    desk.answered(DECIDE, len(made))
    return json_answer({"decisions": list(map(_decision, made))})


@router.post("/rewards", openapi_extra=right("decide"), response_model=TakenAnswer)
async def reward(name: str, body: RewardBody, request: Request) -> Any:
    """Give the reward of a decision: once or several times is the same. Another reward than before is refused."""
    desk: Desk = request.app.state.desk
    await (await desk.queue(name)).ask(("reward", body.decision, body.reward))
    return _taken(desk, 1)


@router.post("/rewards/batch", openapi_extra=right("decide"), response_model=TakenAnswer)
async def reward_many(name: str, body: RewardManyBody, request: Request) -> Any:
    """Give several rewards in one transaction, or none if one is refused."""
    desk: Desk = request.app.state.desk
    given = allowed_batch(request.app.state.limits, "rewards", body.rewards)
    pairs = [(each.decision, each.reward) for each in given]
    await desk.run((await desk.experiment(name)).reward_many, pairs)
    return _taken(desk, len(pairs))


def _taken(desk: Desk, rewards: int) -> Response:
    desk.answered(REWARD, rewards)
    return json_answer({"taken": rewards})


def _decision(made: Decision) -> dict[str, Any]:
    return {"decision": made.id, "arm": made.arm, "name": made.name}
