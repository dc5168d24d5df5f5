import json
import random
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import BadInput
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.read import Loaded, read
from proctor_adapters.evalsets.schema import texts

TURN: dict[str, Any] = {"user_content": {"parts": [{"text": "Hi"}]}}
SHOP = """\
{
  "eval_set_id": "shop",
  "name": "shop",
  "description": null,
  "eval_cases": [
    {
      "eval_id": "price-question",
      "conversation": [
        {
          "invocation_id": "e-1",
          "user_content": {"role": "user", "parts": [{"text": "What does model A cost?"}]},
          "final_response": {"role": "model", "parts": [{"text": "Model A costs 100."}]},
          "intermediate_data": {
            "tool_uses": [{"id": "c1", "name": "lookup_price", "args": {"model": "A"}}],
            "intermediate_responses": [["helper", [{"text": "looking it up"}]]]
          }
        }
      ]
    },
    {
      "evalId": "camel-case",
      "conversation": [
        {
          "userContent": {"role": "user", "parts": [{"text": "Hello"}]},
          "finalResponse": {"parts": [{"text": "Hi"}]},
          "intermediateData": {
            "invocationEvents": [
              {"author": "root", "content": {"role": "model", "parts": [{"functionCall": {"name": "greet", "args": {}}}]}}
            ]
          }
        }
      ],
      "sessionInput": {"appName": "shop", "userId": "u1", "state": {"lang": "en"}}
    }
  ]
}
"""
NESTED: list[dict[str, Any]] = [
    {
        "name": "two_rolls",
        "data": [
            {
                "query": "Roll a die twice",
                "expected_tool_use": [
                    {"tool_name": "roll_die", "tool_input": {"sides": 6}},
                    {"tool_name": "roll_die", "tool_input": {"sides": 6}},
                ],
                "expected_intermediate_agent_responses": [{"author": "roller", "text": "rolling"}],
                "reference": "You rolled 2 and 5.",
            },
            {"query": "Bye"},
        ],
        "initial_session": {"state": {"k": 1}, "app_name": "dice", "user_id": "u"},
    },
    {"name": "empty session", "data": [], "initial_session": {}},
]
SPANS = [
    {
        "trace_id": "1", "name": "execute_tool price", "start_time": 3,
        "attributes": {
            "gen_ai.tool.name": "price",
            "gen_ai.tool.input": '{"parameters": {"model": "A"}}',
            "gen_ai.tool.output": '{"id": "c1"}',
        },
    },
    {
        "trace_id": "1", "name": "call_llm", "start_time": 1_700_000_000_000_000_000,
        "attributes": {
            "gen_ai.prompt.0.content": "What does A cost?", "gen_ai.completion.0.content": "let me see",
            "gen_ai.app.name": "shop", "gen_ai.user.id": "u",
        },
    },
    {
        "trace_id": "1", "name": "call_llm", "start_time": 5,
        "attributes": {"gen_ai.prompt.0.content": "tool says 100", "gen_ai.completion.0.content": "100"},
    },
    {"trace_id": "2", "name": "call_llm", "attributes": {"gen_ai.prompt.0.content": "cut off"}},
]  # fmt: skip


def _read(tmp_path: Path, value: object, name: str = "shop.evalset.json") -> Loaded:
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1), encoding="utf-8")
    return read(path)


def _set(**turn: Any) -> dict[str, Any]:
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [TURN | turn]}]}


def test_both_spellings_of_keys_are_read(tmp_path: Path) -> None:
    loaded = _read(tmp_path, SHOP)
    first, second = loaded.eval_set.eval_cases
    assert loaded.shape == "mixed"
    assert first.conversation is not None
    assert second.conversation is not None
    for case, name in ((first, "lookup_price"), (second, "greet")):
        assert case.conversation is not None
        data = case.conversation[0].intermediate_data
        assert data is not None
        assert [call.name for call in data.calls()] == [name]
    assert second.session_input is not None
    assert second.session_input.state == {"lang": "en"}


def test_a_top_level_in_camel_case_is_read_too(tmp_path: Path) -> None:
    loaded = _read(tmp_path, {"evalSetId": "s", "evalCases": [], "creationTimestamp": "12.5"})
    assert (loaded.eval_set.eval_set_id, loaded.eval_set.creation_timestamp, loaded.shape) == ("s", 12.5, "mixed")


def test_where_both_spellings_stand_the_camel_case_one_counts(tmp_path: Path) -> None:
    value = {"eval_set_id": "s", "eval_cases": [{"eval_id": "snake", "evalId": "camel", "conversation": []}]}
    loaded = _read(tmp_path, value)
    assert loaded.eval_set.eval_cases[0].eval_id == "camel"
    assert "'evalId' counts" in str(loaded.notes[0])


def test_the_nested_list_is_converted_as_adk_does(tmp_path: Path) -> None:
    loaded = _read(tmp_path, NESTED)
    case, bare = loaded.eval_set.eval_cases
    assert loaded.shape == "nested list"
    assert case.conversation is not None
    assert as_json(case.conversation[0]) | {"invocation_id": ""} == {
        "invocation_id": "",
        "user_content": {"parts": [{"text": "Roll a die twice"}], "role": "user"},
        "final_response": {"parts": [{"text": "You rolled 2 and 5."}], "role": "model"},
        "intermediate_data": {
            "tool_uses": [{"name": "roll_die", "args": {"sides": 6}}] * 2,
            "intermediate_responses": [("roller", [{"text": "rolling"}])],
        },
    }
    assert as_json(case.conversation[1])["final_response"] == {"parts": [{"text": ""}], "role": "model"}
    assert (case.session_input is not None, bare.session_input) == (True, None)
    assert _read(tmp_path, NESTED).eval_set == loaded.eval_set


def test_the_flat_list_is_one_case_named_after_the_file(tmp_path: Path) -> None:
    loaded = _read(tmp_path, NESTED[0]["data"], "dice.test.json")
    assert [case.eval_id for case in loaded.eval_set.eval_cases] == ["dice"]
    assert (loaded.shape, loaded.eval_set.eval_set_id) == ("flat list", "dice")


def test_the_spans_of_a_trace_are_one_turn(tmp_path: Path) -> None:
    loaded = _read(tmp_path, SPANS, "trace.json")
    (case,) = loaded.eval_set.eval_cases
    assert (loaded.eval_set.eval_set_id, case.eval_id) == ("default", "veadk_eval_20231114221320")
    assert case.conversation is not None
    (turn,) = as_json(case)["conversation"]
    assert turn["user_content"]["parts"] == [{"text": "What does A cost?"}]
    assert turn["final_response"]["parts"] == [{"text": "100"}]
    assert turn["intermediate_data"]["tool_uses"] == [{"name": "price", "args": {"model": "A"}, "id": "c1"}]
    assert "trace 2" in str(loaded.notes[0])


def test_spans_with_ids_are_read_as_a_trace(tmp_path: Path) -> None:
    def said(*texts: str, answer: str) -> dict[str, Any]:
        roles = ("user", "assistant")
        sent = {
            f"gen_ai.prompt.{place}.{key}": value
            for place, text in enumerate(texts)
            for key, value in (("role", roles[place % 2]), ("content", text))
        }
        return {**sent, "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": answer}

    def span(trace: int, number: int, name: str, **attributes: Any) -> dict[str, Any]:
        start = (10 * trace + number) * 10**9 + 1_700_000_000 * 10**9
        return {
            "trace_id": trace, "span_id": 100 * trace + number, "name": name, "start_time": start, "end_time": start + 10**8,
            "attributes": {"gen_ai.session.id": "s1", **attributes},
        }  # fmt: skip

    def tool(trace: int, number: int, model: str) -> dict[str, Any]:
        given = {"name": "price", "parameters": {"model": model}}
        attributes = {
            "gen_ai.tool.name": "price",
            "gen_ai.tool.input": json.dumps(given),
            "gen_ai.tool.output": json.dumps({"id": f"c{number}", "response": {"price": 1}}),
        }
        return span(trace, number, "execute_tool price", **attributes)

    spans = [
        span(1, 1, "call_llm", **said("What does A cost?", answer="100")),
        span(2, 1, "call_llm", **said("What does A cost?", "100", "And B and C?", answer="One moment.")),
        tool(2, 2, "B"),
        tool(2, 3, "C"),
        span(2, 4, "execute_tool (merged tools)", **{"gen_ai.tool.name": "(merged tools)"}),
        span(2, 5, "call_llm", **said("What does A cost?", "100", "And B and C?", "One moment.", answer="1 each")),
    ]
    loaded = _read(tmp_path, spans, "trace.json")
    [case] = loaded.eval_set.eval_cases
    assert (loaded.shape, loaded.eval_set.eval_set_id) == ("spans", "default")
    turns = case.conversation or []
    assert [list(texts(turn.user_content)) for turn in turns] == [["What does A cost?"], ["And B and C?"]]
    assert [list(texts(turn.final_response)) for turn in turns] == [["100"], ["1 each"]]
    data = turns[1].intermediate_data
    assert data is not None
    assert [(call.name, call.args) for call in data.calls()] == [("price", {"model": "B"}), ("price", {"model": "C"})]


@pytest.mark.parametrize("call", [{"args": {}}, {"name": "", "args": {}}, {"name": None, "args": {}}])
def test_a_call_without_a_name_is_read_as_adk_reads_it_and_told(call: dict[str, Any], tmp_path: Path) -> None:
    loaded = _read(tmp_path, _set(intermediate_data={"tool_uses": [call]}))
    assert "has no name" in str(loaded.notes[0])
    [turn] = as_json(loaded.eval_set)["eval_cases"][0]["conversation"]
    assert turn["intermediate_data"]["tool_uses"] == [{"args": {}}]


def test_what_the_editor_of_adk_leaves_in_events_is_ignored_and_told(tmp_path: Path) -> None:
    event = {"author": "root", "invocationIndex": 0, "toolUseIndex": 1}
    loaded = _read(tmp_path, _set(intermediate_data={"invocation_events": [event]}))
    assert ["is ignored, as by ADK" in str(note) for note in loaded.notes] == [True, True]
    [turn] = as_json(loaded.eval_set)["eval_cases"][0]["conversation"]
    assert turn["intermediate_data"]["invocation_events"] == [{"author": "root"}]


def test_a_byte_order_mark_is_told_and_is_a_reason_to_migrate(tmp_path: Path) -> None:
    loaded = _read(tmp_path, "\ufeff" + json.dumps(_set()))
    assert loaded.shape == "mixed"
    assert "byte order mark" in str(loaded.notes[-1])


def test_unknown_keys_of_a_case_are_kept_and_told(tmp_path: Path) -> None:
    value = {"eval_set_id": "s", "x": 1, "eval_cases": [{"eval_id": "a", "conversation": [], "session_inputs": {}}]}
    loaded = _read(tmp_path, value)
    assert [str(note) for note in loaded.notes] == [
        "$.x: the key is not known to ADK; it is kept.",
        "$.eval_cases[0].session_inputs: the key is not known to ADK; it is kept. Did you mean 'session_input'?",
    ]
    assert as_json(loaded.eval_set) == value


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        ({"user_content": "hello"}, r"line 8: expected an object, got a text at \$\.eval_cases\[0\]\.conversation\[0\]\.user_content"),
        ({"user_contents": {}}, "the key 'user_contents' is not known here. Did you mean 'user_content'"),
        ({"user_content": {"parts": [{"text": 1}]}}, r"expected a text, got a whole number at .*parts\[0\]\.text"),
        ({"intermediateData": {"toolUses": [{"name": "f", "args": [1]}]}}, r"expected an object, got a list at .*\.args"),
        ({"intermediateData": {"toolUses": [{"name": "f", "args": "{}"}]}}, r"expected an object, got a text at .*\.args"),
        ({"intermediate_data": {"toolUses": [{"name": "f"}], "invocationEvents": [{"author": "a"}]}}, "cannot be both"),
        ({"intermediate_data": {"toolUses": [], "invocationEvents": []}}, r"line \d+: 'invocation_events' stand for"),
        ({"user_content": {"parts": [{"inlineData": {"data": "?"}}]}}, r"no base64: .* at .*\.inline_data\.data"),
        ({"rubrics": [{"rubric_id": "r"}]}, "'rubric_content' is missing"),
    ],
)  # fmt: skip
def test_a_wrong_turn_is_named_with_line_and_path(turn: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        _read(tmp_path, _set(**turn))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "line 1: it is no JSON"),
        ('{"eval_set_id": "s",\n "eval_cases": [}', "line 2: it is no JSON"),
        ("3", "expected an eval set"),
        ({"cases": []}, "neither 'eval_set_id' nor 'eval_cases'"),
        ({"eval_set_id": "s"}, "'eval_cases' is missing"),
        ({"eval_set_id": 3, "eval_cases": []}, r"line 2: expected a text, got a whole number at \$\.eval_set_id"),
        ({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation_scenario": {"starting_prompt": "p", "conversation_plan": "q", "userPersona": "novice"}}]}, "no persona 'novice'; known: EXPERT, NOVICE, EVALUATOR"),
        ({"eval_set_id": "s", "eval_cases": [{"eval_id": "a"}]}, "either a 'conversation' or a 'conversation_scenario'"),
        ({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": []}] * 2}, r"line 9: the id 'a' is used twice at \$\.eval_cases\[1\]\.eval_id"),
        ([{"data": [], "name": "a"}, {"query": "x"}], r"mixed: this belongs to a flat list, the first to a nested list at \$\[1\]"),
        ([{"data": []}], "'name' is missing"),
        ([{"x": 1}], "expected a case with 'data'"),
        ([{"query": "x", "expected_tool_use": [{"tool_name": "f"}]}], r"line 5: 'tool_input' is missing at \$\[0\]\.expected_tool_use\[0\]"),
        ([{"query": "x", "expected_tool_use": [{"tool_name": "f", "tool_input": [1]}]}], "expected an object, got a list"),
        ([{"name": "a", "data": [{"query": 1}]}], r"line 6: expected a text, got a whole number at \$\[0\]\.data\[0\]\.query"),
        ("[" * 100_000, "nested too deep|no JSON"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_set_is_refused(value: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        _read(tmp_path, value)


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.evalset.json").write_bytes(b"\xff\xfe{")
    for name in ("x.evalset.json", "y.evalset.json"):
        with pytest.raises(BadInput, match=name):
            read(tmp_path / name)


def test_a_key_that_occurs_twice_is_told(tmp_path: Path) -> None:
    loaded = _read(tmp_path, '{"eval_set_id": "a", "eval_set_id": "b", "eval_cases": []}')
    assert (loaded.eval_set.eval_set_id, "occurs twice" in str(loaded.notes[0])) == ("b", True)


def test_random_damage_never_raises_anything_else(tmp_path: Path) -> None:
    rng = random.Random(1)
    sources = [SHOP, json.dumps(NESTED, indent=1), json.dumps(SPANS, indent=1)]
    for _ in range(1_500):
        text = list(rng.choice(sources))
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(text))
            text[place] = rng.choice(['"', "{", "}", "[", "]", ",", ":", "1", "null", "", '"x":', "\\ud800"])
        with suppress(BadInput):
            _read(tmp_path, "".join(text))


@pytest.mark.slow
def test_fifty_megabytes_are_read_in_seconds(tmp_path: Path) -> None:
    turn = {"user_content": {"parts": [{"text": "x" * 2_000}]}, "final_response": {"parts": [{"text": "y"}]}}
    cases = [{"eval_id": str(number), "conversation": [turn] * 5} for number in range(5_000)]
    began = time.thread_time()
    loaded = _read(tmp_path, {"eval_set_id": "s", "eval_cases": cases})
    assert len(loaded.eval_set.eval_cases) == 5_000
    assert time.thread_time() - began < 20
