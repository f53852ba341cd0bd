"""How the numeric loops of this package are compiled: one typed decorator, one set of options.

Strict IEEE arithmetic (no fastmath), so that a result never depends on how a loop was vectorised;
division by zero gives infinity as in numpy. Machine code is cached beside the module.
"""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Return the function compiled by numba on its first call for each set of types."""
    return cast("F", njit(cache=True, error_model="numpy", nogil=True)(function))
