"""SOTOPIA: recorded results of the official code come out the same, and episodes are played, judged, written and read.

`tests/data/sotopia.jsonl.gz` was made by running sotopia 0.1.5 and its repository at a0aaafb440e5 with scripted players.
"""

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.api import Run, evaluate
from proctor.core.errors import BadInput
from proctor.core.sample import FreshTurn, Message
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.task import TakesSample
from proctor.core.trajectory import Step, Trajectory
from proctor.transport.faults import NotAccepted, RequestFault
from proctor_benchmarks import sotopia
from proctor_benchmarks.sotopia.actions import UnreadAction, read_action
from proctor_benchmarks.sotopia.parity import check_corpus
from proctor_benchmarks.sotopia.partner import EpisodeStage
from proctor_benchmarks.sotopia.ratings import RANGES
from proctor_benchmarks.sotopia.scene import rendered
from proctor_benchmarks.sotopia.scorer import SotopiaScorer

CORPUS = Path(__file__).parents[2] / "data" / "sotopia.jsonl.gz"
LEAVES = {"action_type": "leave", "argument": ""}


def speaks(words: str) -> str:
    return json.dumps({"action_type": "speak", "argument": words})


def ratings(points: int = 7, edition: str = "package", **others: int) -> str:
    def value(name: str) -> object:
        low, high = RANGES[name]
        score = others.get(name, points if name == "goal" else (low + high) // 2)
        return [f"why {name}", score] if edition == "package" else {"reasoning": f"why {name}", "score": score}

    one = {name: value(name) for name in RANGES}
    return json.dumps({"evaluations": {"agent_1": one, "agent_2": one}})


def scripted(path: Path, reply: str) -> str:
    """Return the name of a model whose replies are those of a function in a file."""
    path.write_text(
        "from proctor.models.scripted import ScriptedModel\n"
        "from proctor.core.errors import ProviderFailed\n"
        f"def reply(messages, tools):\n    text = messages[-1].text\n    {reply}\n"
        "model = ScriptedModel(reply)\n",
        encoding="utf-8",
    )
    return f"{path}:model"


def run(agent: Any, tmp_path: Path, *, partner: str = "", judge: str = "", **options: Any) -> Run:
    return evaluate(
        "sotopia",
        agent=agent,
        options={
            "data": "example",
            "partner": scripted(tmp_path / "partner.py", partner or f"return {speaks('No.')!r}"),
            **options,
        },
        judge=scripted(tmp_path / "judge.py", judge or f"return {ratings()!r}") if judge != "none" else None,
        store=str(tmp_path / "runs.db"),
        run_id="r",
    )


def test_every_line_of_the_corpus_agrees() -> None:
    checked = list(check_corpus(CORPUS))
    differing = [f"{line.id}: official {line.official}, ours {line.ours}" for line in checked if not line.agrees]
    assert len(Counter(line.rule for line in checked)) == 24  # twelve kinds, two editions
    assert not differing, differing[:5]


def test_an_altered_line_of_each_kind_differs(tmp_path: Path) -> None:
    by_kind = {line["kind"]: line for line in map(json.loads, gzip.decompress(CORPUS.read_bytes()).splitlines())}
    altered: dict[str, Callable[[dict[str, Any]], object]] = {
        "terminate": lambda line: line["terminated"].__setitem__(1, "Boredom; "),
        "aggregate": lambda line: line.update(result={}),
        "range": lambda line: line.update(accepted="other"),
        "range_custom": lambda line: line.update(accepted="other"),
        "judge": lambda line: line["prompt_sha256"].append("0"),
        "player": lambda line: line.update(calls=3),
        "action_text": lambda line: line.update(text="said nothing"),
        "script_line": lambda line: line.update(parsed={}),
        "script": lambda line: line.update(actions=[]),
        "render": lambda line: line.update(shown="other"),
        "episode": lambda line: line["result"]["messages"].pop(),
        "benchmark": lambda line: line["margins_seed0"].update(goal=line["margins_seed0"]["goal"] * 1.03 + 0.01),
    }
    for kind, alter in altered.items():
        alter(by_kind[kind])
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, by_kind.values())), encoding="utf-8")
    assert [line.rule for line in check_corpus(path) if line.agrees] == []
    assert by_kind.keys() == altered.keys()


def test_the_agent_plays_each_seat_and_is_judged_in_seven_dimensions(tmp_path: Path) -> None:
    seen: list[str] = []

    def agent(text: str) -> str:
        seen.append(text)
        return speaks("Thirty?")

    found = run(agent, tmp_path)
    assert found.outcomes == {"scored": 8}
    by_name = {one.name: one for one in found.estimates if not one.slice}
    assert by_name["goal"].value == 7
    assert by_name["goal"].clusters == 4
    assert by_name["secret"].value == -5
    assert by_name["overall_score"].value == pytest.approx((5 + 0 + 5 - 5 - 5 + 0 + 7) / 7)
    trial = next(trial for trial in found.trials() if trial.sample_id == "lamp/ana+ben/2")
    assert trial.trajectory.state is not None
    assert trial.trajectory.state["ended"] == "The conversation is too long; "
    assert trial.trajectory.state["asked"] == [10, 10]
    first = next(text for text in seen if "Ben Okafor's goal: Buy" in text)
    assert first.startswith("Imagine you are Ben Okafor")
    assert "Ana Roche's background: Unknown" in first
    assert "It cost you" not in first
    assert 'Turn #0: Ana Roche said: "No."' in first


def test_each_reads_only_its_own_background_and_the_judge_all(tmp_path: Path) -> None:
    asked = tmp_path / "asked.txt"
    reply = f"with open({str(asked)!r}, 'a') as file: file.write(text)\n    return {ratings()!r}"
    run(lambda text: json.dumps(LEAVES), tmp_path, judge=reply)
    text = asked.read_text(encoding="utf-8")
    assert "Ana's secrets: She has to pay her rent" in text
    assert "Ben's secrets: He has been looking" in text
    assert "Ana Roche left the conversation" in text
    assert "did nothing" not in text


def test_a_partner_who_leaves_at_once_ends_the_episode_before_the_agent_spoke(tmp_path: Path) -> None:
    found = run(lambda text: speaks("Hello"), tmp_path, partner=f"return {json.dumps(LEAVES)!r}")
    assert found.outcomes == {"scored": 8}
    trials = {trial.sample_id: trial.trajectory for trial in found.trials()}
    assert trials["lamp/ana+ben/2"].answer == ""
    assert trials["lamp/ana+ben/1"].answer == speaks("Hello")


def test_silence_ends_an_episode_sooner_in_the_release(tmp_path: Path) -> None:
    def turns(edition: str, folder: Path) -> int:
        folder.mkdir()
        silent = {"action_type": "none", "argument": "", **({"to": []} if edition == "main" else {})}
        partner = json.dumps({**json.loads(speaks("Well?")), **({"to": []} if edition == "main" else {})})
        found = run(
            lambda text: json.dumps(silent),
            folder,
            partner=f"return {partner!r}",
            judge=f"return {ratings(edition=edition)!r}",
            edition=edition,
        )
        assert found.outcomes == {"scored": 8}
        state = next(trial for trial in found.trials() if trial.sample_id == "lamp/ana+ben/2").trajectory.state
        assert state is not None
        return len(state["done"])

    assert turns("package", tmp_path / "a") == 2  # the silence of those whose turn it was not counts too
    assert turns("main", tmp_path / "b") == 20


def test_in_main_a_private_word_is_heard_by_those_it_is_for_and_a_slip_is_asked_for_again(tmp_path: Path) -> None:
    seen: list[str] = []

    def agent(text: str) -> str:
        seen.append(text)
        if "Original string" in text:
            return json.dumps({"action_type": 1, "argument": "psst", "to": ["Ben Okafor"]})
        return "I would say psst"

    said = json.dumps({"action_type": "speak", "argument": "Hm", "to": []})
    found = run(
        agent, tmp_path, partner=f"return {said!r}", judge=f"return {ratings(edition='main')!r}", edition="main"
    )
    trial = next(trial for trial in found.trials() if trial.sample_id == "lamp/ana+ben/1")
    assert trial.trajectory.state is not None
    assert trial.trajectory.state["done"][0][0] == {"action_type": "speak", "argument": "psst", "to": ["Ben Okafor"]}
    assert any("[private to ['Ben Okafor']]" in text for text in seen)


def test_an_agent_of_whom_nothing_can_be_read_has_failed(tmp_path: Path) -> None:
    found = run("baseline:null", tmp_path)
    assert found.outcomes == {"agent_failed": 8}
    assert found.estimate("accuracy").value == 0
    assert {trial.failure.kind for trial in found.trials() if trial.failure} == {"unreadable"}


@pytest.mark.parametrize(
    "partner", ["raise ProviderFailed('down', kind='server_error')", "return 'I am not in the mood for JSON'"]
)
def test_a_partner_that_fails_is_no_silence(partner: str, tmp_path: Path) -> None:
    assert run(lambda text: speaks("Hello"), tmp_path, partner=partner).outcomes == {"user_failed": 8}


@pytest.mark.parametrize(
    "judge",
    [
        "raise ProviderFailed('down', kind='server_error')",
        "return 'Both were nice.'",
        f"return {ratings(secret=1)!r}",
        "return '{\"evaluations\": {}}'",
    ],
)
def test_a_judge_that_fails_gives_no_zero(judge: str, tmp_path: Path) -> None:
    found = run(lambda text: json.dumps(LEAVES), tmp_path, judge=judge)
    assert {verdict.result.why for verdict in found.verdicts()} == {"judge_failed"}  # type: ignore[union-attr]
    assert not [one for one in found.estimates if one.name == "goal"]


class WithoutSchemas:
    """A model whose endpoint refuses schemas."""

    name = "plain"

    def __init__(self) -> None:
        self.forms: list[Any] = []

    async def complete(self, messages: object, tools: object = (), *, response_format: Any = None) -> Step:
        self.forms.append(response_format)
        if response_format is not None:
            raise NotAccepted(say("no schemas here"), RequestFault("http_400", status=400))
        return Step(message=Message.of("assistant", speaks("Hm")))


def test_a_partner_is_bound_to_the_schema_until_its_endpoint_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    model = WithoutSchemas()
    monkeypatch.setattr("proctor_benchmarks.sotopia.partner.model", lambda *_, **__: model)
    task = sotopia.task(data="example", partner="plain:")
    assert isinstance(task.samples, list)
    assert isinstance(task.user, TakesSample)
    sample = next(one for one in task.samples if one.meta["seat"] == 1)  # the partner begins
    playing = task.user.open(sample, EpisodeStage(sample))

    async def play() -> None:
        said = Trajectory.of(speaks("Hello"))
        for _ in range(3):
            assert isinstance(await playing.reply(sample, said), FreshTurn)

    asyncio.run(play())
    assert [form is not None for form in model.forms] == [True, False, False, False]
    assert model.forms[0]["json_schema"]["schema"]["additionalProperties"] is False


def test_a_judge_is_asked_once_to_bring_its_reply_into_the_form(tmp_path: Path) -> None:
    judge = f"return {ratings(9)!r} if 'Original string' in text else 'Nine points.'"
    assert run(lambda text: json.dumps(LEAVES), tmp_path, judge=judge).estimate("goal").value == 9


def test_without_a_judge_or_a_partner_the_run_says_what_is_missing(tmp_path: Path) -> None:
    found = run(lambda text: json.dumps(LEAVES), tmp_path, judge="none")
    assert "--judge" in str(next(iter(found.verdicts())).result.reason)
    with pytest.raises(BadInput, match="--set partner="):
        evaluate("sotopia", agent=lambda text: "", options={"data": "example"}, store=str(tmp_path / "two.db"))


def test_episodes_are_written_as_officially_and_read_again(tmp_path: Path) -> None:
    first = run(lambda text: speaks("Thirty?"), tmp_path)
    trials = [(first.store.sample("r", trial.sample_id), trial) for trial in first.trials()]
    [path] = sotopia.PART.export(trials, tmp_path / "out", "mine")  # type: ignore[misc, arg-type]
    logs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert logs[0].keys() == {"environment", "agents", "tag", "models", "messages", "reasoning", "rewards"}
    assert {tuple(log["models"]) for log in logs} == {("", "mine", "partner"), ("", "partner", "mine")}
    again = evaluate(
        "sotopia",
        replies=str(tmp_path / "out"),
        options={"data": "example", "model": "mine"},
        judge=scripted(tmp_path / "other.py", f"return {ratings(4)!r}"),
        store=str(tmp_path / "again.db"),
    )
    assert again.outcomes == {"scored": 8}
    assert again.estimate("goal").value == 4


def test_the_points_of_recorded_episodes_count_without_a_judge(tmp_path: Path) -> None:
    points = {name: low + 1 for name, (low, _) in RANGES.items()}
    said = [
        ["Environment", "Ana Roche", "…"],
        ["Environment", "Ben Okafor", "…"],
        ["Ana Roche", "Environment", 'said: "Hi"'],
    ]
    log = {
        "environment_id": "lamp",
        "agent_ids": ["ana", "ben"],
        "experiment_model_name_pairs": ["judge", "M", "P"],
        "raw_messages": [said],
        "rewards": [[0.0, points], [0.0, {**points, "goal": 10, "overall_score": 3.0}]],
    }
    path = tmp_path / "episodes.jsonl"
    path.write_text(json.dumps(log) + "\n", encoding="utf-8")
    options = {"data": "example", "model": "P"}
    found = evaluate("sotopia", replies=str(path), options=options, store=str(tmp_path / "runs.db"))
    assert found.estimate("goal").value == 10
    assert found.estimate("secret").value == -9
    with pytest.raises(BadInput, match="the model X"):
        evaluate("sotopia", replies=str(path), options={**options, "model": "X"}, store=str(tmp_path / "two.db"))


def test_official_profiles_are_read_from_a_folder(tmp_path: Path) -> None:
    rows: dict[str, list[dict[str, object]]] = {
        "agent_profiles.jsonl": [
            {"agent_id": "a", "first_name": "Ann", "last_name": "Lee", "age": 30, "moral_values": []},
            {"agent_id": "b", "first_name": "Bob", "last_name": "Ray", "age": 31},
        ],
        "environment_profiles.jsonl": [
            {
                "env_id": "e",
                "scenario": "A stall.",
                "agent_goals": ["Sell", "Buy"],
                "relationship": "RelationshipType.friend",
            }
        ],
        "env_agent_combo_storages.jsonl": [{"combo_id": "c", "env_id": "e", "agent_ids": ["a", "b"]}],
    }
    for name, lines in rows.items():
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    samples = sotopia.task(data=str(tmp_path)).samples
    assert isinstance(samples, list)
    assert [sample.id for sample in samples] == ["e/a+b/1", "e/a+b/2"]
    assert samples[0].tags["relationship"] == "friend"
    (tmp_path / "environment_profiles.jsonl").unlink()
    with pytest.raises(BadInput, match="one file \\*environment_profiles"):
        sotopia.task(data=str(tmp_path))


CHARACTER = '[[characters]]\nid = "{id}"\nfirst_name = "A"\nlast_name = "B"\n'
SCENARIO = '[[scenarios]]\nid = "s"\nscenario = "x"\nagent_goals = ["g", "h"]\nplayers = [{players}]\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no scenario with players"),
        ("[[people]]", "expected"),
        ("x = 1", "expected a list"),
        ("[[", "cannot be read"),
        ('[[characters]]\nid = "a"', "first_name"),
        (CHARACTER.format(id="a") * 2, "given before"),
        (SCENARIO.format(players='["ana"]'), "2 to 10"),
        (SCENARIO.format(players='"ana"'), "players of 's'"),
        (CHARACTER.format(id="anna") + SCENARIO.format(players='["ana", "ben"]'), "Did you mean 'anna'"),
        (SCENARIO.format(players="").replace("x", 'x"\nrelationship = "enemy'), "relationship"),
    ],
)
def test_wrong_scenarios_are_named_before_anything_is_asked(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        sotopia.task(data=str(path))


def test_without_data_the_form_is_told() -> None:
    with pytest.raises(BadInput, match="data=example"):
        sotopia.task()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I <3 you & me", "I 3 you  me"),
        ("<p viewer='agent_1'>a</p>b", "b"),
        ("a <b>c</b>", "a "),
        ("\x00a", "a"),
        ("<a>" * 5_000, ""),
        ('<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><root>&b;</root>', "a" * 30),
    ],
)
def test_tags_in_what_a_player_says_vanish_as_officially(text: str, shown: str) -> None:
    assert rendered(text, "agent_0") == shown


def test_entities_that_grow_without_end_are_not_expanded() -> None:
    bomb = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 20}">' for n in range(12))
    assert len(rendered(f'<!DOCTYPE r [<!ENTITY e0 "x">{bomb}]><root>&e12;</root>', "agent_0")) < 20_000


def test_an_episode_that_a_limit_cuts_off_earns_nothing_and_is_not_judged() -> None:
    [sample, *_] = sotopia.task(data="example").samples  # type: ignore[misc]
    said = [[{"action_type": "speak", "argument": "Hello"}, {}]]
    result = asyncio.run(SotopiaScorer()(sample, Trajectory(steps=(), state={"done": said, "ended": ""})))
    assert isinstance(result, Score)
    assert (result.points, result.out_of, result.details["error_class"]) == (0, 10, "cut_off")


def test_a_long_reply_is_silence(tmp_path: Path) -> None:
    found = run(lambda text: speaks("x" * 30_000), tmp_path, max_turns=4)
    assert found.outcomes == {"agent_failed": 8}


@pytest.mark.parametrize("said", ['un"quoted', '"quoted" start', 'say "hi" now', 'a "b"', 'end"', '一"二"三'])
def test_quotes_inside_an_argument_are_read_as_json_repair_does(said: str) -> None:
    reply = f'{{"action_type": "speak", "argument": "{said}", "to": []}}'
    assert read_action(reply, "main").argument == said
    with pytest.raises(UnreadAction):
        read_action(reply, "package")
