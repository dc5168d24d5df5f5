"""The examples in docstrings. Those of one module: `pytest --doctest-modules packages/proctor/src/proctor/stats/rate.py`."""

import doctest
import importlib
import re
from itertools import groupby

import pytest

from sources import modules

WITH_EXAMPLES = [
    name for name, path in modules() if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]
ROOMS = {room: list(names) for room, names in groupby(WITH_EXAMPLES, lambda name: ".".join(name.split(".")[:2]))}


@pytest.mark.parametrize("room", ROOMS)
def test_examples_give_what_they_show(room: str) -> None:
    written: list[str] = []
    tried = 0
    for name in ROOMS[room]:
        runner = doctest.DocTestRunner()
        for test in doctest.DocTestFinder().find(importlib.import_module(name)):
            runner.run(test, out=written.append)
        assert not runner.failures, "".join(written)
        tried += runner.tries
    assert tried
