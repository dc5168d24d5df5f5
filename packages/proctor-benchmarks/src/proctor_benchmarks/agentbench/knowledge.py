"""Play a question of the part KG: the agent calls functions that walk over a knowledge base, and names a variable at the end.

    {"question": "how many mac models used motorola 68040 processors?", "entities": {"mac": "m.0zd6", "Motorola 68040": "m.04_ms"}}

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/knowledgegraph`: `task.py` and `api.py`.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample
from proctor.runtime.json_file import read_json
from proctor_benchmarks.agentbench.conversation import EndedSample, History, Loop
from proctor_judging.replies.python_source import constants

ROUNDS = 15
FOLDER = "src/server/tasks/knowledgegraph"
READY = "I've understood your instruction, start please."
ENTITY = re.compile(r"^(m|f)\.[\w_]+$")
# what `getattr` finds in the official module besides functions; calling it fails, in other words than for what is not there
OTHER_NAMES = (
    "sys", "List", "Tuple", "Dict", "Any", "Union", "Path", "Task", "Session", "TaskSampleExecutionResult", "TaskOutput",
    "SampleIndex", "AgentOutputStatus", "SampleStatus", "json", "re", "postprocess_raw_code", "lisp_to_sparql", "range_info", "path",
    "f", "vocab", "attributes", "relations", "variable_relations_cache", "variable_attributes_cache", "Variable", "SparqlExecuter",
    "INSTRUCTIONS", "ONE_SHOT", "KnowledgeGraph", "__name__", "__doc__", "__package__", "__loader__", "__spec__", "__file__",
    "__cached__", "__builtins__",
)  # fmt: skip


class CallRefused(Exception):
    """A function of the agent cannot be run with these arguments."""


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """A set of entities, as the program that finds them."""

    type: str
    program: str


class Base(Protocol):
    """A knowledge base.

    Each raises `CallRefused` for a program that has no query, and a query that it does not accept.
    """

    async def relations(self, entity: str) -> Sequence[str]:
        """Return the relations that lead away from an entity."""
        ...

    async def relations_of_all(self, program: str) -> Sequence[str]:
        """Return the relations that lead away from what a program finds."""
        ...

    async def find(self, program: str) -> Sequence[str]: ...


class Ontology:
    """The official lists of relations and attributes, and the types that relations lead to."""

    def __init__(self, root: Path) -> None:
        folder = root / FOLDER / "ontology"
        try:
            vocabulary = read_json(folder / "vocab.json")
            self.relations = frozenset(vocabulary["relations"])
            self.attributes = frozenset(vocabulary["attributes"])
            roles = [line.split(" ") for line in (folder / "fb_roles").read_text("utf-8").split("\n") if line]
            self.type_by_relation = {fields[1]: fields[2] for fields in roles}
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise BadInput("{path} cannot be read: {error}.", path=folder, error=error) from None


class Walk:
    """The functions of the agent in one question.

    Officially what was found for a set of entities is kept for all questions of a process; here for one.
    """

    def __init__(self, base: Base, ontology: Ontology) -> None:
        self._base = base
        self._ontology = ontology
        self._known: dict[Variable | str, Sequence[str]] = {}
        self._attributes: dict[Variable | str, Sequence[str]] = {}
        self.functions: Mapping[str, tuple[int, Callable[..., Awaitable[tuple[Any, Any]]]]] = {
            "get_relations": (1, self.get_relations),
            "get_neighbors": (2, self.get_neighbors),
            "intersection": (2, self.intersection),
            "union": (2, self.union),
            "count": (1, self.count),
            "get_attributes": (1, self.get_attributes),
            "argmax": (2, self.argmax),
            "argmin": (2, self.argmin),
            "final_execute": (1, self.final_execute),
        }

    async def get_relations(self, variable: Variable | str) -> tuple[None, str]:
        if isinstance(variable, Variable):
            relations = await self._base.relations_of_all(variable.program)
        else:
            relations = await self._base.relations(_entity(variable))
        # the official order is that of a set
        self._known[variable] = sorted(self._ontology.relations.intersection(relations))
        return None, f"Observation: [{', '.join(self._known[variable])}]"

    async def get_neighbors(self, variable: Variable | str, relation: Variable | str) -> tuple[Variable, str]:
        """Return the variable to which a relation leads."""
        start = variable.program if isinstance(variable, Variable) else _entity(variable)
        if not isinstance(relation, str) or relation not in self._known.get(variable, ()):
            raise CallRefused
        return self._new(self._ontology.type_by_relation.get(relation), f"(JOIN {relation}_inv {start})")

    async def intersection(self, one: Variable | str, other: Variable | str) -> tuple[Variable, str]:
        """Return what two variables have in common."""
        return self._joined("AND", one, other)

    async def union(self, one: Variable | str, other: Variable | str) -> tuple[Variable, str]:
        """Return two variables together."""
        return self._joined("OR", one, other)

    async def count(self, variable: Variable | str) -> tuple[Variable, str]:
        """Return how many entities a variable has."""
        counted = Variable(type="type.int", program=f"(COUNT {_variable(variable).program})")
        return counted, "Observation: variable ##, which is a number"

    async def get_attributes(self, variable: Variable | str) -> tuple[None, str]:
        """Return the numerical relations of a variable."""
        relations = await self._base.relations_of_all(_variable(variable).program)
        self._attributes[variable] = sorted(self._ontology.attributes.intersection(relations))
        return None, f"Observation: [{', '.join(self._attributes[variable])}]"

    async def argmax(self, variable: Variable | str, attribute: str) -> tuple[Variable, str]:
        """Return the entity of a variable with the largest attribute."""
        return self._superlative("ARGMAX", variable, attribute)

    async def argmin(self, variable: Variable | str, attribute: str) -> tuple[Variable, str]:
        """Return the entity of a variable whose attribute is smallest."""
        return self._superlative("ARGMIN", variable, attribute)

    async def final_execute(self, variable: Variable | str) -> tuple[object, object]:
        """Return what a variable holds: officially any function of the module can be called, and two entities fit a reply."""
        answers = await self._base.find(_variable(variable).program)
        if len(answers) != 2:
            raise CallRefused
        return answers[0], answers[1]

    def _joined(self, name: str, one: Variable | str, other: Variable | str) -> tuple[Variable, str]:
        first, second = _variable(one), _variable(other)
        if first.type != second.type:
            raise CallRefused
        return self._new(first.type, f"({name} {first.program} {second.program})")

    def _superlative(self, name: str, variable: Variable | str, attribute: str) -> tuple[Variable, str]:
        if attribute not in self._attributes.get(variable, ()):
            raise CallRefused
        found = _variable(variable)
        return self._new(found.type, f"({name} {found.program} {attribute})")

    def _new(self, type: str | None, program: str) -> tuple[Variable, str]:
        if type is None:
            raise CallRefused
        return Variable(type=type, program=program), f"Observation: variable ##, which are instances of {type}"


def _entity(name: str) -> str:
    if not ENTITY.match(name):
        raise CallRefused
    return name


def _variable(given: Variable | str) -> Variable:
    if not isinstance(given, Variable):
        raise CallRefused
    return given


def _split(text: str) -> list[str]:
    """Split at commas, and remove the whitespace around them.

    >>> _split(" a , b ")
    [' a', 'b ']
    """
    first, *rest = text.split(",")
    parts = [first, *(part.lstrip() for part in rest)]
    return [*(part.rstrip() for part in parts[:-1]), parts[-1]]


class Turns:
    """Reads what the agent calls, and keeps the variables of one question."""

    def __init__(self, walk: Walk, entities: Mapping[str, str]) -> None:
        self.variables: list[Variable | str] = []
        self.actions: list[str] = []
        self._walk = walk
        self._entities = entities
        self._written: list[str] | None = (
            None  # the arguments of the last call that could be read, as upstream in errors
        )

    async def act(self, text: str) -> str:
        """Run the first call that can be run in the line with the action, and return what the agent reads."""
        for line in text.split("\n"):
            if re.match(r"Action.*?:", line):
                return await self._act(line)
        return "No executable function found! Need to recheck the action."

    async def _act(self, line: str) -> str:
        names = re.findall(r"(?<!\w)(\w+)\(", line)
        refused: dict[str, list[str] | None] = {}  # to the arguments; a call that was refused is again
        for name in names:
            before = self._written
            if name in refused:
                self._written = refused[name] or before
                continue
            try:
                value, message = await self._call(name, line)
            except CallRefused:
                refused[name] = None if self._written is before else self._written
                continue
            self.actions.append(f"{name}({', '.join(self._written or ())})")
            if "##" in message:
                message = message.replace("##", f"#{len(self.variables)}")
                self.variables.append(value)
            return message
        return self._refusal(names[-1]) if names else "Function is not executed!"

    async def _call(self, name: str, line: str) -> tuple[Any, str]:
        if name not in self._walk.functions and name not in OTHER_NAMES:
            raise CallRefused
        start = line.index(f"{name}(") + len(name) + 1
        end = line.find(")", start + 1)  # officially an argument has a character
        if end < 0:
            raise CallRefused
        self._written = _split(line[start:end])
        arguments: list[object] = list(self._written)
        for position, argument in enumerate(self._written):
            plain = argument.replace("variable ", "").replace("Variable ", "")
            if plain.startswith("#"):
                arguments[position] = self.variable(plain[1:])
            elif plain in self._entities:
                arguments[position] = self._entities[plain]
        count, function = self._walk.functions.get(name, (-1, None))
        if function is None or len(arguments) != count:
            raise CallRefused
        return await function(*arguments)

    def variable(self, number: str) -> Variable | str:
        """Return the variable with a number; a negative one counts from the end, as upstream."""
        try:
            return self.variables[int(number)]
        except (ValueError, IndexError):
            raise CallRefused from None

    def _refusal(self, name: str) -> str:
        if self._written is None:
            return f"I may make a syntax error when calling {name} (e.g., unmatched parenthesis). I need to fix it and reuse the tool"
        call = f"{name}({', '.join(self._written)})"
        if name == "intersection":
            return f"{call} cannot be executed. The two variables are not of the same type. You may further explore them by call get_relations"
        return f"{call} cannot be executed. You may make a mistake and need to fix it."


class KnowledgePart:
    """Plays questions on a knowledge base."""

    def __init__(self, root: Path, ontology: Ontology, base: Base, rounds: int = ROUNDS) -> None:
        source = root / FOLDER / "task.py"
        by_name = constants(source)
        try:
            texts = [by_name["INSTRUCTIONS"], READY, *by_name["ONE_SHOT"]]
        except KeyError as error:
            raise BadInput("{path} has another layout than at v0.2: '{name}' is not there as expected.", path=source, name=error.args[0]) from None  # fmt: skip
        self._opening = [
            Message.of("assistant" if position % 2 else "user", text) for position, text in enumerate(texts)
        ]
        self._ontology = ontology
        self._base = base
        self._rounds = rounds

    async def __call__(self, sample: Sample, history: History) -> Loop:
        question, entities = (sample.meta["item"][name] for name in ("question", "entities"))
        asked = f"A new question: {question}\nEntities: [{', '.join(entities)}]"
        history += [*self._opening, Message.of("user", asked)]
        turns = Turns(Walk(self._base, self._ontology), entities)
        for _ in range(self._rounds):
            reply = yield None
            if reply is None:
                yield EndedSample(status="agent context limit")
                return
            text = reply.split("Observation:")[0].replace("\\_", "_")
            history[-1] = Message.of("assistant", text)
            final = re.search(r"(?:Find|Final) Answer: #(\d+)", text)
            if final is None:
                history.append(Message.of("user", await turns.act(text)))
                continue
            try:
                answer = turns.variable(final[1])
            except CallRefused:
                history.append(Message.of("user", "Invalid variable id! Need to recheck the action."))
                continue
            try:
                predicted = await self._base.find(_variable(answer).program)
            except CallRefused:  # officially an error of the task: it has no query, or the endpoint accepts none
                yield EndedSample(status="task error")
                return
            yield EndedSample(status="completed", result={"predict": list(predicted), "actions": turns.actions})
            return
        yield EndedSample(status="task limit reached", result={"predict": [], "actions": turns.actions})
