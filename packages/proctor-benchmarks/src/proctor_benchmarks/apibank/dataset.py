"""Read the official dialogues, descriptions and prompts, and turn each turn that is asked for into a sample.

A line of a dialogue is an utterance, or a call with its result; all values of a call are texts:

    {"role": "User", "text": "…"}                                                                     or "AI"
    {"role": "API", "api_name": "GetToday", "param_dict": {}, "result": {"api_name": …, "input": …, "output": …, "exception": …}}

Each call is asked for by what precedes it, and so is what follows it. Where that is a second call, it is in the data twice,
as officially. Level 3 are the files of the data hub: `level-3.json`, `level-3-batch-inf.json`, `level-3-batch-inf-response.json`.

Source: DAMO-ConvAI, commit 483554eae102, `api-bank/evaluator.py` (`Sample.from_chat_history`), `api-bank/lv3_evaluator.py`.
"""

import ast
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from proctor.config import check_choice
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Role, Sample, Turn
from proctor.core.validation import in_words
from proctor.runtime.json_file import read_json, read_json_lines
from proctor_judging.replies.python_source import literal, parse

COMMIT = "483554eae102"
CONTENT = "7c71d9239b2061118e118508c36d437874b11399c7a54abff93ae6ddf293a518"  # of `content_digest`
VARIABLE = "PROCTOR_APIBANK_DATA"
FOLDERS = {"level-1": "lv1-lv2-samples/level-1-given-desc", "level-2": "lv1-lv2-samples/level-2-toolsearcher"}
PLANNED = "level-3"
TOOLS = {"level-1": "apis", "level-2": "apis", PLANNED: "lv3_apis"}
SEARCHER = "ToolSearcher"
EXAMPLE = "example"  # three dialogues with tools of their own, in the official layout
_PROMPTS = {"call": "api_call_prompt", "response": "response_prompt"}

Kind = Literal["call", "response"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class DialogueLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a dialogue."""

    role: Literal["User", "AI", "API"]
    text: str = ""
    api_name: str = ""
    param_dict: dict[str, str] = {}
    result: dict[str, object] = {}

    @property
    def written(self) -> str:
        """Return a call as the prompts write it."""
        params = ", ".join(f"{name}='{value}'" for name, value in self.param_dict.items())
        return f"[{self.api_name}({params})]"


class DialogueSample(msgspec.Struct, frozen=True):
    """A sample of a dialogue: its number, the number of lines before it, and the line that is asked for."""

    number: int
    history: int
    truth: DialogueLine

    @property
    def kind(self) -> Kind | None:
        """Return what is asked for; None where the user speaks next, which nobody is asked for."""
        kinds: Mapping[str, Kind] = {"API": "call", "AI": "response"}
        return kinds.get(self.truth.role)


class Official(msgspec.Struct, frozen=True):
    """What all samples share: the prompts, and the description of each tool by its name."""

    prompts: Mapping[str, str]
    descriptions: Mapping[str, str]


def levels_of(category: str | Sequence[str] | None, root: Path) -> list[str]:
    """Return the levels that are meant; level 3 is among all of them where its files are.

    Raises:
        BadInput: there is no such level.
    """
    words = category.split(",") if isinstance(category, str) else list(category or ())
    names = [name.strip() for name in words if name.strip()]
    if names in ([], ["all"]):
        return [*FOLDERS, *([PLANNED] if (planned_folder(root) / "level-3.json").is_file() else [])]
    names = [f"level-{name}" if name.isdecimal() else name for name in names]
    for name in names:
        check_choice("apibank", "category", name, tuple(TOOLS))
    return list(dict.fromkeys(names))


def locate(data: str | None) -> Path:
    """Return the folder `api-bank` of the user's copy; `example` comes with Proctor.

    Raises:
        BadInput: none is named, or it is no copy.
    """
    given = data or os.environ.get(VARIABLE)
    if not given:
        raise BadInput(
            "Name your copy of API-Bank: --set data=FOLDER or {variable}, the folder api-bank of a clone of {repository} at {commit}; or data=example for three dialogues that come with Proctor.",
            variable=VARIABLE,
            repository="https://github.com/AlibabaResearch/DAMO-ConvAI",
            commit=COMMIT,
        )
    path = Path(__file__).with_name(EXAMPLE) if given == EXAMPLE else Path(given).expanduser()
    for root in (path, path / "api-bank"):
        if (root / "tool_manager.py").is_file() and (root / "apis").is_dir():
            return root.absolute()
    raise BadInput("{path} holds no API-Bank: no tool_manager.py and no folder apis.", path=path)


def content_digest(root: Path) -> str:
    """Return the SHA-256 of the files that are used, to compare the user's copy with the pinned one."""
    digest = sha256()
    for part in ("apis", "init_database", "lv3_apis", "lv1-lv2-samples", "evaluator.py", "tool_manager.py"):
        below = root / part
        for path in sorted(below.rglob("*")) if below.is_dir() else [below]:
            if path.suffix in (".py", ".json", ".jsonl") and path.is_file():
                digest.update(
                    f"{path.relative_to(root).as_posix()}\n{sha256(path.read_bytes()).hexdigest()}\n".encode()
                )
    return digest.hexdigest()


def dialogues(source: Path) -> Iterator[tuple[str, list[DialogueLine]]]:
    """Yield the dialogues of a folder, or the one in a file, by the names of their files.

    Raises:
        BadInput: no dialogue is there, or a line is in another layout.
    """
    paths = [source] if source.is_file() else sorted(source.glob("*.jsonl"))
    if not paths:
        raise BadInput("{path} holds no dialogues (*.jsonl).", path=source)
    for path in paths:
        lines = [line for _, line in read_json_lines(path, DialogueLine)]
        if lines and lines[-1].role == "API":
            raise BadInput("{path} ends with a call: a dialogue says what follows it.", path=path)
        yield path.name, lines


def asked(lines: Sequence[DialogueLine]) -> list[DialogueSample]:
    """Return the samples of a dialogue: for each call itself, and what follows it."""
    ends = [at for call, line in enumerate(lines) if line.role == "API" for at in (call, call + 1)]
    return [DialogueSample(number, end, lines[end]) for number, end in enumerate(ends)]


def messages(lines: Sequence[DialogueLine], api_role: Role = "system") -> list[Message]:
    """Return a history as it is sent to the model."""
    roles: Mapping[str, Role] = {"User": "user", "AI": "assistant", "API": api_role}
    return [Message.of(roles[line.role], _said(line)) for line in lines]


def _said(line: DialogueLine) -> str:
    return f"{line.written} Response: {line.result.get('output')}" if line.role == "API" else line.text


def read_official(root: Path) -> Official:
    """Read the prompts and descriptions out of the official code, of which nothing is run for that.

    Raises:
        BadInput: the code is another one.
    """
    texts = {
        node.targets[0].id: node.value.value
        for node in ast.walk(parse(root / "evaluator.py"))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Constant)
    }  # fmt: skip
    prompts = {kind: texts.get(name) for kind, name in _PROMPTS.items()}
    if not all(isinstance(text, str) for text in prompts.values()):
        raise BadInput("{path} has no prompts of API-Bank.", path=root / "evaluator.py")
    return Official(msgspec.convert(prompts, dict[str, str]), describe(root / "apis"))


def describe(folder: Path) -> dict[str, str]:
    """Return the official JSON document of each tool in a folder, by its name."""
    descriptions: dict[str, str] = {}
    for path in sorted(folder.glob("*.py")):
        for node in parse(path).body:
            if isinstance(node, ast.ClassDef) and [ast.unparse(base) for base in node.bases] == ["API"]:
                descriptions[node.name] = json.dumps({"name": node.name, **_constants(path, node)})
    return descriptions


def _constants(path: Path, node: ast.ClassDef) -> dict[str, object]:
    values = {ast.unparse(one.targets[0]): one.value for one in node.body if isinstance(one, ast.Assign)}
    try:
        return {name: literal(values[name]) for name in ("description", "input_parameters", "output_parameters")}
    except (KeyError, ValueError):
        raise BadInput("{path} describes its tool in another way than those of API-Bank.", path=path) from None


def samples(
    level: str, source: Path, official: Official, kinds: Sequence[Kind], api_role: Role = "system"
) -> Iterator[Sample]:
    """Yield the samples of level 1 or 2, in the official order."""
    for file, lines in dialogues(source):
        used = sorted({line.api_name for line in lines if line.role == "API"})  # officially in the order of a set
        for sample in asked(lines):
            if (kind := sample.kind) is None or kind not in kinds:
                continue
            shown = [SEARCHER] if level == "level-2" and kind == "call" else used
            if unknown := [name for name in used if name not in official.descriptions]:
                raise BadInput("{path} has calls of tools that are not there: {names}.", path=source / file, names=", ".join(unknown))  # fmt: skip
            system = official.prompts[kind] + "\n".join(official.descriptions[name] for name in shown)
            sent = (Message.of("system", system), *messages(lines[: sample.history], api_role))
            yield _sample(level, kind, file, sample.number, sent, sample.truth)


def _sample(level: str, kind: Kind, file: str, number: int, sent: Sequence[Message], truth: DialogueLine) -> Sample:
    facts: dict[str, object] = {"level": level, "file": file, "number": number}
    cluster = f"{level}/{file.removesuffix('.jsonl')}"
    tags = {"level": level, "part": f"{level}/{kind}"}
    if kind == "call":
        facts |= {"api": truth.api_name, "result": truth.result}
        if truth.api_name == SEARCHER:
            tags |= {"part": f"{level}/search"}
    return Sample(
        id=f"{cluster}/{number}",
        turns=(Turn(messages=tuple(sent)),),
        target=truth.written if kind == "call" else truth.text,
        cluster=cluster,
        tags=tags,
        meta={"apibank": facts},
    )


class PlannedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call in `level-3.json`; `output` is the whole result."""

    api_name: str
    output: dict[str, object]


class PlannedDialogue(msgspec.Struct, frozen=True):
    """A record of `level-3.json`."""

    apis: list[PlannedCall]


class ApiBankRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked at level 3; a request for a response has no `api_id`."""

    sample_id: Annotated[int, msgspec.Meta(ge=0)] = 0
    api_id: Annotated[int, msgspec.Meta(ge=0)] = 0
    instruction: str = ""
    input: str = ""
    output: str = ""


def source(level: str, root: Path, own: str | None) -> Path:
    """Return where the dialogues of a level are: the user's own, or the official ones."""
    return Path(own).expanduser() if own else root / FOLDERS[level]


def planned_folder(root: Path, given: str | None = None) -> Path:
    """Return the folder with the files of level 3."""
    return Path(given).expanduser() if given else root / "test_data"


def planned_samples(folder: Path, kinds: Sequence[Kind]) -> Iterator[Sample]:
    """Yield the samples of level 3: first the calls, then the responses.

    Raises:
        BadInput: a file is missing or in another layout, or asks for a call that is not there.
    """
    if not (folder / "level-3.json").is_file():
        raise BadInput(
            "{path} holds no level-3.json. It is on the data hub only, with level-3-batch-inf.json and level-3-batch-inf-response.json: --set level3=FOLDER.",
            path=folder,
        )
    if "call" in kinds:
        truths = _records(folder / "level-3.json", list[PlannedDialogue])
        for request in _records(folder / "level-3-batch-inf.json", list[ApiBankRequest]):
            try:
                truth = truths[request.sample_id].apis[request.api_id]
            except IndexError:
                raise BadInput("{path} asks for the call {call} of the dialogue {dialogue}, which is not in level-3.json.", path=folder / "level-3-batch-inf.json", call=request.api_id, dialogue=request.sample_id) from None  # fmt: skip
            line = DialogueLine(
                role="API", api_name=truth.api_name, param_dict=_texts(truth.output), result=truth.output
            )
            yield _planned(request, request.api_id, line)
    if "response" in kinds:
        for number, request in enumerate(_records(folder / "level-3-batch-inf-response.json", list[ApiBankRequest])):
            yield _planned(request, number, DialogueLine(role="AI", text=request.output))


def _planned(request: ApiBankRequest, number: int, truth: DialogueLine) -> Sample:
    sent = (Message.of("system", request.instruction), Message.of("user", request.input))
    sample = _sample(
        PLANNED, "call" if truth.role == "API" else "response", str(request.sample_id), number, sent, truth
    )
    return sample if truth.role == "API" else msgspec.structs.replace(sample, id=f"{PLANNED}/response/{number}")


def _texts(result: Mapping[str, object]) -> dict[str, str]:
    given = result.get("input")
    return {name: str(value) for name, value in given.items()} if isinstance(given, dict) else {}


def _records(path: Path, kind: object) -> Any:
    try:
        return msgspec.convert(read_json(path), kind)
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None
