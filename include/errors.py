"""Every exception of Tradewind, so that a caller can choose how broadly to catch.

Constructors take values; the class builds the sentence: what was asked, what was found, the
bound, the cure. `Transient` and `Permanent` decide retrying, in Airflow's retry policy alone.
Standard library only: DAG files name these classes by dotted path.

TradewindError
├─ ConfigurationError            settings missing or contradictory                    permanent
│   ├─ LiveTradingForbidden      the URL is neither the paper service nor loopback    permanent
│   └─ InstallationFault         a part of this machine's set-up does not work        permanent
├─ MarketDataError
│   ├─ MarketDataUnavailable     transport, rate limit, 5xx                           transient
│   ├─ MarketDataRefused         the data service said no, in its own text            permanent
│   ├─ StaleBars                 newest bar older than allowed                        transient
│   └─ MalformedBars             gap, NaN, high < low, out of order                   permanent
├─ ForecastError
│   ├─ CheckpointMismatch        weights don't fit the configuration                  permanent
│   ├─ ContextTooShort           fewer bars than the model needs                      permanent
│   └─ NonFiniteForecast         NaN or infinity came out                             permanent
├─ StrategyError
│   ├─ UnknownParameter          with "did you mean"                                  permanent
│   └─ NoFeasibleTrial           no trial met the constraints                         permanent
├─ BrokerError
│   ├─ BrokerUnavailable         transport, rate limit, 5xx                           transient
│   ├─ BrokerRefused             the venue said no to a question, in its own text     permanent
│   ├─ OrderRejected             the venue said no to an order; carries its text      permanent
│   └─ OrderStateUnknown         sent, no answer: look up by client order id          transient
├─ StoreError
│   ├─ StoreUnavailable          connection lost                                      transient
│   ├─ UnknownRow                asked for by a key that nothing has                  permanent
│   └─ ConflictingWrite          the same key with other content                      permanent
├─ CycleError
│   ├─ UnreconciledAccount       journal and venue can't be brought into agreement    permanent
│   └─ ReplayOver                the venue replays no further; how to start over      permanent
├─ StackError
│   ├─ PartFailed                a process of the stack ended or never answered       permanent
│   └─ StackBusy                 another command holds the stack                      permanent
└─ ExchangeError                 the simulation itself failed
    ├─ MalformedReplay           bars that can't be replayed                          permanent
    └─ ReplayExhausted           the clock was moved past the last bar                permanent
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from difflib import get_close_matches


class Transient(Exception):
    """Marks what may succeed when the same step runs again."""


class Permanent(Exception):
    """Marks what stays wrong until a person or a setting changes it."""


class TradewindError(Exception):
    """The root: whatever Tradewind raises on purpose."""


def _instant(value: datetime) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S} UTC"


class ConfigurationError(Permanent, TradewindError):
    """Settings are missing or contradict one another."""


class LiveTradingForbidden(ConfigurationError):
    """The address or the key belongs to a live account."""

    def __init__(self, *, what: str, found: str) -> None:
        super().__init__(
            f"{what} was {found}; only Alpaca's paper service "
            "(https://paper-api.alpaca.markets, keys that begin with PK) or a loopback "
            "address is allowed. Tradewind trades paper accounts only; no call was made."
        )


class InstallationFault(ConfigurationError):
    """A part of this machine's set-up does not work."""

    def __init__(self, *, part: str, found: str, cure: str) -> None:
        super().__init__(f"{part}: {found}. {cure}")


class MarketDataError(TradewindError):
    """Bars or quotes could not be had, or can't be used."""


class MarketDataUnavailable(Transient, MarketDataError):
    """The data service did not answer, or answered that it could not."""

    def __init__(self, *, asked: str, found: str) -> None:
        super().__init__(
            f"Market data asked for {asked}: the answer was {found}. Check the venue's address "
            "and status; the next run asks again from the newest stored bar."
        )


class MarketDataRefused(Permanent, MarketDataError):
    """The data service said no to a question."""

    def __init__(self, *, asked: str, status: int, text: str) -> None:
        self.status = status
        super().__init__(
            f"The data service refused {asked} with {status}: {text}. "
            "Check the keys, the address and what the data plan allows."
        )


class StaleBars(Transient, MarketDataError):
    """The newest bar is older than allowed."""

    def __init__(
        self, *, symbol: str, newest_end: datetime, as_of: datetime, limit: timedelta
    ) -> None:
        super().__init__(
            f"Newest {symbol} bar ends {_instant(newest_end)}, which is {as_of - newest_end} "
            f"before {_instant(as_of)}; at most {limit} is allowed. Check the fetch task of "
            "this run."
        )


class MalformedBars(Permanent, MarketDataError):
    """Bars that contradict themselves."""

    def __init__(self, *, symbol: str, fault: str, at: str) -> None:
        super().__init__(
            f"Bars of {symbol} can't be used: {fault} at {at}. The symbol is refused until the "
            "data is right."
        )


class ForecastError(TradewindError):
    """A forecast could not be made."""


class CheckpointMismatch(Permanent, ForecastError):
    """Weights and configuration don't belong together."""

    def __init__(self, *, path: str, fault: str) -> None:
        super().__init__(
            f"Checkpoint {path} can't be used: {fault}. Give a folder that holds a matching pair."
        )


class ContextTooShort(Permanent, ForecastError):
    """Fewer bars than the model needs."""

    def __init__(self, *, symbol: str, found: int, needed: int) -> None:
        super().__init__(
            f"Context of {symbol} was {found} bars; at least {needed} are needed. Fetch more "
            "history or choose another model."
        )


class NonFiniteForecast(Permanent, ForecastError):
    """NaN or infinity came out of a model."""

    def __init__(self, *, symbol: str, model: str) -> None:
        super().__init__(
            f"Forecast of {symbol} by {model} held NaN or infinity; nothing was stored. Check "
            "its context and checkpoint."
        )


class StrategyError(TradewindError):
    """A strategy or the search over its parameters failed."""


class UnknownParameter(Permanent, StrategyError):
    """A name that nothing has, with the nearest that something has."""

    def __init__(self, *, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        super().__init__(
            f"{kind} was {name!r}, which is not known.{hint} Known: {', '.join(names)}."
        )


class NoFeasibleTrial(Permanent, StrategyError):
    """No trial met the constraints."""

    def __init__(self, *, symbol: str, strategy: str, windows: int, needed: int) -> None:
        super().__init__(
            f"No trial of {strategy} for {symbol} was possible on {windows} windows; at least "
            f"{needed} are needed."
        )


class BrokerError(TradewindError):
    """The venue's trading side failed or said no."""


class BrokerUnavailable(Transient, BrokerError):
    """The venue did not answer, or answered that it could not."""

    def __init__(self, *, asked: str, found: str) -> None:
        super().__init__(
            f"The venue was asked for {asked}: the answer was {found}. Nothing was changed; "
            "the next run asks again."
        )


class BrokerRefused(Permanent, BrokerError):
    """The venue said no to a question."""

    def __init__(self, *, asked: str, status: int, text: str) -> None:
        self.status = status
        super().__init__(
            f"The venue refused {asked} with {status}: {text}. Check the keys and the address."
        )


class OrderRejected(Permanent, BrokerError):
    """The venue said no to an order, in its own text."""

    def __init__(self, *, client_order_id: str, status: int, code: int | None, text: str) -> None:
        self.status = status
        self.code = code
        self.text = text
        super().__init__(
            f"Order {client_order_id} was rejected with {status} (code {code}): {text}."
        )


class OrderStateUnknown(Transient, BrokerError):
    """An order was sent and no answer came that settles it."""

    def __init__(self, *, client_order_id: str, found: str) -> None:
        self.found = found
        super().__init__(
            f"Order {client_order_id} was sent and the answer was {found}; whether the venue "
            "has it is unknown. It is looked up by this id before anything else is sent."
        )


class StoreError(TradewindError):
    """The database failed or refused."""


class StoreUnavailable(Transient, StoreError):
    """The database can't be reached or the connection was lost."""

    def __init__(self, *, url: str, found: str) -> None:
        super().__init__(
            f"The database {url} did not answer: {found}. Start it, or set "
            "TRADEWIND_DATABASE_URL; nothing was lost that was acknowledged."
        )


class UnknownRow(Permanent, StoreError):
    """A key that nothing has."""

    def __init__(self, *, kind: str, key: str) -> None:
        super().__init__(
            f"No {kind} has the key {key}. It was never stored, or retention removed it."
        )


class ConflictingWrite(Permanent, StoreError):
    """The same key with other content."""

    def __init__(self, *, kind: str, key: str, difference: str) -> None:
        super().__init__(
            f"{kind} {key} is stored already with other content: {difference}. The stored row "
            "was kept; the same key must always have the same content."
        )


class CycleError(TradewindError):
    """A cycle can't go on."""


class UnreconciledAccount(Permanent, CycleError):
    """Journal and venue can't be brought into agreement."""

    def __init__(self, *, difference: str) -> None:
        super().__init__(
            f"Journal and venue disagree: {difference}. No decision was made; look at the "
            "account and run the cycle again."
        )


class ReplayOver(Permanent, CycleError):
    """The simulated exchange has no bars left."""

    def __init__(self, *, last: datetime) -> None:
        super().__init__(
            f"The simulated exchange has replayed its last bar ({_instant(last)}); the market "
            "stays closed. Run './tradewind clean' to remove the account and its history, "
            "then './tradewind cycle' to start over."
        )


class StackError(TradewindError):
    """The processes of this machine failed."""


class PartFailed(Permanent, StackError):
    """A process of the stack ended, or never answered."""

    def __init__(self, *, part: str, found: str, log: str) -> None:
        super().__init__(
            f"{part} {found}. Its log is {log}; './tradewind doctor' checks every part."
        )


class StackBusy(Permanent, StackError):
    """Another command holds the stack."""

    def __init__(self, *, holder: str, asked: str) -> None:
        super().__init__(f"{asked} has to wait: {holder}. Try again when it is done.")


class ExchangeError(TradewindError):
    """The simulation of the venue failed."""


class MalformedReplay(Permanent, ExchangeError):
    """Bars that can't be replayed."""

    def __init__(self, *, source: str, row: int, fault: str) -> None:
        super().__init__(f"{source}, row {row}: {fault}. Correct the file; nothing was replayed.")


class ReplayExhausted(Permanent, ExchangeError):
    """The clock was moved past the last bar."""

    def __init__(self, *, asked: datetime, last: datetime) -> None:
        super().__init__(
            f"The clock was asked to move to {_instant(asked)}; the replay ends at "
            f"{_instant(last)}. Start over with a new state folder."
        )
