"""Where google-adk itself is installed: its verdicts and its reader against ours, on random input beyond the corpus."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="needs the extra 'adk'")

from google.adk.evaluation import app_details, eval_case, eval_rubrics, eval_set
from google.adk.evaluation.conversation_scenarios import ConversationScenario
from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
from google.genai import types

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, ToolCall, Turn
from proctor.core.score import Score
from proctor.core.trajectory import Step, Trajectory
from proctor_adapters.evalsets import noun, schema, write
from proctor_adapters.evalsets.read import Loaded, read
from proctor_adapters.scorers import adk
from proctor_judging.matching.adk_rules import MATCH_TYPES

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # the library's own

Call = tuple[str, dict[str, Any] | None]
VALUES: tuple[Any, ...] = (
    1, True, 0, False, 1.0, -0.0, None, "a", "A", "", "1", {}, [], [1, 2], [2, 1], {"k": 1}, {"k": True}, {"k": [1.0]},
    {"a": 1, "b": 2}, {"b": 2, "a": 1}, float("nan"), 10**25, 1e25, "é", "e\u0301", 2**53, 2.0**53, 2**53 + 1,
)  # fmt: skip
SIGNS = (
    "abc", "XYZ", "123", "running", "dies", "中文测试", "你好", "カタカナ", "ひら", "한국어", "ไทย", "น้ำ", "ກຂ", "မြန်", "ភាសា", "ﬁ",
    "Ⅷ", "½", "²", "é", "e\u0301", "ñ", "Ω", "İ", "ı", "ß", "ſ", "ﷺ", "...!?", "😀", "\u200b", "\u0301", "\u093f", "हिन्दी",
    "العربية", "_", "-", "'", "’", "ａｂｃ", "１２３", "㍿", "々", "〇", "ㄱ", "ｶﾞ", "\U00020000", "\u0e33", "\ud7b0", "\u1100", "٣",
    "caresses", "ponies", "relational", "hopping", "generalization", "a", "be", "sky", "ies", "agreed", "university",
    "howe", "lying", " ", "\u3000", "\xa0", "\n\t", "\x00", "\u00ad",
)  # fmt: skip


def _call(chance: random.Random) -> Call:
    if chance.random() < 0.3:
        return chance.choice("fg"), chance.choice((None, {}))
    return chance.choice("fg"), {chance.choice("xyz"): chance.choice(VALUES) for _ in range(chance.randint(1, 2))}


def _wanted(chance: random.Random) -> list[Call] | None:
    return [_call(chance) for _ in range(chance.randint(0, 4))] if chance.random() < 0.9 else None


def _made(chance: random.Random, wanted: list[Call] | None) -> list[Call] | None:
    """Often nearly what is wanted."""
    if wanted is None or chance.random() < 0.3:
        return _wanted(chance)
    made = list(wanted)
    if chance.random() < 0.5:
        chance.shuffle(made)
    for _ in range(chance.randint(0, 2)):
        made.insert(chance.randint(0, len(made)), _call(chance))
    if made and chance.random() < 0.2:
        made.pop(chance.randrange(len(made)))
    return made


def _invocation(calls: list[Call] | None, *, events: bool) -> eval_case.Invocation:
    data: Any = None
    if calls is not None:
        parts = [types.FunctionCall(name=name, args=arguments) for name, arguments in calls]
        data = eval_case.IntermediateData(tool_uses=parts)
        if events:
            content = types.Content(parts=[types.Part(function_call=part) for part in parts])
            data = eval_case.InvocationEvents(
                invocation_events=[eval_case.InvocationEvent(author="a", content=content)]
            )
    return eval_case.Invocation(user_content=types.Content(parts=[types.Part(text="?")]), intermediate_data=data)


def _step(place: int, name: str, arguments: dict[str, Any] | None) -> Step:
    call = ToolCall(name=name, raw="null") if arguments is None else ToolCall(name=name, arguments=arguments)
    return Step(message=Message(role="assistant", parts=(call,)), turn=place)


def test_trajectories_get_the_verdicts_of_the_library() -> None:
    chance = random.Random(20)
    can_ignore = "ignore_args" in ToolTrajectoryCriterion.model_fields  # since 2.13
    for _ in range(5000):
        wanted = [_wanted(chance) for _ in range(chance.randint(1, 3))]
        made = [_made(chance, turn) for turn in wanted]
        options: dict[str, Any] = {"match_type": chance.choice(MATCH_TYPES)}
        if can_ignore and chance.random() < 0.2:
            options["ignore_args"] = True
        threshold = chance.choice((1.0, 0.5, 2 / 3, 1 / 3, 0.1 * 3, 0))
        metric = EvalMetric(
            metric_name="tool_trajectory_avg_score", criterion=ToolTrajectoryCriterion(threshold=threshold, **options)
        )
        sides = [[_invocation(turn, events=chance.random() < 0.5) for turn in side] for side in (made, wanted)]
        official = TrajectoryEvaluator(eval_metric=metric).evaluate_invocations(sides[0], sides[1])
        calls = [
            None if turn is None else [{"name": name, "arguments": args} for name, args in turn] for turn in wanted
        ]
        turns = tuple(Turn(messages=(Message.of("user", "?"),), reference={"calls": one}) for one in calls)
        sample = Sample(id="s", turns=turns, meta={"adk": {**options, "trajectory_threshold": threshold}})
        steps = [_step(place, *call) for place, turn in enumerate(made) for call in turn or ()]
        ours = adk.tool_trajectory_avg_score(sample, Trajectory(steps=tuple(steps)))
        assert isinstance(ours, Score)
        assert ours.details["turns"] == [one.score for one in official.per_invocation_results], (made, wanted, options)
        assert ours.points == official.overall_score
        assert ours.details["passed"] is (official.overall_eval_status.name == "PASSED")


def test_responses_get_the_score_of_the_library() -> None:
    pytest.importorskip("rouge_score", reason="google-adk needs rouge-score for this metric")
    from google.adk.evaluation.final_response_match_v1 import RougeEvaluator  # which brings NLTK and SciPy

    chance = random.Random(21)
    evaluator = RougeEvaluator(EvalMetric(metric_name="response_match_score", threshold=0.8))
    for _ in range(5000):
        parts = [chance.choice(SIGNS) if chance.random() < 0.8 else _odd(chance) for _ in range(chance.randint(0, 12))]
        kept = [one for one in parts if chance.random() < 0.85]
        texts = [chance.choice(("", " ")).join(side) for side in (parts, kept)]
        response, reference = chance.sample(texts, 2)
        invocations = [
            eval_case.Invocation(
                user_content=types.Content(), final_response=types.Content(parts=[types.Part(text=text)])
            )
            for text in (response, reference)
        ]
        official = evaluator.evaluate_invocations(invocations[:1], invocations[1:])
        turn = Turn(messages=(Message.of("user", "?"),), reference={"response": reference})
        ours = adk.response_match(Sample(id="s", turns=(turn,)), Trajectory.of(response))
        assert isinstance(ours, Score)
        assert ours.points == official.overall_score, (response, reference)


def _odd(chance: random.Random) -> str:
    ranges = ((0x20, 0x2FFF), (0x3000, 0xD7FF), (0xE000, 0x1FFFF))
    return "".join(chr(chance.randrange(*chance.choice(ranges))) for _ in range(chance.randint(1, 4)))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (schema.FunctionCall, types.FunctionCall), (schema.FunctionResponse, types.FunctionResponse),
        (schema.Blob, types.Blob), (schema.FileData, types.FileData), (schema.Part, types.Part),
        (schema.Content, types.Content), (schema.InvocationEvent, eval_case.InvocationEvent),
        (schema.IntermediateData, eval_case.IntermediateData), (schema.IntermediateData, eval_case.InvocationEvents),
        (schema.Invocation, eval_case.Invocation), (schema.SessionInput, eval_case.SessionInput),
        (schema.EvalCase, eval_case.EvalCase), (schema.EvalSet, eval_set.EvalSet), (schema.Rubric, eval_rubrics.Rubric),
        (schema.RubricContent, eval_rubrics.RubricContent), (schema.AppDetails, app_details.AppDetails),
        (schema.AgentDetails, app_details.AgentDetails), (schema.ConversationScenario, ConversationScenario),
    ],
)  # fmt: skip
def test_no_member_of_the_librarys_files_is_unknown_to_us(ours: Any, theirs: Any) -> None:
    assert set(theirs.model_fields) <= set(ours.__struct_fields__)


def test_a_file_is_refused_when_the_library_refuses_it_and_means_the_same_once_written(tmp_path: Path) -> None:
    made = _Files(random.Random(22))
    for _ in range(1500):
        value = made.eval_set()
        path = tmp_path / "s.evalset.json"
        path.write_text(json.dumps(value))
        official = _theirs(value)
        loaded, why = _ours(path)
        if loaded is None:  # a call without a name and an id used twice are our own wishes
            assert official is None or "name" in why or "used twice" in why, (value, why)
            continue
        assert official is not None, value
        again = eval_set.EvalSet.model_validate_json(write.as_text(loaded.eval_set))
        assert _meant(again.model_dump()) == _meant(official.model_dump()), value


def _ours(path: Path) -> tuple[Loaded | None, str]:
    try:
        return read(path), ""
    except BadInput as error:
        return None, str(error)


def _theirs(value: Any) -> eval_set.EvalSet | None:
    try:
        return eval_set.EvalSet.model_validate(value)
    except Exception:  # of many kinds
        return None


def _meant(value: Any) -> Any:
    """No events at all are the same as no calls."""
    if isinstance(value, dict):
        if value == {"invocation_events": []}:
            return {"tool_uses": [], "tool_responses": [], "intermediate_responses": []}
        return {key: _meant(one) for key, one in value.items()}
    return [_meant(one) for one in value] if isinstance(value, list | tuple) else value


class _Files:
    """Eval sets with keys in either spelling, now and then with something wrong."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def eval_set(self) -> Any:
        cases = [self.case(place) for place in range(self.chance.randint(0, 3))]
        found = {"eval_set_id": self.spoilt("s"), "eval_cases": self.spoilt(cases)}
        return self.some(found, name="n", description=None, creation_timestamp="2.5", unknown=1)

    def case(self, place: int) -> Any:
        found: dict[str, Any] = {"eval_id": self.spoilt(f"c{place}")}
        is_scenario = self.chance.random() < 0.1
        if not is_scenario:
            found["conversation"] = self.spoilt([self.turn() for _ in range(self.chance.randint(0, 3))])
        if is_scenario or self.chance.random() < 0.01:
            persona = self.chance.choice(("EXPERT", "novice", None, {"id": "x", "description": "d", "behaviors": []}))
            about = {"starting_prompt": "p", "conversation_plan": "q", "user_persona": persona}
            found["conversation_scenario"] = self.keys(about)
        if self.chance.random() < 0.5:
            session = {"app_name": self.spoilt("a"), "user_id": "u", "state": self.spoilt({"k": {"aB": 1}}), "more": 1}
            found["session_input"] = self.chance.choice((None, self.keys(session)))
        return self.keys(
            self.some(found, creation_timestamp=1.5, rubrics=[self.rubric()], final_session_state={"a": 1})
        )

    def turn(self) -> Any:
        found = {"user_content": self.content(), "intermediate_data": self.data()}
        return self.spoilt(
            self.keys(
                self.some(
                    found,
                    invocation_id=self.spoilt("e1"),
                    final_response=self.chance.choice((None, self.content())),
                    creation_timestamp=self.spoilt("3.5"),
                    rubrics=[self.rubric()],
                    app_details={"agentDetails": {"a": {"name": "a"}}},
                )
            )
        )

    def data(self) -> Any:
        events = [self.keys({"author": "a", "content": self.chance.choice((None, self.content()))})]
        lists = {"tool_uses": [self.call()], "tool_responses": [{"name": "f", "response": {"r": 1}}]}
        responses = {"intermediate_responses": [["a", [self.part()]]]}
        kind = self.chance.randrange(12)
        if kind < 5:
            return self.keys(self.some({}, **lists, **responses))
        if kind < 10:
            return self.keys({"invocation_events": self.spoilt(events * self.chance.randint(0, 2))})
        return self.chance.choice((None, {}, {"toolUses": [], "invocation_events": []}))

    def content(self) -> Any:
        parts = self.chance.choice((None, [self.part() for _ in range(self.chance.randint(0, 2))]))
        return self.spoilt(self.keys(self.some({"parts": self.spoilt(parts)}, role="user")))

    def part(self) -> Any:
        blob = self.some(
            {"data": self.chance.choice(("aGk=", "aGk", "_-8=", "!!")), "mime_type": "a/b"}, display_name="n"
        )
        return self.chance.choice(
            (
                self.keys(self.some({"text": self.spoilt("你好")}, thought=True)),
                {"functionCall": self.call()},
                self.keys({"function_response": {"name": "f", "response": {"a_b": {"cD": None}}}}),
                self.keys({"inline_data": self.keys(blob)}),
                self.keys({"file_data": self.keys({"file_uri": "gs://x", "mime_type": "a/b"})}),
            )
        )

    def call(self) -> Any:
        arguments = {"b_c": self.chance.choice(VALUES[:-8]), "aB": {"a_b": 1, "aB": [None]}}
        return self.spoilt(self.keys(self.some({"name": self.spoilt("f")}, args=self.spoilt(arguments), id="c1")))

    def rubric(self) -> Any:
        return self.keys({"rubric_id": "r", "rubric_content": self.keys({"text_property": "polite"}), "type": "T"})

    def some(self, found: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {**found, **{key: value for key, value in more.items() if self.chance.random() < 0.5}}

    def keys(self, found: dict[str, Any]) -> dict[str, Any]:
        if self.chance.random() < 0.003:
            found = {**found, "misspelt": 1}
        return {noun.camel(key) if self.chance.random() < 0.4 else key: value for key, value in found.items()}

    def spoilt(self, value: Any) -> Any:
        return self.chance.choice((None, 1, "s", [], {}, True, 1.5)) if self.chance.random() < 0.01 else value
