"""The reference of the Python API is what the docstrings say."""

from inspect import getdoc

import api_reference
import pages
import pytest

import proctor


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_is_made_from_the_docstrings(lang: str, request: pytest.FixtureRequest) -> None:
    path = api_reference.PAGE if lang == "en" else pages.chinese_page(api_reference.PAGE)
    text = api_reference.page(lang)
    if request.config.getoption("--rewrite-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "run `make golden`"


def test_every_public_name_is_on_it() -> None:
    shown = {name for names in api_reference.GROUPS.values() for name in names}
    assert {*proctor.__all__} <= shown


def test_every_public_name_has_a_docstring() -> None:
    for name in proctor.__all__:
        assert getdoc(getattr(proctor, name)), name
