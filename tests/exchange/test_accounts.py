from dataclasses import replace
from decimal import Decimal
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from include.exchange.accounts import STARTING_CASH_USD, apply_fill, new_account
from include.exchange.orders import ZERO, Fill, OrderSide

A_FILL = Fill(
    sequence=1,
    fill_id=UUID(int=1),
    order_id=UUID(int=2),
    symbol="ABC",
    side=OrderSide.BUY,
    quantity=Decimal(10),
    price=Decimal(5),
    fee_quantity=ZERO,
    fee_usd=ZERO,
    cumulative_quantity=Decimal(10),
    leaves_quantity=ZERO,
    instant=0,
)


@st.composite
def fills(draw):
    """Buys with a fee in coins and sells with one in USD, of two symbols, also crossing zero."""
    quantity = draw(st.decimals("0.000000001", 1_000, places=9))
    price = draw(st.decimals("0.01", 50_000, places=2))
    side = draw(st.sampled_from(OrderSide))
    fee = draw(st.sampled_from([ZERO, Decimal("0.0025")]))
    return replace(
        A_FILL,
        symbol=draw(st.sampled_from(["ABC", "BTC/USD"])),
        side=side,
        quantity=quantity,
        price=price,
        fee_quantity=quantity * fee if side is OrderSide.BUY else ZERO,
        fee_usd=quantity * price * fee if side is OrderSide.SELL else ZERO,
    )


@given(st.lists(fills(), max_size=30))
def test_value_is_conserved_to_the_last_digit(executed):
    """Cash and market value = start + realised + unrealised - fees, whatever fills came."""
    account = new_account()
    for fill in executed:
        account = apply_fill(account, fill)
    prices = {"ABC": Decimal("77.77"), "BTC/USD": Decimal("30123.45")}
    held = account.positions.values()
    unrealised = sum((p.quantity * prices[p.symbol] - p.cost_usd for p in held), start=ZERO)
    expected = STARTING_CASH_USD + account.realised_pnl_usd + unrealised - account.fees_usd
    assert abs(account.equity_usd(prices) - expected) < Decimal("1e-12")


def test_partial_sale_realises_its_share_and_flat_is_absent():
    """Selling half realises half the gain; selling the rest leaves no position."""
    account = apply_fill(new_account(), A_FILL)
    half = replace(A_FILL, side=OrderSide.SELL, quantity=Decimal(5), price=Decimal(6))
    account = apply_fill(account, half)
    assert account.realised_pnl_usd == 5
    assert account.positions["ABC"].average_entry_price == 5
    assert apply_fill(account, half).positions == {}


def test_short_gains_when_the_price_falls():
    """Selling short at 5 and covering at 4 earns one USD a share."""
    short = apply_fill(new_account(), replace(A_FILL, side=OrderSide.SELL))
    assert short.positions["ABC"].quantity == -10
    covered = apply_fill(short, replace(A_FILL, price=Decimal(4)))
    assert covered.realised_pnl_usd == 10
    assert covered.cash_usd == STARTING_CASH_USD + 10
