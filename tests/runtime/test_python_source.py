"""Python sources of others: their literals are read, nothing of them is run, and what cannot be read is named."""

from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor_judging.replies.python_source import constants


def test_constants_of_a_module_are_read_and_nothing_of_it_is_run(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    source = "import os\nos.abort()\nSHOTS: list = ['a']\nmade = len(SHOTS)\nTEXT = f'b' 'c'\nodd = {[]: 1}\nFIELD = f'{made}'\n"
    path.write_text(source, encoding="utf-8")
    assert constants(path) == {"SHOTS": ["a"], "TEXT": "bc"}


@pytest.mark.parametrize(
    "source", [b"def", b"a = '\x00'", b"\xff", b"a = " + b"(" * 5_000, b"a = " + b"-" * 200_000 + b"1"]
)
def test_what_is_no_python_is_named(tmp_path: Path, source: bytes) -> None:
    path = tmp_path / "module.py"
    path.write_bytes(source)
    with pytest.raises(BadInput, match=r"module\.py cannot be read"):
        constants(path)
