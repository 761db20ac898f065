"""What workers do with tasks that arrive late."""

import pytest

from bayesregret.simulation.engines.cluster import worker


@pytest.fixture
def parcel(stand_in):
    return worker.pack(stand_in("quick").recipe)


def test_a_task_that_arrives_after_its_simulation_was_stopped_plays_nothing(parcel):
    record, _ = worker.play("stopped", parcel, 0, 64)
    assert record.final_regret[63] == 63.0
    worker.stop("stopped")
    with pytest.raises(RuntimeError, match=r"^these runs were stopped$"):
        worker.play("stopped", parcel, 64, 64)
    assert "stopped" not in worker._simulations
    assert worker.play("another", parcel, 64, 64)[0].final_regret[0] == 64.0


def test_an_error_does_not_stop_the_other_tasks_of_a_simulation(stand_in):
    parcel = worker.pack(stand_in("wrong").recipe)
    with pytest.raises(ValueError, match=r"^run 64 must be right$"):
        worker.play("wrong", parcel, 64, 64)
    assert worker.play("wrong", parcel, 0, 64)[0].final_regret[0] == 0.0, "whichever comes first, the error is its own"


def test_stopped_simulations_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(worker, "MOST_STOPPED", 3)
    for number in range(5):
        worker.stop(f"token {number}")
    assert len(worker._stopped) <= 3
    assert "token 4" in worker._stopped
