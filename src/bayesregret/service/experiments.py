"""Routes for experiments: start, list, status, arms, stop and export."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from bayesregret.planning.beliefs import with_belief
from bayesregret.policies import Policy
from bayesregret.policy_data import policy_from_dict, policy_from_text
from bayesregret.problem import problem_from_dict
from bayesregret.service.answers import json_answer
from bayesregret.service.bodies import AddArmBody, ArmBody, StartBody, StopBody
from bayesregret.service.desk import Desk
from bayesregret.service.errors import ANSWERS, refusal
from bayesregret.service.gate import GuardedRoute, right
from bayesregret.service.limits import Limits
from bayesregret.store import ExperimentStore

TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}
READ, ADMIN = right("read"), right("admin")
Format = Annotated[Literal["csv", "jsonl", "parquet"], Query(description="Of the table, a row for each event.")]
Exact = Annotated[bool, Query(description="Find the regret to come, too, which takes seconds.")]

router = APIRouter(prefix="/experiments", route_class=GuardedRoute, responses=ANSWERS)


@router.get("", openapi_extra=READ)
async def experiments(request: Request) -> dict[str, list[str]]:
    """Names of all experiments, the oldest first."""
    desk: Desk = request.app.state.desk
    return {"experiments": await desk.run(desk.store.names)}


@router.post("", openapi_extra=ADMIN, status_code=201)
async def start(body: StartBody, request: Request) -> dict[str, str]:
    """Start an experiment. On a mixture the policy believes in the prior that matches it, as in a plan."""
    desk: Desk = request.app.state.desk
    await desk.run(_start, desk.store, body, request.app.state.limits)
    return {"experiment": body.name}


@router.get("/{name}", openapi_extra=READ)
async def status(name: str, request: Request, exact: Exact = True) -> Any:
    """What the experiment has learned, what it has cost, what it may still cost, and what to do."""
    state = request.app.state
    found = await state.statuses.status(await state.desk.experiment(name), exact=exact)
    return json_answer(found.to_dict())


@router.post("/{name}/pause", openapi_extra=ADMIN)
async def pause(name: str, body: ArmBody, request: Request) -> dict[str, Any]:
    """Pause an arm: no decision uses it until it is resumed."""
    desk: Desk = request.app.state.desk
    await desk.run((await desk.experiment(name)).pause, body.arm)
    return {"arm": body.arm, "paused": True}


@router.post("/{name}/resume", openapi_extra=ADMIN)
async def resume(name: str, body: ArmBody, request: Request) -> dict[str, Any]:
    """Resume an arm that is paused."""
    desk: Desk = request.app.state.desk
    await desk.run((await desk.experiment(name)).resume, body.arm)
    return {"arm": body.arm, "paused": False}


@router.post("/{name}/arms", openapi_extra=ADMIN, status_code=201)
async def add_arm(name: str, body: AddArmBody, request: Request) -> dict[str, Any]:
    """Add an arm with a prior of its own."""
    desk: Desk = request.app.state.desk
    await desk.run((await desk.experiment(name)).add_arm, body.name, body.prior)
    return {"arm": body.name}


@router.post("/{name}/stop", openapi_extra=ADMIN)
async def stop(name: str, body: StopBody, request: Request) -> dict[str, bool]:
    """Stop the experiment: it decides no more, and takes late rewards."""
    desk: Desk = request.app.state.desk
    await desk.run((await desk.experiment(name)).stop)
    return {"stopped": True}


@router.get("/{name}/export", openapi_extra=READ, response_class=Response)
async def export(name: str, request: Request, format: Format = "csv") -> Response:
    """The log of the experiment, a row for each event."""
    desk: Desk = request.app.state.desk
    content = await desk.run((await desk.experiment(name)).exported, format)
    named = {"content-disposition": f'attachment; filename="{name}.{format}"'}
    return Response(content, media_type=TYPES[format], headers=named)


def _start(store: ExperimentStore, body: StartBody, limits: Limits) -> None:
    problem = problem_from_dict(body.problem)
    if problem.arms > limits.arms:
        raise refusal(413, f"problem must have at most {limits.arms:,} arms, got {problem.arms:,}")
    store.start(
        body.name,
        problem,
        with_belief(_policy(body.policy), problem),
        horizon=body.horizon,
        arms=body.arms,
        unit=body.unit,
        seed=body.seed,
        reward_after=body.reward_after,
        missing=body.missing,
    )


def _policy(given: str | dict[str, Any]) -> Policy:
    return policy_from_text(given) if isinstance(given, str) else policy_from_dict(given)
