"""Audits of tasks in which something is done: a shop of a user, played without a model."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli import app

SHOP = '''
from proctor import Sample, Score, Task, ToolCall, Trajectory
from proctor.core.sample import Message
from proctor.core.trajectory import Step


class Shop:
    """A shop with a stock and a basket."""

    def __init__(self, stock: dict[str, int] | None = None) -> None:
        self.stock = {"tea": 3, "jam": 1} if stock is None else stock
        self.basket: list[str] = []
        self.calls = 0

    def look(self, item: str) -> int:
        """Say how many there are."""
        self.calls += 1
        return self.stock.get(item, 0)

    def put(self, item: str, count: int) -> str:
        """Put the basket's count of an item to a number."""
        self.calls += 1
        if item not in self.stock:
            raise ValueError(f"there is no {item}")
        self.basket = [each for each in self.basket if each != item] + [item] * count
        return "ok"


def bought(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=trajectory.state["basket"] == sample.target["basket"], reason="the basket")


def right(sample: Sample) -> Trajectory:
    calls = [ToolCall(name=name, arguments=arguments, id=str(n)) for n, (name, arguments) in enumerate(sample.meta["do"])]
    return Trajectory(steps=(
        Step(message=Message(role="assistant", parts=tuple(calls))) if calls else Step(message=Message.of("assistant", "No.")),
        *((Step(message=Message.of("assistant", "Done.")),) if calls else ()),
    ))


def sample(id: str, basket: list[str], *do: object) -> Sample:
    return Sample.ask(id, f"Please do {id}.", target={"basket": basket}, meta={"do": list(do)})


def task() -> Task:
    return Task(
        name="errands",
        samples=[
            sample("tea", ["tea"], ("look", {"item": "tea"}), ("put", {"item": "tea", "count": 1})),
            sample("jam", ["jam"], ("put", {"item": "jam", "count": 1})),
            sample("only-look", [], ("look", {"item": "tea"})),
            sample("decline", []),
            sample("nothing", ["tea"], ("put", {"item": "tea", "count": 1}), ("put", {"item": "jam", "count": 0})),
            sample("retry", ["tea"], ("put", {"item": "tea", "count": 1}), ("put", {"item": "tea", "count": 1})),
            sample("gone", ["tea"], ("put", {"item": "ink", "count": 1}), ("put", {"item": "tea", "count": 1})),
            sample("undo", [], ("put", {"item": "tea", "count": 1}), ("put", {"item": "tea", "count": 0})),
        ],
        scorers=[bought],
        environment="python:./shop.py:Shop",
        oracle=right,
    )
'''


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.py").write_text(SHOP, encoding="utf-8")


def audited(*words: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["audit-task", "./shop.py:task", "--json", "--skip", "A6", *words])
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def test_what_is_played_is_found_and_the_rest_is_not() -> None:
    report = audited()
    named = {each["check"] for each in report["not_checked"]}
    assert {"null-passes", "echo-passes", "shortcut-passes"} <= named  # a text alone is no answer here
    assert not named & {"gold-fails", "idle-passes", "gold-does-nothing"}
    assert [(finding["id"], finding["class"]) for finding in report["findings"]] == [
        ("gold-does-nothing:nothing", "proved"),
        ("idle-passes:undo", "proved"),
        ("gold-call-fails:gone", "look"),
        ("idle-passes:only-look", "look"),  # what is expected changes nothing
    ]
    [floor] = report["floor"]
    assert (floor["agent"], floor["count"], floor["value"]) == ("idle", 8, pytest.approx(3 / 8))
    assert floor["scorer"] == "bought"


def test_a_finding_of_one_sample_replays_by_the_command_beside_it() -> None:
    finding = audited("--check", "idle-passes")["findings"][-1]
    words = finding["replay"].split()[1:]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0
    assert "only-look" in result.stdout
    assert "bought: 1" in result.stdout


def test_an_environment_that_breaks_is_not_checked_and_no_fault_of_the_task() -> None:
    Path("shop.py").write_text(SHOP.replace("self.calls = 0", "raise OSError('down')"), encoding="utf-8")
    report = audited()
    assert report["findings"] == []
    assert {each["check"] for each in report["not_checked"] if each["applies"]} >= {"gold-fails", "idle-passes"}


UNSCORED = "from proctor import Unscored\n\n\ndef main(sample: Sample, trajectory: Trajectory) -> Score | Unscored:\n    return Score(points=1) if trajectory.calls() else Unscored(why='no_evidence')\n\n\ndef task"


@pytest.mark.parametrize("main", ["main", '"rubric:service-tone"'])
def test_what_the_main_scorer_does_not_score_is_no_proof_and_no_floor(main: str) -> None:
    shop = SHOP.replace("def task", UNSCORED).replace("scorers=[bought]", f"scorers=[{main}, bought]")
    Path("shop.py").write_text(shop, encoding="utf-8")
    report = audited("--check", "idle-passes")
    assert report["findings"] == report["floor"] == []
    [missing] = [each for each in report["not_checked"] if each["check"] == "idle-passes"]
    assert missing["applies"]
    assert missing["reason"]["values"]["count"] == 2
    assert "floor" in {each["check"] for each in report["not_checked"]}


def test_a_sample_with_a_text_as_target_is_asked_by_texts_and_the_others_are_played() -> None:
    asked = '        samples=[Sample.ask("how-many", "How many?", target="3"), '
    shop = SHOP.replace("        samples=[", asked).replace('trajectory.state["basket"] == sample.target["basket"]', "(trajectory.state['basket'] == sample.target['basket'] if isinstance(sample.target, dict) else True)")  # fmt: skip
    Path("shop.py").write_text(shop, encoding="utf-8")
    report = audited("--skip", "A4")
    assert [finding["id"] for finding in report["findings"] if finding["check"] == "null-passes"] == ["null-passes:how-many"]  # fmt: skip
    floors = {floor["agent"]: floor["count"] for floor in report["floor"]}
    assert (floors["idle"], floors["null"]) == (8, 1)
    [left_out] = [each for each in report["not_checked"] if each["check"] == "null-passes"]
    assert left_out["reason"]["values"]["count"] == 8


def test_a_task_with_a_judge_is_audited_without_one() -> None:
    result = CliRunner().invoke(app, ["audit-task", "customer-service", "--limit", "4", "--skip", "A6", "--json"])
    report = json.loads(result.stdout)
    assert report["scorers"] == ["backend", "intent", "robustness"]
    assert any("rubric:service-tone" in str(each["reason"]) for each in report["not_checked"])


def shop_with(*changes: tuple[str, str]) -> None:
    shop = SHOP
    for old, new in changes:
        assert old in shop
        shop = shop.replace(old, new)
    Path("shop.py").write_text(shop, encoding="utf-8")


def unchecked(report: dict[str, Any]) -> set[str]:
    return {each["check"] for each in report["not_checked"] if each["applies"]}


def test_what_fails_in_one_play_and_not_in_the_next_is_not_proved() -> None:
    shop_with(
        ("    def put(", "    asked = 0\n\n    def put("),
        (
            "        if item not in",
            "        Shop.asked += 1\n        if Shop.asked == 1:\n            return 'ok'\n        if item not in",
        ),
    )
    report = audited("--id", "tea", "--check", "A4")
    assert report["findings"] == []
    assert "gold-fails" in unchecked(report)


def test_a_call_that_changed_nothing_in_one_play_only_is_not_proved() -> None:
    shop_with(
        ("    def put(", "    asked = 0\n\n    def put("),
        (
            "        if item not in",
            "        Shop.asked += item == 'jam'\n        if Shop.asked == 1 and item == 'jam':\n            return 'ok'\n        if item not in",
        ),
        ("return Score(points=", "return Score(points=True or "),
    )
    report = audited("--id", "tea", "--id", "jam", "--check", "gold-does-nothing")
    assert report["findings"] == []
    assert "gold-does-nothing" in unchecked(report)


def test_a_backend_that_cannot_be_reached_is_not_checked_and_no_fault_of_the_target() -> None:
    shop_with(("        self.basket = [", "        raise ValueError('connection refused by the backend')\n        self.basket = ["))  # fmt: skip
    report = audited("--id", "tea", "--check", "A4")
    assert report["findings"] == []
    assert "gold-fails" in unchecked(report)


def test_writes_are_played_where_only_a_judge_scores() -> None:
    shop_with(("scorers=[bought]", 'scorers=["rubric:service-tone"]'))
    findings = audited("--check", "gold-does-nothing")["findings"]
    assert [(each["id"], each["class"]) for each in findings] == [("gold-does-nothing:nothing", "proved")]


def test_writes_that_could_not_be_played_are_counted() -> None:
    shop_with(("        oracle=right,\n", ""))
    report = audited("--check", "gold-does-nothing")
    assert [each["check"] for each in report["not_checked"]][-1:] == ["gold-does-nothing"]
    assert report["not_checked"][-1]["reason"]["values"]["count"] == 8


@pytest.mark.parametrize("results", ["", ', results=[ToolResult(name="put", id="0", content="ok")]'])
def test_a_call_that_ends_the_conversation_is_seen_with_what_it_changes(results: str) -> None:
    shop_with(
        ('        return "ok"\n', f'        raise EpisodeOver("closed"{results})\n'),
        (
            "from proctor.core.sample import Message\n",
            "from proctor.core.errors import EpisodeOver\nfrom proctor.core.sample import Message, ToolResult\n",
        ),
        ("return Score(points=", "return Score(points=True or "),
    )
    findings = audited("--id", "tea", "--id", "jam", "--check", "idle-passes")["findings"]
    assert [(each["id"], each["class"]) for each in findings] == [("idle-passes:jam", "proved"), ("idle-passes:tea", "proved")]  # fmt: skip
    assert findings[0]["witness"]["expected"] == ["put"]


TOOLS = '''
    def access(self, item: str, count: int = -1) -> int:
        """Read how many there are, or put the basket's count."""
        self.calls += 1
        self.basket = self.basket if count < 0 else [each for each in self.basket if each != item] + [item] * count
        return len(self.basket)

    def run(self, command: str) -> int:
        """Run a command."""
        self.calls += 1
        self.basket = [*self.basket, "tea"] if command == "buy" else self.basket
        return len(self.basket)

    def put('''


def test_a_read_by_a_tool_that_also_writes_is_only_likely_to_do_nothing() -> None:
    samples = """        samples=[
            sample("a", ["tea"], ("access", {"item": "tea"}), ("access", {"item": "tea", "count": 1})),
            sample("b", ["jam"], ("access", {"item": "jam"}), ("access", {"item": "jam", "count": 1})),
            sample("c", ["tea"], ("run", {"command": "ls"}), ("run", {"command": "buy"})),
            sample("d", ["jam"], ("access", {"item": "ink"}), ("put", {"item": "jam", "count": 1}), ("put", {"item": "tea", "count": 0})),
"""
    shop_with(("\n    def put(", TOOLS), ("        samples=[\n", samples))
    findings = audited("--check", "gold-does-nothing", *(word for id in "abcd" for word in ("--id", id)))["findings"]
    assert [(each["id"], each["class"]) for each in findings] == [
        ("gold-does-nothing:d", "proved"),  # by a later call than one that is likely only
        *((f"gold-does-nothing:{id}", "likely") for id in "abc"),
    ]


def test_a_tool_that_changes_something_in_few_of_its_calls_does_not_only_write() -> None:
    moving = SHOP.replace(
        "self.calls += 1\n        return self",
        "self.calls += 1\n        self.clock += item == 'clock'\n        return self",
    )
    moving = moving.replace("self.calls = 0", "self.calls = self.clock = 0")
    items = ("clock", *(f"item{n}" for n in range(8)))
    looks = "".join(f'sample("{item}", [], ("look", {{"item": "{item}"}})), ' for item in items)
    moving = moving.replace('sample("decline", []),', f'sample("decline", []), {looks}')
    Path("shop.py").write_text(moving, encoding="utf-8")
    ids = {each["id"] for each in audited("--check", "gold-does-nothing")["findings"]}
    assert ids == {"gold-does-nothing:nothing"}
