"""A class of the user's is an environment: what of it is a tool, how arguments are read, and what its state is."""

import asyncio
import datetime
import enum
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pytest

from proctor.core.around import Around, around
from proctor.core.errors import BadInput, EnvironmentDied, EnvironmentFailed, EpisodeOver
from proctor.core.run import Limits
from proctor.core.sample import File, Sample, Tool, ToolCall, ToolResult
from proctor.core.task import Environment
from proctor.environments.python import PythonEnvironment, make, wrap
from proctor.environments.results import MOST_CHARACTERS, plain

SAMPLE = Sample.ask("a", "?")


async def call(environment: Environment, name: str, **arguments: object) -> ToolResult:
    return await environment.call(ToolCall(name=name, arguments=arguments))


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Item:
    name: str
    colour: Colour = Colour.RED


class Typed:
    """Parameters of many types."""

    limit = 3

    def pack(
        self,
        items: list[Item],
        when: datetime.date,
        size: Literal["small", "large"] = "small",
        note: Annotated[str, "for the parcel"] = "",
        /,
        weight: float | None = None,
        **more: int,
    ) -> str:
        """Pack a parcel.

        It is sent at once.

        Args:
            items: what is in it,
                in order
            weight (float): in kilos

        Returns:
            Its label.

        Raises:
            ValueError: never
        """
        return f"{items} {when:%d.%m.} {size} {note!r} {weight} {more}"

    @staticmethod
    def add(one: int, other: int = 1) -> int:
        """Add.

        :param one: the first
        :param int other: the second
        """
        return one + other

    @classmethod
    def from_file(cls, path: str) -> Self:
        raise AssertionError(path)

    @property
    def secret(self) -> str:
        raise AssertionError

    def _hidden(self) -> None: ...

    def state(self) -> dict[str, object]:
        return {"day": datetime.date(2026, 1, 2), "bytes": b"ab"}


async def test_schema_and_description_come_from_signature_and_docstring() -> None:
    async with wrap(Typed)(SAMPLE) as environment:  # type: ignore[attr-defined]
        pack, add = environment.tools
    assert pack.description == "Pack a parcel.\n\nIt is sent at once.\n\nReturns: Its label."
    properties = pack.parameters["properties"]
    assert [*properties] == ["items", "when", "size", "note", "weight"]
    assert properties["items"] == {"type": "array", "items": {"$ref": "#/$defs/Item"}, "description": "what is in it, in order"}  # fmt: skip
    assert properties["when"] == {"type": "string", "format": "date"}
    assert properties["size"] == {"enum": ["large", "small"], "default": "small"}
    assert properties["note"] == {"type": "string", "description": "for the parcel", "default": ""}
    assert properties["weight"]["description"] == "in kilos"
    assert pack.parameters["required"] == ["items", "when"]
    assert pack.parameters["additionalProperties"] is True
    assert {*pack.parameters["$defs"]} == {"Item", "Colour"}
    assert (add.name, add.description) == ("add", "Add.")
    assert add.parameters["properties"] == {
        "one": {"type": "integer", "description": "the first"},
        "other": {"type": "integer", "description": "the second", "default": 1},
    }


async def test_arguments_are_converted_and_what_does_not_fit_is_told_to_the_model() -> None:
    async with wrap(Typed)(SAMPLE) as environment:  # type: ignore[attr-defined]
        items = [{"name": "tea", "colour": "blue"}]
        result = await call(environment, "pack", items=items, when="2026-01-02", weight=1, note="hi", extra=4)
        assert not result.is_error
        assert "Colour.BLUE" in result.content
        assert result.content.endswith("02.01. small 'hi' 1.0 {'extra': 4}")
        for arguments, reason in (
            ({}, "'one' is missing"),
            ({"one": "1"}, "'one': expected a whole number, got a text"),
            ({"one": 1, "two": 2}, "there is no 'two'"),
        ):
            refused = await call(environment, "add", **arguments)
            assert refused.is_error
            assert reason in refused.content
        wrong = await call(environment, "pack", items=[{"name": "a", "colour": "x"}], when="2026-01-02")
        assert wrong.content == "The arguments do not fit: 'items[0].colour': 'x' is none of the values it may have."


async def test_own_state_is_the_state_and_values_become_json() -> None:
    async with wrap(Typed)(SAMPLE) as environment:  # type: ignore[attr-defined]
        assert await environment.state() == {"day": "2026-01-02", "bytes": "ab"}


def test_public_attributes_are_the_state_deep_without_what_is_no_data() -> None:
    class Inner:
        __slots__ = ("_private", "value")

        def __init__(self) -> None:
            self.value, self._private = 1, 2

    class Outer:
        def __init__(self) -> None:
            self.inner, self.tags, self.lock = [Inner()], {"b", "a"}, threading.Lock()
            self.me, self.colour, self.by = self, Colour.RED, {1: Path("x")}
            self.function = len
            self._private = 3

    assert plain(Outer()) == {"inner": [{"value": 1}], "tags": ["a", "b"], "colour": "red", "by": {"1": "x"}}


class Talkative:
    def text(self) -> str:
        return "x" * (MOST_CHARACTERS + 9)

    def fail(self) -> None:
        raise RuntimeError("sk-abcdef123456 is wrong")

    def over(self) -> None:
        raise EpisodeOver

    def broken(self) -> None:
        raise EnvironmentFailed("The till is on fire.")

    def leave(self) -> None:
        raise SystemExit(3)

    def nothing(self) -> None: ...

    def own(self) -> ToolResult:
        return ToolResult(name="own", content="mine", is_error=True)

    def slow(self) -> None:
        time.sleep(0.3)

    async def wait(self) -> None:
        await asyncio.sleep(60)


class Blocking:
    def slow(self) -> str:
        time.sleep(0.3)
        return "done"


async def test_what_a_tool_returns_or_raises() -> None:
    async with wrap(Talkative)(SAMPLE) as environment:  # type: ignore[attr-defined]
        long = (await call(environment, "text")).content
        assert long[MOST_CHARACTERS:] == f"\n[The result has {MOST_CHARACTERS + 9} characters; the rest is cut off.]"
        assert (await call(environment, "nothing")).content == "null"
        assert (await call(environment, "own")).content == "mine"
        failed = await call(environment, "fail")
        assert (failed.is_error, failed.content) == (True, "RuntimeError: [hidden] is wrong")
        with pytest.raises(EpisodeOver):
            await call(environment, "over")
        with pytest.raises(EnvironmentFailed, match="on fire"):
            await call(environment, "broken")
        with pytest.raises(EnvironmentFailed, match="ended the program"):
            await call(environment, "leave")


@pytest.mark.parametrize(("kind", "tool"), [(Talkative, "wait"), (Blocking, "slow")])
async def test_the_model_is_told_of_a_late_tool_whose_object_can_be_used_again(kind: type, tool: str) -> None:
    around.set(Around(limits=Limits(seconds=0.2)))
    async with wrap(kind)(SAMPLE) as environment:  # type: ignore[attr-defined]
        late = await call(environment, tool)
        assert (late.is_error, late.content.partition(". ")[0]) == (True, "The call timed out after 0.1 s")
        assert await environment.state() is not None


@pytest.mark.parametrize("blame", ["agent", "environment"])
async def test_a_tool_that_never_answers_is_blamed_by_the_rule_of_its_class(
    blame: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.environments.call_failures.HEALTH_SECONDS", 0.05)
    kind = type("Ruled", (Blocking,), {"call_seconds": 0.1, "blame_death": blame})
    async with wrap(kind)(SAMPLE) as environment:  # type: ignore[attr-defined]
        with pytest.raises(EnvironmentFailed, match=r"within 0\.1 seconds") as failure:
            await call(environment, "slow")
        assert isinstance(failure.value, EnvironmentDied) == (blame == "agent")
        with pytest.raises(EnvironmentFailed, match="failed earlier"):
            await environment.state()


def test_a_rule_of_a_class_that_is_no_rule_is_refused() -> None:
    kind = type("Ruled", (Blocking,), {"blame_death": "nobody"})
    with pytest.raises(BadInput, match="attribute of another type"):
        asyncio.run(_enter(wrap(kind)(SAMPLE)))


async def _enter(environment: Any) -> None:
    async with environment:
        pass


class Waiting:
    """Its tool blocks until five of them do."""

    five = threading.Barrier(5)

    def wait(self) -> str:
        self.five.wait(20)
        return "done"


async def test_tools_that_block_hold_up_nobody_else() -> None:
    async def shop() -> str:
        async with wrap(Waiting)(SAMPLE) as environment:  # type: ignore[attr-defined]
            return (await call(environment, "wait")).content

    assert await asyncio.gather(*(shop() for _ in range(5))) == ["done"] * 5


class Ledger:
    """Belongs to the thread that it was made in, and is left."""

    left: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        self._base = sqlite3.connect(":memory:")
        self._base.execute("create table entries (text)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()
        Ledger.left.append("left")

    def note(self, text: str) -> int:
        self._base.execute("insert into entries values (?)", (text,))
        return len(self.state()["entries"])

    def state(self) -> dict[str, list[str]]:
        return {"entries": [text for (text,) in self._base.execute("select text from entries")]}


async def test_an_object_lives_in_one_thread_and_a_context_manager_is_left() -> None:
    before = threading.active_count()
    async with wrap(Ledger)(SAMPLE) as environment:  # type: ignore[attr-defined]
        assert (await call(environment, "note", text="one")).content == "1"
        assert await environment.state() == {"entries": ["one"]}
    assert Ledger.left.pop() == "left"
    for _ in range(100):
        if threading.active_count() <= before:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the thread is left over")


@dataclass
class Counter:
    count: int = 0
    seen: list[int] = field(default_factory=list)

    def up(self, by: int = 1) -> int:
        """Count."""
        self.count += by
        self.seen.append(by)
        return self.count


async def test_an_object_is_copied_for_each_sample() -> None:
    given = Counter(count=5)
    for _ in range(2):
        async with wrap(given)(SAMPLE) as environment:  # type: ignore[attr-defined]
            assert (await call(environment, "up")).content == "6"
            assert await environment.state() == {"count": 6, "seen": [1]}
    assert given == Counter(count=5)
    with pytest.raises(BadInput, match=r"is an object\. Name its class"):
        wrap(given)(Sample.ask("a", "?", meta={"environment": {"count": 1}}))


async def test_a_function_makes_the_object_and_can_be_given_the_sample() -> None:
    def made(sample: Sample, start: int = 0) -> Counter:
        return Counter(count=start + len(sample.id))

    async def made_later(start: int = 0) -> Counter:
        return Counter(count=start)

    for make_it, expected in ((made, 8), (made_later, 7)):
        async with wrap(make_it, arguments={"start": 7})(SAMPLE) as environment:  # type: ignore[attr-defined]
            assert await environment.state() == {"count": expected, "seen": []}


async def test_arguments_are_copied_for_each_attempt() -> None:
    class Shelf:
        def __init__(self, books: list[str]) -> None:
            self.books = books

        def put(self, book: str) -> None:
            """Put."""
            self.books.append(book)

    make_shelf = wrap(Shelf, arguments={"books": ["a"]})
    for _ in range(2):
        async with make_shelf(SAMPLE) as environment:  # type: ignore[attr-defined]
            await call(environment, "put", book="b")
            assert await environment.state() == {"books": ["a", "b"]}


async def test_the_tools_can_be_chosen_by_name() -> None:
    class Some(Counter):
        tools = ("up",)

        def down(self) -> None: ...

    class Wrong(Counter):
        tools = ("upp",)

    async with wrap(Some)(SAMPLE) as environment:  # type: ignore[attr-defined]
        assert [tool.name for tool in environment.tools] == ["up"]
        assert (await call(environment, "down")).is_error
    with pytest.raises(BadInput, match="Did you mean 'up'"):
        wrap(Wrong)


async def test_a_class_that_is_an_environment_by_itself_is_used_unchanged() -> None:
    class Mine:
        tools = (Tool(name="f"),)

        def __init__(self, word: str = "") -> None:
            self.word = word

        async def call(self, call: ToolCall) -> ToolResult:
            return ToolResult(name=call.name, content=self.word)

        def state(self) -> dict[str, Any]:
            return {}

    environment = wrap(Mine, arguments={"word": "hi"})(SAMPLE)
    assert isinstance(environment, Mine)
    assert not isinstance(environment, PythonEnvironment)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (type("Bare", (), {}), "has no public method"),
        (type("Held", (Counter,), {"__init__": lambda self: setattr(self, "lock", threading.Lock())})(), "cannot be copied"),
        (type("Odd", (), {"f": lambda self, x: None}), ""),
    ],
)  # fmt: skip
def test_what_cannot_be_an_environment_is_refused(target: object, message: str) -> None:
    if not message:
        wrap(target)
        return
    with pytest.raises(BadInput, match=message):
        wrap(target)


def test_types_that_no_json_can_be_and_unknown_names_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text(
        "import threading\n"
        "class Shop:\n    def f(self, x: threading.Event): ...\n"
        "class Late:\n    def f(self, x: 'Missing'): ...\n"
        "class Fine:\n    def f(self): ...\n",
        encoding="utf-8",
    )
    with pytest.raises(BadInput, match="a type that no JSON value can be"):
        make(f"{path}:Shop", {})
    with pytest.raises(BadInput, match="types of 'f' cannot be read: NameError"):
        make(f"{path}:Late", {})
    with pytest.raises(BadInput, match=r"has no 'Shopp'\. Write .*:Shop"):
        make(f"{path}:Shopp", {})
    with pytest.raises(BadInput, match="takes no options"):
        make(f"{path}:Fine", {"x": 1})


class Held(Ledger):
    """Its tool holds the thread that it is left in."""

    let_go = threading.Event()

    def note(self, text: str) -> int:
        return int(self.let_go.wait(60))


async def test_one_whose_thread_is_held_can_be_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.environments.python.LEAVE_SECONDS", 0.1)
    around.set(Around(limits=Limits(seconds=0.2)))
    environment: Any = await wrap(Held)(SAMPLE).__aenter__()  # type: ignore[attr-defined]
    with pytest.raises(EnvironmentFailed, match="'note' within"):
        await call(environment, "note", text="a")
    with pytest.raises(TimeoutError):
        await environment.__aexit__(None, None, None)
    Held.let_go.set()


async def test_one_that_cannot_be_made_leaves_no_thread() -> None:
    class Broken(Counter):
        def __init__(self) -> None:
            raise RuntimeError("no table")

    class Slow(Counter):
        def __init__(self) -> None:
            time.sleep(0.3)

    around.set(Around(limits=Limits(seconds=0.2)))
    for kind, error in ((Broken, RuntimeError), (Slow, EnvironmentFailed)):
        with pytest.raises(error):
            async with wrap(kind)(SAMPLE):  # type: ignore[attr-defined]
                pass
    for _ in range(100):
        if not any(thread.name == "proctor-thread" for thread in threading.enumerate()):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("a thread is left over")


async def test_lone_surrogates_are_replaced() -> None:
    class Odd:
        def __init__(self) -> None:
            self.text = "a" + chr(0xD800)

        def say(self) -> str:
            """Say."""
            return self.text

    async with wrap(Odd)(SAMPLE) as environment:  # type: ignore[attr-defined]
        assert (await call(environment, "say")).content == "a?"
        assert await environment.state() == {"text": "a?"}


PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


class Camera:
    """Tools that return files."""

    def shoot(self) -> File:
        """Take a picture."""
        return File(name="shot.png", media_type="image/png", data=PNG)

    def both(self) -> list[object]:
        """Take two pictures."""
        return [
            "Before:",
            self.shoot(),
            "After:",
            File(name="b.png", media_type="image/png", data=PNG + b"b"),
            {"x": 1},
        ]


async def test_a_tool_returns_a_file_or_a_list_of_texts_and_files() -> None:
    async with wrap(Camera)(SAMPLE) as environment:  # type: ignore[attr-defined]
        one, two = await call(environment, "shoot"), await call(environment, "both")
    assert (one.content, one.files) == ("[shot.png (image/png, 16 bytes)]", (Camera().shoot(),))
    lines = ["Before:", "[shot.png (image/png, 16 bytes)]", "After:", "[b.png (image/png, 17 bytes)]", '{"x":1}']
    assert two.content.splitlines() == lines
    assert [file.name for file in two.files] == ["shot.png", "b.png"]
