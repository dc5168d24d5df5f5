"""Read the form of a new run, and fill it in."""

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import asdict

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.core.validation import in_words
from proctor_ci.request import RunRequest
from proctor_web.runs.choices import Fields
from proctor_web.runs.options import value_of, values
from proctor_web.workspace import Workspace

UNSEEN = ("environment", "environment_options", "judge_options", "user_options", "target", "max_failed")
"""What a copied run brings along that the form does not show."""
_LISTS = ("ids", "scorers")
MOST_REFUSALS = 100


class RefusedForm(NamedTuple):
    """A form as it was filled in, and why no run was started."""

    draft: RunRequest
    why: Sentence


class Refusals:
    """The last refused forms: their page has an address of its own, which can be loaded again: `workspace.kept(Refusals)`."""

    def __init__(self, _: Workspace) -> None:
        self._by_key: dict[str, RefusedForm] = {}

    def keep(self, refusal: RefusedForm) -> str:
        for oldest in [*self._by_key][: 1 - MOST_REFUSALS]:
            self._by_key.pop(oldest, None)
        key = secrets.token_urlsafe(12)
        self._by_key[key] = refusal
        return key

    def find(self, key: str) -> RefusedForm | None:
        """Return what was kept under a key; None for another, and one that is long ago."""
        return self._by_key.get(key)


def request_of(form: Mapping[str, str], fields: Fields) -> RunRequest:
    """Return what a form asks for.

    Raises:
        BadInput: a field that cannot be read; names it.
    """
    given: dict[str, Any] = _unseen(form.get("rest", ""))
    for name in RunRequest.__struct_fields__:
        if text := form.get(name, "").strip():
            given[name] = text
    given |= {name: _lines(form.get(name, "")) for name in _LISTS}
    given["tags"] = _pairs(form.get("tags", ""))
    budget = {name.partition(".")[2]: text for name, text in form.items() if name.startswith("budget.") and text}
    given["budget"] = budget
    for group, known in (("task", fields.task), ("agent", fields.agent)):
        filled = {name.partition(".")[2]: text for name, text in form.items() if name.startswith(f"{group}.")}
        more = {name: value_of(text) for name, text in _pairs(form.get(f"{group}_more", "")).items()}
        given[f"{group}_options"] = {**more, **values(known, filled)}
    try:
        return msgspec.convert(given, RunRequest, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput("The form cannot be read: {error}.", error=in_words(error)) from None


def draft_of(form: Mapping[str, str], fields: Fields) -> RunRequest:
    """Return what a form asks for so far, without what cannot be read: to show it again."""
    readable = {"task": "", "agent": "", **form}
    for name, text in form.items():
        if name in _NUMBERS or name.startswith("budget."):
            readable[name] = text if _is_number(text, name) else ""
        elif name in _PAIRS:
            readable[name] = "\n".join(line for line in _lines(text) if "=" in line.lstrip("="))
    try:
        return request_of(readable, fields)
    except BadInput:  # a choice that is none
        return RunRequest(task=form.get("task", ""), agent=form.get("agent", ""))


def rest_of(request: RunRequest) -> str:
    """Return the part of a request that the form does not show, for its hidden field."""
    usual = RunRequest(task="", agent="")
    rest = {name: value for name, value in asdict(request).items() if name in UNSEEN and value != getattr(usual, name)}
    return msgspec.json.encode(rest).decode() if rest else ""


_PAIRS = ("tags", "task_more", "agent_more")
_NUMBERS = ("limit", "first", "attempts", "concurrency", "workers", "seed", "seconds")


def _is_number(text: str, name: str) -> bool:
    try:
        return float(text) > 0 or name == "seed"
    except ValueError:
        return False


def _unseen(text: str) -> dict[str, object]:
    try:
        rest = msgspec.json.decode(text or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        return {}
    return {name: value for name, value in rest.items() if name in UNSEEN}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    for line in _lines(text):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise BadInput("Write name=value, not '{text}'.", text=line)
        pairs[name.strip()] = value.strip()
    return pairs
