"""Replies that are nearly JSON."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.transport.repair import repaired, strict

json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(json_values)
def test_whatever_a_lenient_server_sends_can_be_read_strictly(value: Any) -> None:
    msgspec.json.decode(repaired(json.dumps(value).encode()))


@given(json_values)
def test_whatever_is_asked_can_be_sent(value: Any) -> None:
    msgspec.json.encode(strict(value))


@pytest.mark.parametrize("content", [b"", b"{", b"<html>", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_a_value_error(content: bytes) -> None:
    with pytest.raises(ValueError):
        repaired(content)


def test_a_charset_is_used_and_an_unknown_one_ignored() -> None:
    assert repaired('"中文"'.encode("gb18030"), "gb18030") == '"中文"'.encode()
    assert repaired('"中文"'.encode(), "klingon") == '"中文"'.encode()
