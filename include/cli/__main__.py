"""The border of the command line: parse, call the verb, turn what happened into an exit code.

The one place that catches everything: an expected error is its sentence, an unexpected one a
sentence and a file that holds the traceback.
"""

import argparse
import signal
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from types import FrameType

from include.cli.exits import Exit, WrongUse, exit_of
from include.cli.output import say, show_json
from include.cli.parser import build_parser
from include.errors import TradewindError


def main(arguments: Sequence[str]) -> int:
    """Run the verb that the arguments name and return its exit code."""
    parsed = build_parser().parse_args(arguments)
    _stop_on_signals()
    try:
        return int(import_module(parsed.module).run(parsed))
    except WrongUse as error:
        return _failed(parsed, str(error), Exit.WRONG_USE)
    except TradewindError as error:
        return _failed(parsed, str(error), exit_of(error))
    except KeyboardInterrupt:
        return _failed(parsed, f"{parsed.verb} was interrupted; it is stopped.", Exit.FAILED)
    except BrokenPipeError:
        return Exit.FAILED
    except Exception as error:  # noqa: BLE001  # the border: reports and exits
        return _failed(parsed, _unexpected(error), Exit.FAILED)


def _failed(parsed: argparse.Namespace, sentence: str, code: Exit) -> int:
    say(sentence)
    if getattr(parsed, "json", False):
        show_json({"state": "refused" if code is Exit.REFUSED else "failed", "error": sentence})
    return code


def _unexpected(error: Exception) -> str:
    from include.stack.state import find_state

    log = find_state().log(f"unexpected-{datetime.now(UTC):%Y%m%dT%H%M%S}")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    return f"Unexpected {type(error).__name__}: {error}. The traceback is in {log}."


def _stop_on_signals() -> None:
    """Let every request to end run the same clean-up; what nohup ignores stays ignored."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, _interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
