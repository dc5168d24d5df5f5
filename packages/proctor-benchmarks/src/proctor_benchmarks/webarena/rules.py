"""The official rules: when an answer, an address or a part of a page is the expected one.

What looks odd is kept for parity: the answer is cleaned twice and the reference once, one pair of quotes each; an address matches
where an expected one is anywhere in it; values of several expected addresses mix.

Source: web-arena-x/webarena, commit f62e0b99bc7d, `evaluation_harness/evaluators.py`, `helper_functions.py`.
"""

import ast
import html
from collections import defaultdict
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlparse

from proctor_benchmarks.webarena.words import words_of

URL_RULE = "GOLD in PRED"
UNACHIEVABLE = "N/A"
LAST, LAST_URL = "last", "__last_url__"
LATEST_ORDER, POST = "shopping_get_latest_order_url", "reddit_get_post_url"
ROLE = "gitlab_get_project_memeber_role"
AUTHOR, RATING = "shopping_get_sku_latest_review_author", "shopping_get_sku_latest_review_rating"
_OR = " |OR| "
_FUNCTION = "func:"
_SCRIPTS = ("document.", "[...document.")


class Broken(Exception):
    """The official evaluation raises here, which ends the official run of the task without a score.

    Attributes:
        kind: the type of what it raises.
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def clean(text: str) -> str:
    """Return the text without whitespace around it, without one pair of quotes, in lower case.

    >>> clean(" 'Sprite' "), clean('"'), clean("' x '")
    ('sprite', '', ' x ')
    """
    text = text.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            text = text[1:-1]
            break
    return text.lower()


def is_exactly(reference: str, text: str) -> bool:
    """True if both are the same when cleaned."""
    return clean(text) == clean(reference)


def includes(reference: str, text: str, *, alone: bool = False) -> bool:
    """True if the text holds the reference; as a whole word if it is one character and there is no other reference.

    >>> includes("10", "in 2010"), includes("6", "it is $6.", alone=True), includes("6", "16", alone=True)
    (True, True, False)
    """
    reference, text = clean(reference), clean(text)
    if alone and len(reference) == 1 and len(words_of(reference)) == 1:
        return reference in text and reference in words_of(text)
    return reference in text


def is_expected_url(url: str, references: str) -> bool:
    """True if host and path of an expected address are in those of the URL, and each key of any query has an expected value.

    Raises:
        Broken: an address cannot be read.
    """
    try:
        base, query = _split(url)
        expected = [_split(reference) for reference in references.split(_OR)]
    except ValueError as error:
        raise Broken("ValueError", str(error)) from None
    values: dict[str, set[str]] = defaultdict(set)
    for _, asked in expected:
        for key, several in asked.items():
            values[key].update(several)
    return any(reference in base for reference, _ in expected) and all(several & {*query.get(key, ())} for key, several in values.items())  # fmt: skip


def _split(url: str) -> tuple[str, dict[str, list[str]]]:
    parsed = urlparse(url.rstrip("/"))
    return parsed.netloc + parsed.path, parse_qs(parsed.query)


def holds(required: Mapping[str, str | Sequence[str]], content: str) -> bool:
    """True if a part of a page meets its requirement; an exact match takes precedence over other rules."""
    content = html.unescape(content)
    exact, several = required.get("exact_match"), required.get("must_include", ())
    if isinstance(exact, str):
        return is_exactly(exact, content)
    return all(any(includes(phrase, content) for phrase in entry.split(_OR)) for entry in several)


def is_script(locator: str) -> bool:
    """True for a locator that is JavaScript."""
    return locator.startswith(_SCRIPTS)


def is_locator(locator: str) -> bool:
    """True for a locator that the official evaluator knows."""
    if not locator.strip() or is_script(locator):
        return True
    name, texts = helper_call(locator) or ("", ())
    return name in (ROLE, AUTHOR, RATING) and len(texts) == 1


def content_of(locator: str, value: object) -> str:
    """Return what counts as the content, from what the page returned.

    Raises:
        Broken: there is no text where there has to be one.
    """
    if is_script(locator):
        return str(value)
    if not isinstance(value, str):
        raise Broken("TypeError", f"no text but {value!r}")
    return value


def helper_call(text: str) -> tuple[str, Sequence[str]] | None:
    """Return name and texts of the call in `func:NAME('text', …)`, which is read and never run; None for anything else.

    >>> helper_call("func:role(__page__, 'vinta')")
    ('role', ('vinta',))
    """
    if not text.startswith(_FUNCTION):
        return None
    try:
        call = ast.parse(text.split(_FUNCTION)[1].strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        return None
    texts = [
        argument.value
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    rest = [argument for argument in call.args if not isinstance(argument, ast.Constant)]
    if any(not isinstance(one, ast.Name) or one.id != "__page__" for one in rest):
        return None
    return call.func.id, tuple(texts)


def page_to_open(target_url: str, last_url: str, latest_order: str = "") -> str | None:
    """Return the address of the page to check; None for the page that the agent left open.

    Args:
        latest_order: the address of the newest order in the shop, for targets that ask for it.

    Raises:
        Broken: a function that the official evaluator does not have.
    """
    if not target_url.startswith("func"):
        return None if target_url == LAST else target_url
    name, texts = helper_call(target_url.replace(LAST_URL, last_url)) or ("", ())
    if name == POST and len(texts) == 1:
        return post_url(texts[0])
    if name == LATEST_ORDER and not texts:
        return latest_order
    raise Broken("NameError", target_url)


def post_url(url: str) -> str:
    """Return the address of the post that a page of the forum belongs to; any other address unchanged.

    >>> post_url("http://forum.test/f/books/59421/a-title/-/comment/1")
    'http://forum.test/f/books/59421/'
    """
    parsed = urlparse(url)
    parts = parsed.path.split("/")
    if len(parts) < 4 or parts[1] != "f":
        return url
    return f"{parsed.scheme}://{parsed.netloc}/f/{parts[2]}/{parts[3]}/"
