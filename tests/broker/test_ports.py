"""The port's promises, held by the adapter over HTTP and by the fake alike."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import pytest

from include.broker.alpaca import AlpacaBroker
from include.broker.ports import Broker
from tests.support.builders import AS_OF
from tests.support.fakes_broker import FakeBroker, Fault, an_intent
from tests.support.scripted_server import Reply, ScriptedServer, Seen, scripted_server


@pytest.fixture(params=["fake", "alpaca"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """An empty account behind the port."""
    if request.param == "fake":
        yield FakeBroker(now=AS_OF)
        return
    with scripted_server() as server:
        _ScriptedVenue(server)
        yield AlpacaBroker(
            key_id="PK",
            secret_key="secret",
            trading_url=server.url,
            connect_timeout_seconds=1.0,
            read_timeout_seconds=5.0,
            pause=lambda seconds: None,
        )


def test_an_order_sent_is_found_by_its_id_and_among_the_open_ones(broker: Broker):
    """Submit, look up and list agree."""
    order = broker.submit(an_intent())
    assert broker.order_by_client_id(order.client_order_id) == order
    assert broker.open_orders() == [order]
    assert broker.orders_since(AS_OF - timedelta(minutes=1)) == [order]


def test_the_same_id_is_one_order(broker: Broker):
    """A second submission adopts the first's order."""
    assert broker.submit(an_intent()) == broker.submit(an_intent(quantity=Decimal(99)))
    assert len(broker.open_orders()) == 1


def test_an_id_that_nobody_has_is_none(broker: Broker):
    """Asking for an unknown id is no error."""
    assert broker.order_by_client_id("nobody's") is None


def test_a_cancelled_order_no_longer_works_and_cannot_be_cancelled_again(broker: Broker):
    """Cancel is true once, and the order stays known."""
    order = broker.submit(an_intent())
    assert broker.cancel(order.venue_order_id)
    assert not broker.cancel(order.venue_order_id)
    assert broker.open_orders() == []
    ended = broker.order_by_client_id(order.client_order_id)
    assert ended is not None
    assert ended.is_terminal


def test_the_fake_loses_answers_and_orders_as_told():
    """A lost answer leaves an order behind, a lost order leaves none."""
    fake = FakeBroker()
    fake.faults.extend([Fault.LOST_ANSWER, Fault.LOST_ORDER])
    for client_order_id in ("first", "second"):
        with pytest.raises(Exception, match="is unknown"):
            fake.submit(an_intent(client_order_id=client_order_id))
    assert list(fake.orders) == ["first"]


def test_the_fake_books_fills_as_positions():
    """A part fill, then the rest, average their prices and end the order."""
    fake = FakeBroker()
    order = fake.submit(an_intent())
    assert fake.fill(order.client_order_id, Decimal(4), Decimal(98)).status == "partially_filled"
    filled = fake.fill(order.client_order_id, price=Decimal(99))
    assert (filled.status, filled.filled_average_price) == ("filled", Decimal("98.6"))
    assert fake.positions()[0].quantity == 10
    assert len(fake.fills_since(AS_OF - timedelta(seconds=1))) == 2


class _ScriptedVenue:
    """The order routes of a venue, just enough for the promises above."""

    def __init__(self, server: ScriptedServer) -> None:
        self.orders: dict[str, dict[str, object]] = {}
        self.server = server
        server.script("POST /v2/orders", self._accept)
        server.script("GET /v2/orders:by_client_order_id", self._look_up)
        server.script("GET /v2/orders", self._list)

    def _accept(self, seen: Seen) -> Reply:
        if seen.body["client_order_id"] in self.orders:
            body = {"code": 40010001, "message": "client_order_id must be unique"}
            return Reply(status=422, body=body)
        stamp = AS_OF.isoformat()
        venue_id = f"venue-{len(self.orders) + 1}"
        order = {**seen.body, "id": venue_id, "status": "new", "submitted_at": stamp}
        self.orders[seen.body["client_order_id"]] = order
        self.server.script(f"DELETE /v2/orders/{venue_id}", self._cancel)
        return Reply(body=order)

    def _look_up(self, seen: Seen) -> Reply:
        order = self.orders.get(seen.query["client_order_id"])
        absent = {"code": 40410000, "message": "order not found"}
        return Reply(body=order) if order else Reply(status=404, body=absent)

    def _list(self, seen: Seen) -> Reply:
        is_open = seen.query["status"] == "open"
        found = [o for o in self.orders.values() if not is_open or o["status"] == "new"]
        return Reply(body=found)

    def _cancel(self, seen: Seen) -> Reply:
        [order] = [o for o in self.orders.values() if seen.path.endswith(str(o["id"]))]
        if order["status"] != "new":
            return Reply(status=422, body={"code": 42210000, "message": "not cancelable"})
        order["status"] = "canceled"
        return Reply(status=204)
