"""The halt latch of an account: how far it may trade (trading.md 7.4)."""

from enum import StrEnum


class HaltState(StrEnum):
    """How far an account may trade: freely, only towards flat, or not at all."""

    ACTIVE = "active"
    REDUCING = "reducing"
    HALTED = "halted"
