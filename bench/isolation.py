"""What a call in a worker process costs, beside a bare pipe to the same interpreter."""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, in_turn, seconds_of

CALLS = 2_000
PROGRAM = "def add(one, other):\n    return one + other\n"
BARE = f"""
import json, sys
{PROGRAM}
for line in sys.stdin.buffer:
    request = json.loads(line)
    print(json.dumps({{"id": request["id"], "value": add(**request["with"])}}), flush=True)
"""
REQUEST = {"id": 1, "call": "add", "with": {"one": 1, "other": 2}}


def measure() -> Iterator[Figure]:
    """One call after the other, 64 tasks at once, and the start of a worker."""
    from proctor.isolation import Workers

    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        program = Path(folder, "program.py")
        program.write_text(PROGRAM, encoding="utf-8")
        workers = Workers(program, size=1)

        async def calls(tasks: int) -> None:
            async def work() -> None:
                for _ in range(CALLS // tasks):
                    assert await workers.run("add", one=1, other=2) == 3

            async with asyncio.TaskGroup() as group:
                for _ in range(tasks):
                    group.create_task(work())

        async def start() -> None:
            async with Workers(program, size=1) as fresh:
                assert await fresh.run("add", one=1, other=2) == 3

        runner.run(workers.__aenter__())
        try:
            with subprocess.Popen(
                [sys.executable, "-S", "-c", BARE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            ) as child:
                bare, one, many = in_turn(
                    lambda: seconds_of(lambda: _bare(child)),
                    lambda: seconds_of(lambda: runner.run(calls(1))),
                    lambda: seconds_of(lambda: runner.run(calls(64))),
                )
                assert child.stdin is not None
                child.stdin.close()
        finally:
            runner.run(workers.__aexit__(None, None, None))
        yield Figure(what="a call in a worker, of a bare pipe's round trip", value=one / bare, at_most=4)
        yield Figure(what="the same, 64 tasks at once", value=many / bare, at_most=4)
        yield Figure(what="overhead of a call", value=(one - bare) / CALLS * 1e3, unit="ms", at_most=0.15)
        empty, started = in_turn(
            lambda: seconds_of(lambda: subprocess.run([sys.executable, "-S", "-c", ""], check=True)),
            lambda: seconds_of(lambda: runner.run(start())),
        )
        yield Figure(
            what="start, one call and end of a worker, of an empty interpreter", value=started / empty, at_most=8
        )


def _bare(child: "subprocess.Popen[bytes]") -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    line = json.dumps(REQUEST).encode() + b"\n"
    for _ in range(CALLS):
        child.stdin.write(line)
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["value"] == 3
