"""Read the official tasks, put the addresses of the user's sites into them, and turn each into a sample.

An official task, shortened:

    {"task_id": 118, "sites": ["shopping"], "require_login": true, "storage_state": "./.auth/shopping_state.json",
     "start_url": "__SHOPPING__", "intent": "I have jaw bruxism problem, show me …", "intent_template_id": 151,
     "eval": {"eval_types": ["program_html"], "reference_answers": null, "reference_url": "",
              "program_html": [{"url": "last", "locator": "", "required_contents": {"must_include": ["jaw bruxism"]}}]}}

Source: web-arena-x/webarena, commit f62e0b99bc7d, `config_files/test.raw.json`.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.near import near
from proctor.core.sample import Message, Sample, Turn
from proctor.core.validation import in_words
from proctor_adapters.datasets import fetch
from proctor_benchmarks.webarena import rules

COMMIT = "f62e0b99bc7d"
LICENCE = "Apache-2.0"
SHA256 = "7b50386fd69163dbc05d615d834df4c6ed2c35596e97a1b10d17451c02537652"
PACKAGE = fetch.Package(
    name="libwebarena",
    version="0.0.5",
    file="libwebarena-0.0.5-py3-none-any.whl",
    sha256="5cfdf8abc2b40cc4442905a29af1c45c5fd0ed57bbfe8e3a6421a2e53cb6cb1b",
    member="webarena/test.raw.json",
    member_sha256=SHA256,
    command="proctor data pull webarena",
)
SITES = ("shopping_admin", "shopping", "reddit", "gitlab", "map", "wikipedia", "homepage")  # the longer name first
MOST_BYTES = 50_000_000
_IN_CLONE = ("config_files/test.raw.json", "webarena/test.raw.json")

EvaluationType = Literal["string_match", "url_match", "program_html"]


class PageTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a page that has to hold something."""

    url: str
    locator: str
    required_contents: dict[str, str | list[str]]
    prep_actions: tuple[str, ...] = ()


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """What the task is scored by; the order of `eval_types` and of `reference_answers` is that of the official calls."""

    eval_types: tuple[EvaluationType, ...]
    reference_answers: dict[str, str | list[str]] | None = None
    reference_url: str | None = None
    program_html: tuple[PageTarget, ...] = ()
    string_note: str = ""
    url_note: str = rules.URL_RULE


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """An official task."""

    task_id: int
    sites: tuple[str, ...]
    intent: str
    start_url: str
    evaluation: Evaluation = msgspec.field(name="eval")
    storage_state: str | None = None
    geolocation: dict[str, float] | None = None
    intent_template_id: int | None = None


def locate(data: str | None) -> Path:
    """Return the file of tasks: a file, that of a clone or of an unpacked package, or the one that was fetched.

    Raises:
        BadInput: there is none.
    """
    if data is None:
        return fetch.pull(PACKAGE)
    path = Path(data).expanduser()
    for candidate in (path, *(path / name for name in _IN_CLONE)):
        if candidate.is_file():
            return candidate
    raise BadInput("'{path}' is neither a file of tasks nor a clone of WebArena.", path=data)


def addresses_of(given: Mapping[str, str]) -> dict[str, str]:
    """Return the address of each site that is known: those given, then those of the official environment variables.

    Raises:
        BadInput: an unknown site, or an address that is none.
    """
    for name in given:
        if name not in SITES:
            raise BadInput(
                "WebArena has no site '{name}'. Did you mean '{near}'? Known: {known}.",
                name=name,
                near=next(iter(near(name, SITES)), SITES[0]),
                known=", ".join(SITES),
            )
    for name, address in given.items():
        if not address.startswith(("http://", "https://")):
            raise BadInput("The address of {name} begins with http:// or https://, unlike '{url}'.", name=name, url=address)  # fmt: skip
    set_elsewhere = {name: value for name in SITES if (value := os.environ.get(name.upper(), "")).startswith("http")}
    return {name: address.rstrip("/") for name, address in {**set_elsewhere, **given}.items()}


def read(path: Path, addresses: Mapping[str, str]) -> list[Config]:
    """Read the tasks of a file, with the addresses in the slots of the sites; a slot without one stays.

    Raises:
        BadInput: the file cannot be read, or a task cannot be scored by the official rules; names the task.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInput("{path} is larger than {count} bytes.", path=path, count=MOST_BYTES)
        text = path.read_text(encoding="utf-8")
        for name in SITES:
            if name in addresses:
                text = text.replace(f"__{name.upper()}__", msgspec.json.encode(addresses[name]).decode()[1:-1])
        raw = msgspec.json.decode(text)
        configs = msgspec.convert(raw if isinstance(raw, list) else [raw], list[Config])
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput("{path} is no file of tasks: {error}.", path=path, error=error) from None
    seen: set[int] = set()
    for config in configs:
        if problem := "its number is not the only one" if config.task_id in seen else _problem(config.evaluation):
            raise BadInput("{path}: task {id} cannot be scored: {problem}.", path=path, id=config.task_id, problem=problem)  # fmt: skip
        seen.add(config.task_id)
    return configs


def _problem(evaluation: Evaluation) -> str:
    """Return why a task cannot be scored; '' if it can."""
    answers = evaluation.reference_answers
    if "string_match" in evaluation.eval_types:
        if answers is None:
            return "string_match without reference_answers"
        for approach, value in answers.items():
            is_text = isinstance(value, str)
            if approach == "fuzzy_match":
                wrong = is_text and value != rules.UNACHIEVABLE
            else:
                # an unknown approach counts for nothing, as officially
                wrong = is_text is not (approach == "exact_match")
            if approach in ("exact_match", "must_include", "fuzzy_match") and wrong:
                return f"{approach}: {value!r}"
    if "url_match" in evaluation.eval_types and evaluation.reference_url is None:
        return "url_match without reference_url"
    if evaluation.url_note != rules.URL_RULE:
        return f"url_note: {evaluation.url_note}"
    for target in evaluation.program_html if "program_html" in evaluation.eval_types else ():
        if not rules.is_locator(target.locator):
            return f"locator: {target.locator}"
        required = target.required_contents
        if not isinstance(required.get("exact_match", ""), str) or not isinstance(required.get("must_include", []), list) or not {"exact_match", "must_include"} & set(required):  # fmt: skip
            return f"required_contents: {required}"
    return ""


def chosen(configs: Sequence[Config], wanted: str | Sequence[str] | None = None) -> list[Config]:
    """Return the tasks on some sites; all when None.

    Raises:
        BadInput: no task is on such a site.
    """
    known = sorted({site for config in configs for site in config.sites})
    names = [name.strip() for name in (wanted.split(",") if isinstance(wanted, str) else wanted or ())]
    for name in names:
        if name not in known:
            raise BadInput(
                "No task of WebArena is on the site '{name}'. Known: {known}.", name=name, known=", ".join(known)
            )
    return [config for config in configs if not names or set(names) & set(config.sites)]


def sample_of(config: Config, instruction: str = "") -> Sample:
    """Return the sample of a task; an agent with a browser is given an instruction too."""
    template = config.intent_template_id
    before = (Message.of("system", instruction),) if instruction else ()
    return Sample(
        id=str(config.task_id),
        turns=(Turn(messages=(*before, Message.of("user", config.intent))),),
        cluster=None if template is None else f"template {template}",
        tags={
            "site": "+".join(sorted(config.sites)),
            "evaluation": "+".join(config.evaluation.eval_types),
        },
        meta={"webarena": msgspec.to_builtins(config)},
    )


def config_of(sample: Sample) -> Config | None:
    """Return the task of a sample; None for one of another benchmark."""
    raw: object = sample.meta.get("webarena")
    return None if raw is None else msgspec.convert(raw, Config)
