"""Read pairs of answers with the labels of people, and turn each into two samples, one for each order of the answers.

An item of the official file; the names of its two answers are `gpt35` and `vicuna`, or `output_1` and `output_2`:

    {"question_id": 1, "question": "…", "response": {"gpt35": "…", "vicuna": "…"}, "human_results": "gpt35"}

Source: ChatEval, commit 56b320c04f31, `agentverse/tasks/llm_eval/data/faireval/preprocessed_data/test.json`, `llm_eval.py`.
"""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Turn
from proctor.core.validation import in_words
from proctor.runtime.json_file import read_json
from proctor_judging.judges.debating import Assignment, DebateRules, DebateSeat

COMMIT = "56b320c04f31"
EXAMPLE = "example"
NAMES = (("gpt35", "vicuna"), ("output_1", "output_2"))
FORWARD, REVERSED = "forward", "reversed"
_IN_CLONE = Path("agentverse/tasks/llm_eval")
_DATA, _CONFIG = Path("data/faireval/preprocessed_data/test.json"), Path("config.yaml")


class AnswerPair(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of answers; `human_results` is the name of the better one, `tie`, or '' where nobody said."""

    question: str
    response: dict[str, str]
    question_id: int | str | None = None
    human_results: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """Return the names of its answers, in the order of the benchmark."""
        return next(names for names in NAMES if set(names) <= set(self.response))


class Referees(msgspec.Struct, frozen=True, kw_only=True):
    """Who debates, in which words, and by which rules.

    Attributes:
        roles: each name with its role.
        template: what each is sent first, with the placeholders of the official file, such as ${source_text}.
        closing: the request for scores.
    """

    roles: tuple[tuple[str, str], ...]
    template: str
    closing: str
    rules: DebateRules


def items(path: Path) -> list[AnswerPair]:
    """Read the items of a file, or of a clone.

    Raises:
        BadInput: no such file, an item without two answers of known names, or an unknown label; names the item.
    """
    pairs = _read(path)
    for number, item in enumerate(pairs):
        if not any(set(names) <= set(item.response) for names in NAMES):
            raise BadInput(
                "{path}: item {number} has no pair of answers called {names}.",
                path=path,
                number=number,
                names=", ".join("/".join(names) for names in NAMES),
            )
        if item.human_results and item.human_results not in (*item.names, "tie"):
            raise BadInput(
                "{path}: item {number} has the label '{label}', which is neither {names} nor tie.",
                path=path,
                number=number,
                label=item.human_results,
                names=", ".join(item.names),
            )
    if not pairs:
        raise BadInput("{path} has no items.", path=path)
    return pairs


def _read(path: Path) -> list[AnswerPair]:
    try:
        return msgspec.convert(read_json(path), list[AnswerPair])
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None


def locate(data: str) -> tuple[Path, Path | None]:
    """Return the file of items and, in a clone, the official configuration."""
    if data == EXAMPLE:
        return Path(str(files("proctor_benchmarks.chateval") / "example.json")), None
    path = Path(data).expanduser()
    clone = path / _IN_CLONE
    if clone.is_dir():
        return clone / _DATA, clone / _CONFIG
    if not path.is_file():
        raise BadInput("'{path}' is neither a file of items nor a clone of ChatEval.", path=data)
    return path, None


def own_config() -> Path:
    """Return the configuration that comes with Proctor, in words of its own."""
    return Path(str(files("proctor_benchmarks.chateval") / "config.yaml"))


def referees_of(path: Path) -> Referees:
    """Read the referees of a `config.yaml`, in the official layout.

    Raises:
        BadInput: it cannot be read, or is no configuration of a debate.
    """
    import yaml

    try:
        read = msgspec.convert(yaml.safe_load(path.read_bytes()), _Config)
    except (OSError, yaml.YAMLError, msgspec.ValidationError, RecursionError) as error:
        raise BadInput("{path} is no configuration of a debate: {error}.", path=path, error=error) from None
    rule = read.environment.rule
    rules: dict[str, object] = {"order": rule.order.type, "turns": read.environment.max_turns}
    rules["visibility"] = {"llmeval_blind_judge": "blind_judge"}.get(rule.visibility.type, rule.visibility.type)
    first = read.agents[0]
    return Referees(
        roles=tuple((agent.name, agent.role_description) for agent in read.agents),
        template=first.prompt_template,
        closing=first.final_prompt_to_use,
        rules=msgspec.convert(rules, DebateRules),
    )


class _Type(msgspec.Struct):
    type: str


class _Rule(msgspec.Struct):
    order: _Type
    visibility: _Type


class _Environment(msgspec.Struct):
    max_turns: int
    rule: _Rule


class _Agent(msgspec.Struct):
    name: str
    role_description: str
    prompt_template: str
    final_prompt_to_use: str


class _Config(msgspec.Struct):
    environment: _Environment
    agents: list[_Agent]


def samples(found: Sequence[AnswerPair], referees: Referees) -> Iterator[Sample]:
    """Yield each item in both orders."""
    for number, item in enumerate(found):
        id = id_of(number, item)
        first, second = (item.response[name] for name in item.names)
        for order, texts in ((FORWARD, (first, second)), (REVERSED, (second, first))):
            seats = tuple(_seat(referees, name, role, item.question, texts) for name, role in referees.roles)
            yield Sample(
                id=f"{id}/{order}",
                turns=(Turn(messages=(Message.of("user", seats[0].last_opening),)),),
                target=item.human_results or None,
                cluster=id,
                tags={"order": order, "label": item.human_results or "none"},
                meta={
                    "debate": msgspec.to_builtins(Assignment(seats=seats, rules=referees.rules)),
                    "pair": {"number": number, "names": item.names, "order": order, "question": item.question,
                             "response": {name: item.response[name] for name in item.names}},
                },
            )  # fmt: skip


def id_of(number: int, item: AnswerPair) -> str:
    """Return what an item is called: its own id, or its place."""
    return str(number if item.question_id is None else item.question_id)


def _seat(referees: Referees, name: str, role: str, question: str, texts: tuple[str, str]) -> DebateSeat:
    def filled(final: str) -> str:
        return Template(referees.template).safe_substitute(
            source_text=question,
            compared_text_one=texts[0],
            compared_text_two=texts[1],
            role_description=role,
            agent_name=name,
            final_prompt=final,
        )

    return DebateSeat(name=name, opening=filled(""), last_opening=filled(referees.closing), closing=referees.closing)
