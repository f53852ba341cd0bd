"""What a venue's order means for its journal row. Pure; the store makes the transition.

The filled quantity is booked from the order whatever its status: a cancelled or expired order can
carry fills. Next: `broker.diff`.
"""

from include.domain.orders import IntentState, Order

REJECTED_STATUS = "rejected"


def settled(order: Order) -> IntentState:
    """Return the journal state that the venue's word for an order implies.

    Terminal words end the row, `rejected` rejects it (also after a 200), every other word means
    that the order works: pending_cancel, which can hang for hours, and words not known yet too.
    """
    if order.status == REJECTED_STATUS:
        return IntentState.REJECTED
    return IntentState.TERMINAL if order.is_terminal else IntentState.ACKED
