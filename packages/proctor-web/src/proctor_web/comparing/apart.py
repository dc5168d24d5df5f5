"""Compute in a process of its own what would take the server's memory and slow its other pages.

The process runs this module: it reads a pickled function from its standard input, and writes what that returned or raised.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

from proctor.core.errors import BadInput
from proctor_web.workspace import Found

T = TypeVar("T")
NICER = 10


class RunAddress(NamedTuple):
    """The store and id by which another process opens a run."""

    url: str
    run_id: str
    reference: str


class Process:
    """A process that computes one thing."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", __name__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - this module

    def compute(self, runs: Sequence[Found], make: Callable[[Sequence[Found]], T]) -> T:
        """Return what `make`, a function of a module, returns for these runs.

        Raises:
            BadInput: `make` raised it, or the process ended before it was done.
        """
        places = [RunAddress(run.store.url, run.record.id, run.reference) for run in runs]
        answer, _ = self._process.communicate(pickle.dumps((places, make)))
        if not answer:
            raise BadInput("The process that read these runs ended early; they may need more memory than there is.")
        kind, value = pickle.loads(answer)  # noqa: S301 - of our own process
        if kind == "refused":
            raise BadInput(value)
        if kind == "failed":
            raise value
        answered: T = value  # of `make`
        return answered

    def close(self) -> None:
        self._process.kill()


def main() -> None:
    from proctor.stores import open_store

    with suppress(OSError):
        os.nice(NICER)
    places, make = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the server
    try:
        stores = {address.url: open_store(address.url) for address in places}
        runs = [
            Found(stores[address.url], stores[address.url].run(address.run_id), address.reference) for address in places
        ]
        answer = pickle.dumps(("made", make(runs)))
    except BadInput as error:
        answer = pickle.dumps(("refused", error.sentence))  # an exception loses it on the way
    except Exception as error:  # noqa: BLE001 - it is raised in the server
        answer = pickle.dumps(("failed", error))
    sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    main()
