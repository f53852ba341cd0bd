"""The verbs and their options: the one description that launcher, help and commands share.

Standard library only, so that `./tradewind --help` and a mistyped option answer before anything
is installed. A verb's work stands in the module of `include/cli/` that `VERBS` names.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

Options = Callable[[argparse.ArgumentParser], None]

PROLOGUE = """\
Tradewind trades a paper account with forecasts that are predicted again only when needed.
Two commands need nothing but Python 3.11-3.13:

  ./tradewind cycle     one full trading cycle through Airflow, then its report
  ./tradewind test      the checks and the test suite

The first call installs everything into .venv (about two minutes); state lives in .tradewind."""

EPILOGUE = """\
Exit codes: 0 done, 1 failed, 2 wrong use, 3 refused by a guard.
With --json a verb prints one JSON object on stdout and everything else on stderr.
'./tradewind VERB --help' explains a verb."""


@dataclass(frozen=True, kw_only=True)
class Verb:
    """One word of the command line: its line in the help, what it explains, where it lives."""

    name: str
    line: str
    text: str
    module: str
    options: Options


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="./tradewind",
        description=PROLOGUE,
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        added = verbs.add_parser(
            verb.name,
            help=verb.line,
            description=verb.text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        verb.options(added)
        added.set_defaults(module=verb.module)
    return parser


def instant(text: str) -> datetime:
    """Return the aware instant that RFC 3339 text names; refuse one without an offset."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        message = f"{text!r} is no instant; write it as 2026-11-20T15:00:00Z"
        raise argparse.ArgumentTypeError(message) from error
    if value.tzinfo is None:
        message = f"{text!r} has no time zone; end it with Z for UTC, or with an offset"
        raise argparse.ArgumentTypeError(message)
    return value


def symbols(text: str) -> list[str]:
    """Return the symbols of a comma-separated list, upper case, each once, in their order."""
    found = list(dict.fromkeys(part.strip().upper() for part in text.split(",") if part.strip()))
    wrong = [name for name in found if not name.replace("/", "").replace(".", "").isalnum()]
    if wrong or not found:
        message = f"{text!r} names no symbols; write them as AAPL,BTC/USD"
        raise argparse.ArgumentTypeError(message)
    return found


def clock_speed(text: str) -> float | None:
    """Return the speed of the clock: `real` is 1.0, `stepped` is None, a number is itself."""
    if text in ("real", "stepped"):
        return 1.0 if text == "real" else None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= 100_000:
        message = f"{text!r} is no clock; it is real, stepped or a speed such as 30"
        raise argparse.ArgumentTypeError(message)
    return speed


def port(text: str) -> int:
    """Return a TCP port; 0 asks for any free one."""
    if not text.isdigit() or int(text) > 65_535:
        message = f"{text!r} is no port; it is 0 (any free one) to 65535"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object on stdout, the rest on stderr"
    )


def _cycle(parser: argparse.ArgumentParser) -> None:
    _json(parser)
    parser.add_argument("--dry-run", action="store_true", help="decide, but send no order")
    parser.add_argument("--force", action="store_true", help="predict every symbol again")
    parser.add_argument(
        "--symbols", type=symbols, metavar="A,B", help="these symbols only (default: all)"
    )
    parser.add_argument(
        "--as-of", type=instant, metavar="T", help="step the simulated exchange's clock to T first"
    )


def _exchange(parser: argparse.ArgumentParser) -> None:
    _json(parser)
    parser.add_argument("--port", type=port, default=0, help="port on 127.0.0.1 (default: free)")
    parser.add_argument("--bars", metavar="FILE", help="replay these bars (CSV) instead")
    parser.add_argument(
        "--clock",
        type=clock_speed,
        default=1.0,
        metavar="real|SPEED|stepped",
        help="how fast time passes (default: real)",
    )
    parser.add_argument("--state", metavar="DIR", help="folder that keeps the account")


def _test(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--full", action="store_true", help="also the whole stack through Airflow and a browser"
    )


def _nothing(parser: argparse.ArgumentParser) -> None:
    """Add no option."""


VERBS = (
    Verb(
        name="cycle",
        line="run one trading cycle through Airflow and print its report",
        text="Run one trading cycle and print its report.\n\n"
        "Uses a stack that runs under './tradewind up', or starts and stops its own. Without\n"
        "Alpaca keys the simulated exchange's clock steps to the next decision instant first;\n"
        "with APCA_API_KEY_ID and APCA_API_SECRET_KEY set, the cycle trades that paper account.",
        module="include.cli.cycle",
        options=_cycle,
    ),
    Verb(
        name="up",
        line="run the stack until Ctrl-C; prints the address and the login",
        text="Run database, exchange and Airflow until Ctrl-C.\n\n"
        "Prints Airflow's address and the admin password. The simulated exchange's clock runs 30\n"
        "times faster than real time, and a cycle starts every minute.",
        module="include.cli.up",
        options=_nothing,
    ),
    Verb(
        name="down",
        line="stop a running stack, or what a killed one left behind",
        text="Stop a running stack, or what a killed one left behind.\n\n"
        "Stops only processes that are verified as ours.",
        module="include.cli.down",
        options=_json,
    ),
    Verb(
        name="status",
        line="what runs, and where",
        text="Print which parts run, their addresses and process ids.",
        module="include.cli.status",
        options=_json,
    ),
    Verb(
        name="test",
        line="run the checks and the test suite",
        text="Run ruff, mypy, import-linter and pytest.",
        module="include.cli.suite",
        options=_test,
    ),
    Verb(
        name="doctor",
        line="check the installation, the database, the venue and the clock",
        text="Check every part and say what is wrong and what cures it. What does not run is no\n"
        "fault. Exits with 1 when there is one.",
        module="include.cli.doctor",
        options=_json,
    ),
    Verb(
        name="show-config",
        line="print the settings, secrets masked, and where each comes from",
        text="Print every setting with its origin: environment, tradewind.toml or default.",
        module="include.cli.show_config",
        options=_json,
    ),
    Verb(
        name="clean",
        line="remove .tradewind: the account, its history, the database, the logs",
        text="Remove the state folder. Refuses while the stack runs.",
        module="include.cli.clean",
        options=_json,
    ),
    Verb(
        name="exchange",
        line="run the simulated exchange alone, in the foreground",
        text="Run the simulated exchange in the foreground, until Ctrl-C.\n\n"
        "The first line on stdout is JSON: trading_url, data_url, key_id, secret_key.",
        module="include.cli.exchange",
        options=_exchange,
    ),
)
