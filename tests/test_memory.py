"""Free memory, as the machine and the control groups of the process report it."""

import numpy as np
import pytest

from bayesregret import memory
from bayesregret.memory import array_bytes, free_memory, rounded_down, shown_bytes

GIGABYTE = 10**9


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine whose files the test writes; 8 GB are free."""
    for name in ("MEMORY", "PROCESS_GROUPS", "GROUPS"):
        monkeypatch.setattr(memory, name, tmp_path / name)
    (tmp_path / "MEMORY").write_text("MemTotal:  32000000 kB\nMemAvailable:   7812500 kB\n")
    return tmp_path


def write_group(folder, limit: str, used: int, cached: int, *, version: int) -> None:
    folder.mkdir(parents=True)
    names = ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\n{'' if version == 2 else 'total_'}inactive_file {cached}\n")


def test_the_machine_alone(machine):
    assert free_memory() == 8 * GIGABYTE


@pytest.mark.parametrize(("limit", "free"), [(4 * GIGABYTE, 3), (20 * GIGABYTE, 8), ("max", 8), (GIGABYTE, 0)])
def test_a_control_group_has_less_or_more(machine, limit, free):
    (machine / "PROCESS_GROUPS").write_text("0::/box/inner\n")
    write_group(machine / "GROUPS" / "box", str(limit), 2 * GIGABYTE, GIGABYTE, version=2)
    assert free_memory() == free * GIGABYTE


def test_a_control_group_of_the_first_version(machine):
    (machine / "PROCESS_GROUPS").write_text("5:cpu,cpuacct:/\n4:memory:/box\n")
    write_group(machine / "GROUPS" / "memory" / "box", str(3 * GIGABYTE), GIGABYTE, 0, version=1)
    assert free_memory() == 2 * GIGABYTE


def test_elsewhere_all_memory_counts_as_free_or_it_is_unknown(machine, monkeypatch):
    (machine / "MEMORY").unlink()
    sizes = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr("os.sysconf", sizes.__getitem__)
    assert free_memory() == 4_096_000
    monkeypatch.delattr("os.sysconf")
    assert free_memory() is None


def test_this_machine_has_memory():
    assert free_memory() is None or free_memory() > 10**6


def test_arrays_in_tuples():
    assert array_bytes((np.zeros(3), 5, (np.zeros((2, 2), np.float32), "text"))) == 24 + 16


def test_numbers_in_messages():
    assert [shown_bytes(number) for number in (1.25e12, 7.7e9, 999e6, 1500)] == [
        "1,250.0 GB",
        "7.7 GB",
        "999.0 MB",
        "1.5 kB",
    ]
    assert [rounded_down(number) for number in (0, 9, 99, 138_765_432)] == [0, 9, 99, 130_000_000]
