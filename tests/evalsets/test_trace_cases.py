"""Conversations out of traces as eval cases, and as recorded replies."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import proctor
from proctor import Task
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Turn
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.read import read as read_set
from proctor_adapters.evalsets.redact import patterns, redact_case
from proctor_adapters.evalsets.schema import EvalCase
from proctor_adapters.evalsets.trace_cases import record_cases
from proctor_adapters.evalsets.write import create
from proctor_adapters.traces import read
from proctor_adapters.traces.replies import replies

DATA = Path(__file__).parents[1] / "data" / "traces"


def spans(session: str, *turns: tuple[str, list[dict[str, Any]], str]) -> list[dict[str, Any]]:
    """One trace a turn: what the user says, the calls, the answer."""
    found = []
    for place, (asked, calls, answer) in enumerate(turns):
        parts = [{"type": "tool_call", **call} for call in calls] + [{"type": "text", "content": answer}]
        attributes = {
            "gen_ai.operation.name": "chat",
            "session.id": session,
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": asked}]}]),
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts if answer else parts[:-1]}]),
        }
        trace = f"{session}{place}"
        found.append({"traceId": trace, "spanId": trace, "startTimeUnixNano": 10**18 + place, "attributes": attributes})
    return found


def traces(tmp_path: Path, *all_spans: list[dict[str, Any]]) -> Path:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([span for one in all_spans for span in one]), encoding="utf-8")
    return path


ORDER = ("Where is order 7?", [{"id": "c", "name": "order", "arguments": {"id": 7}}], "On its way.")


def test_a_conversation_is_a_case_with_its_calls_results_and_answers(tmp_path: Path) -> None:
    made = record_cases(read([DATA / "adk.jsonl"]), "shop")
    path = create(tmp_path / "shop.evalset.json", made.eval_set)
    [case] = read_set(path).eval_set.eval_cases
    first, second = case.conversation or []
    assert first.intermediate_data is not None
    assert [(call.name, call.args) for call in first.intermediate_data.calls()] == [
        ("transfer_to_agent", {"agent_name": "helper"}),
        ("price", {"model": "A"}),
        ("price", {"model": "B"}),
    ]
    assert first.intermediate_data.tool_responses[1].response == {"price": 100}
    assert second.intermediate_data is not None
    assert second.intermediate_data.calls() == []
    assert as_json(case)["conversation"][0]["final_response"] == {
        "parts": [{"text": "It costs 100."}],
        "role": "model",
    }


def test_a_case_out_of_a_trace_is_passed_by_that_trace(tmp_path: Path) -> None:
    for name in ("adk.jsonl", "langgraph.jsonl", "otlp.json"):
        path = create(tmp_path / f"{name}.evalset.json", record_cases(read([DATA / name]), "shop").eval_set)
        run = proctor.score(str(path), replies=DATA / name, store=":memory:")
        assert run.estimate("adk:passed.accuracy").value == 1
        assert (run.record.agent, run.usage.requests > 0) == (f"replay:{DATA / name}", True)


def test_the_same_conversation_is_one_case_and_the_others_are_counted(tmp_path: Path) -> None:
    other = (ORDER[0], [{"id": "d", "name": "order", "arguments": {"id": 8}}], "On its way.")
    again = (ORDER[0], [{"id": "x", "name": "order", "arguments": {"id": 7}}], "It comes.")
    made = record_cases(read([traces(tmp_path, spans("a", ORDER), spans("b", again), spans("c", other))]), "shop")
    assert [case.eval_id for case in made.eval_set.eval_cases] == ["a", "c"]
    assert made.twice == 1


def test_conversations_that_differ_only_in_what_is_taken_out_are_one_case(tmp_path: Path) -> None:
    asked: list[tuple[str, list[dict[str, Any]], str]] = [
        (f"I am {name}@shop.example", [], "Hello.") for name in ("ann", "bob")
    ]
    path = traces(tmp_path, spans("a", asked[0]), spans("b", asked[1]))
    assert len(record_cases(read([path]), "shop").eval_set.eval_cases) == 2
    made = record_cases(read([path]), "shop", patterns([], common=True))
    assert (len(made.eval_set.eval_cases), made.twice, made.redacted) == (1, 1, 1)


def test_two_cases_never_get_the_same_id(tmp_path: Path) -> None:
    path = traces(tmp_path, spans("a/b", ORDER), spans("a b?", ("Hi", [], "Hello.")), spans("a?b", ("Bye", [], "Bye.")))
    assert [case.eval_id for case in record_cases(read([path]), "s").eval_set.eval_cases] == ["a_b", "a b_", "a_b-2"]


def test_what_is_not_whole_is_left_out_and_told(tmp_path: Path) -> None:
    made = record_cases(read([traces(tmp_path, spans("a", ORDER), spans("b", ("Hi", [], "")))]), "shop")
    assert [str(one) for one in made.broken] == ["b: it has no answer."]
    with pytest.raises(BadInput, match="None of the 1 conversations can be a case: b: it has no answer"):
        record_cases(read([traces(tmp_path, spans("b", ("Hi", [], "")))]), "shop")


def test_nothing_is_expected_of_calls_that_the_trace_could_not_show(tmp_path: Path) -> None:
    span = {"traceId": "t", "spanId": "s", "attributes": {"openinference.span.kind": "AGENT", "input.value": "Hi", "output.value": "Hello"}}  # fmt: skip
    [case] = record_cases(read([traces(tmp_path, [span])]), "shop").eval_set.eval_cases
    assert (case.conversation or [])[0].intermediate_data is None


SECRETS = {
    "key": [
        "sk-proj-abcdefghijklmnop123456",
        "AKIAIOSFODNN7EXAMPLE",
        "Bearer abcdefghijklmnop",
        "api_key=abcd1234efgh",
        "ghp_0123456789abcdefghij",
        '"password": "hunter22"',
    ],
    "email": ["ann.lee+x@mail.example.com", "ann@shop.example", "a_b@x-y.cn"],
    "phone": [
        "13812345678",
        "+86 138 1234 5678",
        "138-1234-5678",
        "+1 (415) 555-2671",
        "(415) 555-2671",
        "010-12345678",
        "+44 20 7946 0958",
    ],
}


@pytest.mark.parametrize(("name", "secret"), [(name, one) for name, known in SECRETS.items() for one in known])
def test_the_common_patterns_know_keys_addresses_and_numbers(name: str, secret: str) -> None:
    case, count = redact_case(_case(f"It is {secret}."), patterns([], common=True))
    text = as_json(case)["conversation"][0]["user_content"]["parts"][0]["text"]
    assert f"[{name}]" in text
    assert count == 1
    assert secret[-6:] not in text


@pytest.mark.parametrize("secret", ["ann@shop.cn", "13812345678", "sk-abcdefghijklmnop"])
def test_the_common_patterns_need_no_blanks_in_chinese(secret: str) -> None:
    made, count = redact_case(_case(f"请联系{secret}谢谢"), patterns([], common=True))
    assert count == 1
    assert as_json(made)["conversation"][0]["user_content"]["parts"][0]["text"].startswith("请联系[")


@pytest.mark.parametrize(
    "harmless",
    [
        "On 2026-11-21 at 12:30:45",
        "order 12345678",
        "3.14159265358979",
        "skill sk-1",
        "version 1.2.3.4",
        "me @home",
        "9f86d081884c7d659a2feaa0c55ad015",
    ],
)
def test_the_common_patterns_leave_other_words_alone(harmless: str) -> None:
    assert redact_case(_case(harmless), patterns([], common=True)) == (_case(harmless), 0)


def test_what_is_taken_out_is_taken_out_everywhere(tmp_path: Path) -> None:
    secret = "A-77"
    call = {"id": f"call {secret}", "name": "order", "arguments": {"id": secret, f"by {secret}": {"deep": [secret, 5]}}}
    path = traces(tmp_path, spans(f"case {secret}", (f"Where is {secret}?", [call], f"{secret} is here.")))
    made = record_cases(read([path]), "shop", patterns([r"order=A-\d+"]))
    text = json.dumps(as_json(made.eval_set))
    assert secret not in text
    assert json.loads(text)["eval_cases"][0]["conversation"][0]["intermediate_data"]["tool_uses"][0]["args"] == {
        "id": "[order]",
        "by [order]": {"deep": ["[order]", 5]},
    }


def test_each_value_keeps_its_own_name_within_a_case() -> None:
    case, _ = redact_case(_case("a@x.cn wrote to b@x.cn, then a@x.cn again"), patterns([], common=True))
    text = as_json(case)["conversation"][0]["user_content"]["parts"][0]["text"]
    assert text == "[email] wrote to [email 2], then [email] again"


def test_a_number_that_is_a_phone_number_is_taken_out_of_arguments() -> None:
    case = _case("Hi", {"phone": 13812345678, "count": 2, "yes": True})
    made, count = redact_case(case, patterns([], common=True))
    assert as_json(made)["conversation"][0]["intermediate_data"]["tool_uses"][0]["args"] == {"phone": "[phone]", "count": 2, "yes": True}  # fmt: skip
    assert count == 1


def test_names_that_become_equal_are_kept_apart() -> None:
    made, _ = redact_case(_case("Hi", {"a@x.cn": 1, "b@x.cn": 2}), patterns(["x=[ab]@x.cn"]))
    args = as_json(made)["conversation"][0]["intermediate_data"]["tool_uses"][0]["args"]
    assert args == {"[x]": 1, "[x 2]": 2}


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(BadInput, match="is not valid"):
        patterns(["order=("])


@given(
    st.recursive(
        st.one_of(st.text(), st.integers(), st.none()),
        lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    )
)
def test_nothing_that_fits_a_pattern_is_left_in_a_call(value: Any) -> None:
    found = patterns([r"\d"])
    made, _ = redact_case(_case("x", {"v": value}), found)
    left = as_json(made)["conversation"][0]["intermediate_data"]["tool_uses"][0]["args"]
    assert not [text for text in _texts(left) if re.search(r"\d", re.sub(r"\[redacted(?: \d+)?\](?: \d+)?", "", text))]


def test_replies_are_put_to_samples_by_the_words_of_the_user(tmp_path: Path) -> None:
    path = traces(tmp_path, spans("a", ORDER), spans("b", ("Hi", [], "Hello.")), spans("c", ("Bye", [], "")))
    found = replies(path, [Sample.ask("s1", "Where is  order 7?\n"), Sample.ask("s2", "Other")])
    assert [(sample_id, one.answer) for sample_id, one in found.found] == [("s1", "On its way.")]
    assert [str(note) for note in found.notes] == [
        "Conversations in the trace that are not whole, so they are not scored: 1.",
        "c: it has no answer.",
        "Conversations in the trace that fit no sample: 1.",
    ]


def test_all_turns_have_to_be_the_same(tmp_path: Path) -> None:
    turns = tuple(Turn(messages=(Message.of("user", text),)) for text in ("one", "two"))
    path = traces(tmp_path, spans("a", ("one", [], "1")), spans("b", ("one", [], "1"), ("two", [], "2")))
    [(_, found)] = replies(path, [Sample(id="s", turns=turns)]).found
    assert found.answer == "2"


def test_the_id_of_a_sample_goes_before_words(tmp_path: Path) -> None:
    path = traces(tmp_path, spans("s2", ("Hi", [], "Hello.")))
    samples = [Sample.ask("s1", "Hi"), Sample.ask("s2", "Hi there [email]")]
    assert [sample_id for sample_id, _ in replies(path, samples).found] == ["s2"]


def test_words_that_two_samples_share_cannot_tell_them_apart(tmp_path: Path) -> None:
    path = traces(tmp_path, spans("a", ("Hi", [], "Hello.")))
    with pytest.raises(BadInput, match="fits several samples, which ask the same: s1, s2"):
        replies(path, [Sample.ask("s1", "Hi"), Sample.ask("s2", "Hi")])


def test_of_several_conversations_the_last_ones_count(tmp_path: Path) -> None:
    path = traces(tmp_path, *(spans(f"c{place}", ("Hi", [], f"{place}")) for place in range(3)))
    samples = [Sample.ask("s", "Hi")]
    assert [one.answer for _, one in replies(path, samples).found] == ["2"]
    found = replies(path, samples, attempts=2)
    assert [one.answer for _, one in found.found] == ["1", "2"]
    assert "had again later, so the last ones count: 1" in str(found.notes[-1])


def test_a_trace_that_fits_no_sample_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"None of the 1 conversations of .* fits a sample"):
        replies(traces(tmp_path, spans("a", ORDER)), [Sample.ask("s", "Other")])


def test_a_folder_of_traces_is_read_as_one(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        traces(tmp_path / name, spans(name, (name, [], name))).rename(tmp_path / f"{name}.json")
    run = proctor.score(
        Task(name="t", samples=[Sample.ask("1", "a", target="a"), Sample.ask("2", "b", target="b")], scorers=["exact"]),
        replies=tmp_path,
        store=":memory:",
    )
    assert run.outcomes == {"scored": 2}
    assert run.record.warnings == ()


def test_questions_in_a_data_file_are_scored_from_a_trace_too(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "q", "question": "Hi", "answer": "Hello."}\n{"id": "r", "question": "No", "answer": "x"}\n', encoding="utf-8")  # fmt: skip
    run = proctor.score(str(questions), replies=traces(tmp_path, spans("a", ("Hi", [], "Hello."))), scorers=["exact"], store=":memory:")  # fmt: skip
    one = run.estimate("accuracy")
    assert (one.value, one.scored, one.planned) == (1, 1, 2)


def _case(asked: str, args: dict[str, Any] | None = None) -> EvalCase:
    from proctor_adapters.evalsets.cases import new_case as made

    return made("c", asked, "ok", [("f", args or {})])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for pair in value.items() for one in pair for text in _texts(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in _texts(one))
    elif value is not None:
        yield str(value)
