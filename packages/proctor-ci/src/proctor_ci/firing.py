"""Run a watch once, in a process of its own: with the code of the agent as it is now, and so that nothing of it stays.

The process runs this module: it reads an order from its standard input, and writes a report. When the input ends, as the one
who gave the order has ended, it stops as at Ctrl-C; what was finished is kept.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection

import msgspec

from proctor.core.errors import ProctorError
from proctor.core.sentence import Sentence, say
from proctor_ci.gate import Decision
from proctor_ci.watch_file import WatchRule

GRACE_SECONDS = 60.0  # for what is in flight, once the order is withdrawn


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to run: trials since `began` belong to it already, as it was cut off."""

    watch: WatchRule
    store: str
    began: float


class Fired(msgspec.Struct, frozen=True, kw_only=True):
    """The report: the runs with the decisions of their gates, those of the controls, and why it failed."""

    runs: tuple[str, ...] = ()
    decisions: tuple[Decision | None, ...] = ()
    controls: tuple[str, ...] = ()
    left_out: int = 0
    error: Sentence | None = None
    stopped: bool = False


class Child:
    """The process of an order."""

    def __init__(self, order: Order, *, hidden: Collection[str] = (), inherited: int | None = None) -> None:
        """Start it.

        Args:
            hidden: environment variables that it must not see.
            inherited: a descriptor that it keeps open, so that a lock is held until it ends.
        """
        passed = () if inherited is None or sys.platform == "win32" else (inherited,)
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        self._process = subprocess.Popen(  # noqa: S603 - this module
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            pass_fds=passed,
            start_new_session=True,  # Ctrl-C reaches it once, by the end of its input
        )
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        self._process.stdin.flush()

    def wait(self) -> Fired:
        assert self._process.stdout is not None
        answer = self._process.stdout.read()
        code = self._process.wait()
        try:
            return msgspec.json.decode(answer, type=Fired)
        except msgspec.DecodeError:
            return Fired(error=say("its process ended with code {code} and no report", code=code))

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()


def main() -> None:
    """Carry out the order on the standard input."""
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=Order)
    answer, sys.stdout = sys.stdout, sys.stderr  # what an agent prints is no report
    threading.Thread(target=_stop_with_input, daemon=True).start()
    answer.buffer.write(msgspec.json.encode(_carry_out(order), enc_hook=str))
    answer.buffer.flush()
    os._exit(0)  # whatever threads an agent left


def _stop_with_input() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)


def _carry_out(order: Order) -> Fired:
    from proctor.api import RunOptions, Stopped, run_task
    from proctor.config import settings
    from proctor_ci.tiers import run_tier

    watch = order.watch
    runs: tuple[str, ...] = ()
    decisions: tuple[Decision | None, ...] = ()
    left_out = 0
    try:
        tier = watch.find_tier()
        hours = max(time.time() - order.began, 0.0) / 3600
        result = run_tier(msgspec.structs.replace(tier, reuse_hours=hours), watch.agent, store=order.store)
        runs = tuple(run.id for run in result.runs)
        decisions = tuple(None if gate is None else gate.decision for gate in result.gates)
        left_out = len(result.left_out)
        controls: tuple[str, ...] = ()
        if watch.controls:
            task = tier.tasks[0]
            usual = RunOptions.usual(settings()).changed({"options": task.options or None, "tags": task.tags or None})
            options = msgspec.structs.replace(
                usual,
                agent=None,
                replies=watch.controls,
                store=order.store,
                agent_options={},
                attempts=None,
                limit=None,
            )
            controls = (run_task(task.task, options).id,)
    except Stopped:
        return Fired(runs=runs, stopped=True)
    except ProctorError as error:
        return Fired(runs=runs, decisions=decisions, left_out=left_out, error=error.sentence)
    except Exception as error:  # noqa: BLE001 - the watch goes on, and says what happened
        text = say("{kind}: {error}", kind=type(error).__name__, error=str(error)[:500])
        return Fired(runs=runs, decisions=decisions, left_out=left_out, error=text)
    return Fired(runs=runs, decisions=decisions, controls=controls, left_out=left_out)


if __name__ == "__main__":
    main()
