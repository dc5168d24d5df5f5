"""API-Bank as people run it: which samples there are, what they show, and who scores what."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.openai import ChatAgent
from proctor.api import Run, evaluate
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks import apibank

FIRST = "level-1/AddAgenda-AddAlarm-GetUserToken-level-2-1"
SEARCH = "level-2/AddAgenda-level-3-1/0"


def samples_of(name: str | None, root: Path, **options: Any) -> list[Sample]:
    found = apibank.task(name, data=str(root), **options).samples
    assert isinstance(found, list)
    return found


def run(name: str, root: Path, agent: Any = None, **options: Any) -> Run:
    chosen = {one: options.pop(one) for one in ("ids", "replies") if one in options}
    return evaluate(name, agent=agent, options={"data": str(root), **options}, store=":memory:", max_failed=1, **chosen)


def verdicts(root: Path, *replies: tuple[str, str], **options: Any) -> list[Score | Unscored]:
    """Return what the scorer of calls says of replies to samples."""
    made = apibank.task(data=str(root), ask="call", **options)
    samples = {one.id: one for one in made.samples}  # type: ignore[union-attr]
    (scorer,) = made.scorers

    async def found() -> list[Score | Unscored]:
        async with scorer:  # type: ignore[union-attr]
            return [await scorer(samples[id], Trajectory.of(text)) for id, text in replies]  # type: ignore[operator, misc]

    return asyncio.run(found())


def figures(found: Run) -> Mapping[tuple[str, str], float | None]:
    return {(one.name, one.slice): one.value for one in found.estimates}


def test_every_call_and_what_follows_it_is_a_sample(apibank_root: Path) -> None:
    found = samples_of(None, apibank_root)
    assert Counter(one.tags["part"] for one in found) == {
        "level-1/call": 399,
        "level-1/response": 375,
        "level-2/call": 90,
        "level-2/search": 45,
        "level-2/response": 103,
    }
    assert len({one.id for one in found}) == len(found)


def test_a_sample_shows_what_the_official_code_sends(apibank_root: Path) -> None:
    call, response = (one for one in samples_of("1", apibank_root) if one.id in (f"{FIRST}/0", f"{FIRST}/1"))
    system, *history = call.turns[0].messages
    assert system.text.startswith("\nBased on the given API description")
    assert [json.loads(line)["name"] for line in system.text.splitlines()[-3:]] == [
        "AddAgenda",
        "AddAlarm",
        "GetUserToken",
    ]
    assert call.target == "[GetUserToken(username='JaneSmith', password='password')]"
    assert response.turns[0].messages[1:-1] == tuple(history)
    made = response.turns[0].messages[-1]
    assert made.role == "system"
    assert made.text == f"{call.target} Response: {{'token': 'o8i7u6y5t4r3e2w1q0'}}"


def test_level_2_shows_only_the_search_until_a_response_is_asked_for(apibank_root: Path) -> None:
    shown = {one.id: one.turns[0].messages[0].text for one in samples_of("level-2", apibank_root)}
    assert shown[SEARCH].endswith('"The best match tool(s)."}}}')
    assert '"AddAgenda"' not in shown[SEARCH]
    assert '"AddAgenda"' in shown[SEARCH[:-1] + "1"]


def test_the_oracle_meets_the_ceiling_and_null_earns_nothing(apibank_root: Path) -> None:
    value = figures(run("apibank/2", apibank_root, "baseline:oracle"))
    assert value["official.rouge_l", "level=level-2"] == 1
    assert value["call_accuracy", "level=level-2"] == 125 / 135
    assert value["call_accuracy_without_search", "level=level-2"] == 80 / 90
    null = figures(run("apibank/2", apibank_root, "baseline:null"))
    assert {null[name, "level=level-2"] for name in ("call_accuracy", "official.rouge_l")} == {0}


REPLIES = {
    "AI: [GetUserToken(username=JaneSmith, password=\"password')]": None,
    "I will call GetUserToken.": "NO_API_CALL",
    "[getUserToken()]": "API_NAME_MISMATCH",
    "[GetUserToken(username='JaneSmith')]": "MISS_INPUT_ARGUMENT",
    "[GetUserToken(user='JaneSmith')]": "INVALID_INPUT_PARAMETER",
    "[GetUserToken(username='JaneSmith', password='it's')]": "HAS_EXCEPTION",
    "[GetUserToken(username='foo', password='bar', self='x')]": "RAISES",
}


def test_a_reply_has_its_official_error_class(apibank_root: Path) -> None:
    found = verdicts(apibank_root, *((f"{FIRST}/0", text) for text in REPLIES))
    assert [one.known.error_class or None for one in found] == list(REPLIES.values())
    assert [one.points for one in found if isinstance(one, Score)] == [1, 0, 0, 0, 0, 0, 0]


def test_a_search_that_nobody_recorded_is_unscored_or_made_by_words(apibank_root: Path) -> None:
    known, unknown = (SEARCH, "[ToolSearcher(keywords='add schedule')]"), (SEARCH, "[ToolSearcher(keywords='agenda')]")
    right, missing = verdicts(apibank_root, known, unknown)
    assert isinstance(right, Score)
    assert right.points == 1
    assert isinstance(missing, Unscored)
    assert missing.known.kind == "no_embeddings"
    assert all(isinstance(one, Score) for one in verdicts(apibank_root, known, unknown, search="words"))


def test_a_tool_that_cannot_work_here_is_no_wrong_answer(apibank_root: Path) -> None:
    tools = ("Dictionary", "Translate", "SearchEngine")
    documents = apibank_root / "init_database" / "SearchEngine.json"
    documents.write_text('{"tokenized_documents": [], "raw_documents": []}')
    asked = [one for one in samples_of("1", apibank_root, ask="call") if one.meta["apibank"]["api"] in tools]
    found = verdicts(apibank_root, *((one.id, str(one.target)) for one in asked))
    documents.unlink()
    kinds = {(one.meta["apibank"]["api"], verdict.known.kind) for one, verdict in zip(asked, found, strict=True)}
    assert kinds >= {("Dictionary", "no_network"), ("Translate", "no_network"), ("SearchEngine", "no_tokenizer")}


def test_predictions_are_written_as_officially_and_read_again(apibank_root: Path, tmp_path: Path) -> None:
    first = run("apibank/2", apibank_root, "baseline:oracle")
    trials = [(first.store.sample(first.record.id, trial.sample_id), trial) for trial in first.trials()]
    written = apibank.PART.export(trials, tmp_path, "some/model")  # type: ignore[misc, arg-type]
    assert sorted(path.name for path in written) == ["level-2-api.jsonl", "level-2-response.jsonl"]
    line = json.loads(written[0].read_text(encoding="utf-8").splitlines()[0])
    assert line.keys() >= {"file", "id", "pred"}
    again = run("apibank/2", apibank_root, replies=str(tmp_path / "some_model"))
    assert figures(again) == figures(first)


def test_a_call_that_a_file_of_predictions_lacks_is_wrong(apibank_root: Path, tmp_path: Path) -> None:
    (tmp_path / "pred.jsonl").write_text(
        json.dumps({"file": f"{FIRST.partition('/')[2]}.jsonl", "id": 1, "pred": "Done."})
    )
    found = run("apibank/1", apibank_root, replies=str(tmp_path / "pred.jsonl"))
    assert found.estimate("call.accuracy").scored == 3
    assert found.estimate("call.accuracy").value == 0


def test_dialogues_of_ones_own_are_played_with_the_official_tools(apibank_root: Path, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"role": "User", "text": "Which day is it?"},
        {"role": "API", "api_name": "GetToday", "param_dict": {},
         "result": {"api_name": "GetToday", "input": None, "output": "2023-03-31", "exception": None}},
        {"role": "AI", "text": "It is 31 March."},
    ]  # fmt: skip
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    found = run("apibank/level-1", apibank_root, "baseline:oracle", dialogues=str(path))
    assert found.outcomes == {"scored": 2}
    assert found.estimate("call.accuracy").value == 1
    path.write_text("\n".join(map(json.dumps, lines[:2])))
    with pytest.raises(BadInput, match="ends with a call"):
        samples_of("level-1", apibank_root, dialogues=str(path))
    path.write_text(json.dumps(lines[1] | {"api_name": "Nope"}) + "\n" + json.dumps(lines[2]))
    with pytest.raises(BadInput, match="tools that are not there: Nope"):
        samples_of("level-1", apibank_root, dialogues=str(path))


def planned(folder: Path) -> str:
    """Write files of level 3: two dialogues, with three calls and two responses."""
    user = {"api_name": "AccountInfo", "input": {"username": "John", "password": "123456"}}
    account = {
        **user,
        "output": {"email": "john@example.com", "phone": "1234567890"},
        "exception": None,
    }
    search = {
        "api_name": "ToolSearcher",
        "input": {"keywords": "account"},
        "output": {"name": "AccountInfo"},
        "exception": None,
    }
    dialogues: list[list[dict[str, Any]]] = [[search, account], [account]]
    asks = [(0, 0), (0, 1), (1, 0)]
    made: dict[str, list[dict[str, Any]]] = {
        "level-3.json": [{"apis": [{"api_name": call["api_name"], "output": call} for call in calls]} for calls in dialogues],
        "level-3-batch-inf.json": [{"sample_id": one, "api_id": at, "instruction": "Call.", "input": "User: Hi"} for one, at in asks],
        "level-3-batch-inf-response.json": [{"sample_id": 0, "instruction": "Answer.", "input": "User: Hi", "output": "It is John."}] * 2,
    }  # fmt: skip
    folder.mkdir(exist_ok=True)
    for name, content in made.items():
        (folder / name).write_text(json.dumps(content))
    return str(folder)


def test_level_3_is_read_from_the_files_of_the_hub(apibank_root: Path, tmp_path: Path) -> None:
    def answer(messages: Sequence[Any], _: object) -> str:
        return "User: It is John. AI:" if messages[0].text == "Answer." else "API-Request: [AccountInfo(username='John', password='123456')]"  # fmt: skip

    found = run("apibank/3", apibank_root, ChatAgent(ScriptedModel(answer)), level3=planned(tmp_path / "hub"))
    value = figures(found)
    assert value["call_accuracy", "level=level-3"] == 2 / 3
    assert value["sample_accuracy", "level=level-3"] == 49 / 50
    assert value["official.rouge_l", "level=level-3"] == pytest.approx(1)
    wrong = next(one.result for one in found.verdicts() if one.sample_id == "level-3/0/0" and one.scorer == "call")
    assert wrong.known.error_class == "MISMATCH"
    trials = [(found.store.sample(found.record.id, trial.sample_id), trial) for trial in found.trials()]
    apibank.PART.export(trials, tmp_path, "m")  # type: ignore[misc, arg-type]
    again = run("apibank/3", apibank_root, level3=str(tmp_path / "hub"), replies=str(tmp_path / "m"))
    assert figures(again) == value


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("level-4", {}, "cannot be 'level-4'. It can be: level-1"),
        ("level-3", {}, "holds no level-3.json"),
        (None, {"data": "/nowhere"}, "holds no API-Bank"),
        (None, {"dialogues": "x.jsonl"}, "Name the one level"),
        ("level-1", {"dialogues": "/nowhere"}, "holds no dialogues"),
        (None, {"serach": "words"}, "Did you mean 'search'"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_asked(
    name: str | None, options: dict[str, Any], said: str, apibank_root: Path
) -> None:
    with pytest.raises(BadInput, match=said):
        apibank.task(name, **{"data": str(apibank_root), **options})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"file": "Nope.jsonl", "id": 0, "pred": ""}, "the dialogue Nope.jsonl is not in level-1"),
        ({"sample_id": 0, "api_id": 0, "pred": ""}, "a prediction of level 3"),
        ({"file": "x", "id": 0}, "'pred' is missing"),
    ],
)
def test_a_wrong_file_of_predictions_says_where(line: object, said: str, apibank_root: Path, tmp_path: Path) -> None:
    (tmp_path / "pred.jsonl").write_text(json.dumps(line))
    with pytest.raises(BadInput, match=said):
        run("apibank/level-1", apibank_root, replies=str(tmp_path / "pred.jsonl"))


def test_another_copy_is_told_from_the_pinned_one(apibank_root: Path) -> None:
    notes = [str(note) for note in apibank.task(data=str(apibank_root)).notes]
    assert notes == ["The copy of API-Bank is not the pinned one (483554eae102)."]


@pytest.mark.parametrize(("agent", "value"), [("baseline:oracle", 1.0), ("baseline:null", 0.0)])
def test_the_example_shows_a_right_result_without_data(agent: str, value: float) -> None:
    found = evaluate("apibank", agent=agent, options={"data": "example"}, store=":memory:")
    assert found.estimate("call.accuracy").value == found.estimate("rouge_l.accuracy").value == value
    assert (found.estimate("call.accuracy").scored, found.estimate("rouge_l.accuracy").scored) == (6, 4)
    assert "commit" not in found.record.provenance  # it is none of the official dialogues
    assert "not official" in str(apibank.task(data="example").notes)


def test_wrong_calls_of_the_example_have_the_official_classes() -> None:
    example = Path("example")
    replies = (
        ("level-1/reserve/0", "[FindBook(title='Emma')]"),
        ("level-1/reserve/2", "[ReserveBook(title='Falkner')]"),
        ("level-1/missing/0", "[FindBook(name='Dracula')]"),
        ("level-2/shelf/1", "[ReserveBook(title='Emma', reader='1')]"),
    )
    found = [one.details["error_class"] for one in verdicts(example, *replies)]
    assert found == ["OUTPUT_MISMATCH", "MISS_INPUT_ARGUMENT", "INVALID_INPUT_PARAMETER", "API_NAME_MISMATCH"]
