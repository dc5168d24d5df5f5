"""ChatEval: recorded results of the official code come out the same, and debates are played, scored, written and read.

`tests/data/chateval.jsonl.gz` was made by running ChatEval at commit 56b320c04f31 with scripted referees.
"""

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proctor.api import Run, evaluate
from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.sample import Message
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks import chateval
from proctor_benchmarks.chateval.agent import DebateAgent
from proctor_benchmarks.chateval.parity import check_corpus

CORPUS = Path(__file__).parents[2] / "data" / "chateval.jsonl.gz"
BETTER = {"Canberra.": 9, "340 + 68": 9, "Le chat dort": 9, "--soft": 9, "从签收": 9, "Good morning": 9}


def referee(messages: Sequence[Message], _: object) -> str:
    """A referee that talks, and when it is asked for scores gives the better answer more."""
    if not messages[-1].text:
        return "I would like to hear the others first."
    first, _, second = messages[0].text.partition("</answer_of_assistant_1>")
    points = [next((value for text, value in BETTER.items() if text in shown), 3) for shown in (first, second)]
    return f"My reasons.\nThe score of Assistant 1: {points[0]}\nThe score of Assistant 2: {points[1]}"


def run(agent: Any, store: Path, **options: Any) -> Run:
    return evaluate(
        "chateval", agent=agent, options={"data": "example", **options}, store=str(store / "runs.db"), run_id="r"
    )


def test_every_line_of_the_corpus_agrees() -> None:
    checked = list(check_corpus(CORPUS))
    differing = [f"{line.id}: official {line.official}, ours {line.ours}" for line in checked if not line.agrees]
    assert Counter(line.rule for line in checked) == {
        "reply_check": 102,
        "score": 92,
        "debate": 76,
        "vote": 49,
        "kappa": 42,
    }
    assert not differing, differing[:5]


def test_an_altered_line_of_each_kind_differs(tmp_path: Path) -> None:
    by_kind = {line["kind"]: line for line in map(json.loads, gzip.decompress(CORPUS.read_bytes()).splitlines())}
    by_kind["reply_check"]["accepted"] = by_kind["reply_check"]["accepted"] is not True
    by_kind["debate"]["asked"].append("nobody")
    by_kind["score"]["result"]["predictions"].append("tie")
    by_kind["vote"]["result"]["accuracy"] += 0.25
    by_kind["kappa"]["kappa"] = 0.123
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, by_kind.values())), encoding="utf-8")
    assert [line.agrees for line in check_corpus(path)] == [False] * 5


def test_referees_that_debate_agree_with_people(tmp_path: Path) -> None:
    found = run(DebateAgent([ScriptedModel(referee)], name="debate:scripted"), tmp_path)
    by_name = {one.name: one for one in found.estimates if not one.slice}
    assert by_name["accuracy"].value == 1
    assert by_name["average_accuracy"].value == 1
    assert by_name["average_accuracy"].scored == 6
    assert by_name["adversarial_accuracy"].scored == 12
    assert by_name["adversarial_accuracy"].clusters == 6
    trial = next(found.trials())
    assert [step.author for step in trial.trajectory.steps] == ["Reader", "Critic", "Reader", "Critic"]
    assert trial.trajectory.state == {
        "evaluation": [{"role": step.author, "evaluation": step.message.text} for step in trial.trajectory.steps[2:]],
        "complete": True,
    }


def test_a_summary_is_heard_in_place_of_a_round(tmp_path: Path) -> None:
    heard: list[list[str]] = []

    def reply(messages: Sequence[Message], offered: object) -> str:
        if messages[0].text.startswith("Summarize"):
            assert "Reader: I would like" in messages[0].text
            return "Both want to hear more."
        heard.append([one.text for one in messages[1:-1]])
        return referee(messages, offered)

    run(DebateAgent([ScriptedModel(reply)], name="debate:x"), tmp_path, order="concurrent", turns=3, summary=True)
    assert heard[2] == heard[3] == ["Summarizer: Both want to hear more."]


def test_null_earns_nothing_and_an_unreadable_speech_says_so(tmp_path: Path) -> None:
    found = run("baseline:null", tmp_path)
    assert found.estimate("accuracy").value == 0
    assert {verdict.result.known.error_class for verdict in found.verdicts()} == {"unreadable_scores"}


def test_a_provider_that_fails_is_no_speech(tmp_path: Path) -> None:
    model = ScriptedModel([*["Hm."] * 6, ProviderFailed("The endpoint is down.", kind="server_error")] * 20)
    found = run(DebateAgent([model], name="debate:down"), tmp_path)
    assert found.outcomes.get("provider_failed", 0) > 0


def test_a_run_is_written_as_officially_and_read_again(tmp_path: Path) -> None:
    first = run(DebateAgent([ScriptedModel(referee)], name="debate:scripted"), tmp_path / "one")
    trials = [(first.store.sample("r", trial.sample_id), trial) for trial in first.trials()]
    written = chateval.PART.export(trials, tmp_path / "out", "some/model")  # type: ignore[misc, arg-type]
    assert [path.parts[-3:] for path in written] == [
        ("calc_score_comparison", "some_model", "pair_comparison_results.json"),
        ("calc_score_comparison_reverse", "some_model", "pair_comparison_results.json"),
    ]
    official = json.loads(written[0].read_text(encoding="utf-8"))
    assert official[0].keys() == {"question", "response", "evaluation"}
    again = evaluate(
        "chateval", replies=str(tmp_path / "out"), options={"data": "example"}, store=str(tmp_path / "again.db")
    )
    assert again.estimate("average_accuracy").value == 1
    assert again.outcomes == {"scored": 12}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[{"question": "q", "response": {"a": "1", "b": "2"}}]', "item 0 has no pair of answers"),
        (
            '[{"question": "q", "response": {"gpt35": "1", "vicuna": "2"}, "human_results": "output_1"}]',
            "the label 'output_1'",
        ),
        ("[]", "has no items"),
        ("{", "Expecting"),
    ],
)
def test_wrong_data_are_named_before_anything_is_asked(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        chateval.task(data=str(path))


def test_without_data_the_form_is_told() -> None:
    with pytest.raises(BadInput, match="data=example"):
        chateval.task()


def test_an_agent_that_debates_needs_a_debate(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "2+2?", "answer": "4"}', encoding="utf-8")
    with pytest.raises(BadInput, match="brings no debate"):
        evaluate(
            str(tmp_path / "q.jsonl"), agent=DebateAgent([ScriptedModel(["x"])], name="d"), store=str(tmp_path / "r.db")
        )
