"""One contract, one body per class: in plain Python, in compiled code, and when there is none."""

import inspect
from typing import NamedTuple

import numpy as np
import pytest

from bayesregret import dispatch
from bayesregret.dispatch import compile_kernel, contract, jitable, rarely_called
from draws import compiled


class Square(NamedTuple):
    side: float


class Disc(NamedTuple):
    radius: float


class Point(NamedTuple):
    x: float


@contract()
def area(shape, scale):
    """The area of a shape, scaled."""


@area.implement(Square)
def square_area(shape, scale):
    return scale * shape.side * shape.side


@area.implement(Disc)
def disc_area(shape, scale):
    return scale * 3.0 * shape.radius * shape.radius


@jitable
def double(value):
    return 2.0 * value


@rarely_called
def triple(value):
    return 3.0 * value


def measure(shape, out):
    out[0] = area(shape, 1.0) + double(1.0) + triple(1.0)


def test_plain_python_picks_by_class():
    assert area(Square(2.0), 1.0) == 4.0
    assert area(Disc(2.0), 0.5) == 6.0
    assert area.__doc__ == "The area of a shape, scaled."
    assert list(inspect.signature(area).parameters) == ["shape", "scale"]
    assert set(area.bodies) == {Square, Disc}


def test_a_class_without_a_body():
    with pytest.raises(TypeError, match=r"^Point does not implement area$"):
        area(Point(1.0), 1.0)


@pytest.mark.both
@pytest.mark.parametrize(("shape", "expected"), [(Square(3.0), 14.0), (Disc(1.0), 8.0)])
def test_kernels_pick_by_class(shape, expected):
    out = np.zeros(1)
    compile_kernel(measure, Square, Disc)(shape, out)
    assert out[0] == expected


@pytest.mark.compiled
def test_a_class_without_a_body_does_not_compile():
    with pytest.raises(TypeError, match=r"^Point does not implement area$"):
        compile_kernel(measure, Point)(Point(1.0), np.zeros(1))


def test_a_kernel_is_made_once():
    assert compile_kernel(measure, Square, Disc) is compile_kernel(measure, Disc, Square)
    assert compile_kernel(measure, Square) is not compile_kernel(measure, Disc)


def test_functions_stay_plain_functions():
    assert double(2.0) == 4.0
    assert inspect.isfunction(double)
    assert inspect.isfunction(triple)


@pytest.mark.both
def test_a_class_without_a_file():
    out = np.zeros(1)
    compile_kernel(measure, Square, int)(Square(3.0), out)
    assert out[0] == 14.0


def count_down(out):
    out[0] -= 1.0


@pytest.mark.both
def test_without_a_folder_for_compiled_code(monkeypatch):
    """Numba raises where no folder can be written; the kernel is then compiled in every process."""
    import numba

    njit = numba.njit

    def no_folder(function, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(function, **options)

    monkeypatch.setattr(numba, "njit", no_folder)
    monkeypatch.setattr(dispatch, "_kernels", {})  # not what was made before
    out = np.array([5.0])
    compiled(count_down)(out)
    assert out[0] == 4.0
