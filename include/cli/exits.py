"""The four exit codes, and which of them an error of Tradewind ends with.

Standard library and `include.errors` only; `__main__` applies it at the border.
"""

from enum import IntEnum

from include.errors import LiveTradingForbidden, MalformedBars, MalformedReplay, TradewindError

GUARDS = (LiveTradingForbidden, MalformedBars, MalformedReplay)


class Exit(IntEnum):
    """What a command ends with."""

    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    REFUSED = 3


class WrongUse(Exception):
    """The command was asked for something that makes no sense; carries the sentence."""


def exit_of(error: TradewindError) -> Exit:
    """Return REFUSED for what a guard stopped, FAILED for everything else."""
    return Exit.REFUSED if isinstance(error, GUARDS) else Exit.FAILED
