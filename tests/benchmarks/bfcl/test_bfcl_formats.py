"""Format sensitivity: 200 questions in 26 prompt formats, how their calls are read, and the two official figures."""

import time
from contextlib import suppress

import pytest

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.sample import Sample
from proctor.runtime.garbage import gc_paused
from proctor_benchmarks.bfcl import task
from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.decode import decode
from proctor_benchmarks.bfcl.formats import FORMATS, ORDINARY, Format, split_id, write_documents
from proctor_benchmarks.bfcl.scorer import bfcl
from proctor_benchmarks.bfcl.summary import summarise

JSON = Format(ret_fmt="json")
VERBOSE = Format(ret_fmt="verbose_xml")
CONCISE = Format(ret_fmt="concise_xml")


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    made = task("format_sensitivity").samples
    assert isinstance(made, list)
    return made


def test_there_are_200_questions_in_26_formats(samples: list[Sample]) -> None:
    assert len(samples) == 5200
    assert len(set(FORMATS)) == len({form.label for form in FORMATS}) == 26
    assert len({sample.cluster for sample in samples}) == 200
    assert samples[27].id.startswith("format_sensitivity_27:ret_fmt=python&tool_call_tag=True&func_doc_fmt=xml&")


def test_right_answers_can_be_given_in_every_format_but_for_one_that_upstream_cannot_read() -> None:
    made = task("format_sensitivity")
    assert made.oracle is not None
    assert isinstance(made.samples, list)
    wrong = {
        split_id(sample.id)[1] for sample in made.samples if not getattr(bfcl(sample, made.oracle(sample)), "points", 0)
    }
    assert wrong == {"simple_python_96"}  # a list of objects as an argument, in JSON


@pytest.mark.parametrize(
    ("form", "text", "calls"),
    [
        (JSON, '[{"function": "f", "parameters": {"x": 1}}]', [{"f": {"x": 1}}]),
        (JSON, 'Here: ```json\n[{"function": "f", "parameters": {}}]\n``` done', [{"f": {}}]),
        (JSON, '[{"function": "f", "parameters": {"x": [{"y": 1}]}}]', []),
        (JSON, "no JSON at all", []),
        (VERBOSE, '<functions><function name="f"><params><param name="x" value="2" type="integer"/></params></function></functions>', [{"f": {"x": 2}}]),
        (VERBOSE, '<functions><function name="f"><param name="x" value="TRUE" type="boolean"/></function></functions>', [{"f": {"x": True}}]),
        (CONCISE, '<functions><function name="f"><param name="x" type="array"> [1, 2] </param></function></functions>', [{"f": {"x": [1, 2]}}]),
        (CONCISE, '<functions><function name="f"><param name="x" type="color"> red </param></function></functions>', [{"f": {"x": "red"}}]),
        (Format(tool_call_tag="True"), "I call <TOOLCALL>[f(x=1)]</TOOLCALL>", [{"f": {"x": 1}}]),
    ],
)  # fmt: skip
def test_calls_are_read_in_the_format_that_was_asked_for(form: Format, text: str, calls: object) -> None:
    assert decode(text, "prompt", "python", form) == calls


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (JSON, '[{"function": "f"}]'),
        (JSON, '[{"function": ["f"], "parameters": {}}]'),
        (VERBOSE, "<functions><function/></functions>"),
        (VERBOSE, '<functions><function name="f">'),
        (CONCISE, '<functions><function name="f"><param name="x" type="array">[true]</param></function></functions>'),
        (CONCISE, '<functions><function name="f"><param name="x" type="integer">3.0</param></function></functions>'),
        (Format(tool_call_tag="True"), "[f(x=1)]"),
        (CONCISE, "<functions>" + "<a>" * 300_000 + "</functions>"),
        (JSON, "[" * 300_000),
    ],
)
def test_what_the_official_decoder_fails_on_is_undecodable_or_no_call(form: Format, text: str) -> None:
    try:
        assert decode(text, "prompt", "python", form) == []
    except Undecodable:
        return


@pytest.mark.parametrize("text", ["[{" * 130_000, "[" + "{}," * 130_000, "<TOOLCALL>" * 39_000, "[{}" + " " * 390_000])
@pytest.mark.parametrize("form", [JSON, VERBOSE, Format(ret_fmt="json", tool_call_tag="True")])
def test_no_text_takes_long_to_read(form: Format, text: str) -> None:
    with gc_paused(), suppress(Undecodable):  # a search of what other tests left would be counted too
        start = time.process_time()
        decode(text, "prompt", "python", form)
    assert time.process_time() - start < 1


def test_documents_are_laid_out_with_the_oddities_of_the_original() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "default": [1, 2], "description": "X.", "enum": ["a", "b"]}
    document = {
        "name": "a.b",
        "description": "Does.",
        "parameters": {"type": "dict", "properties": {"x": schema}, "required": []},
    }
    assert write_documents([document], "xml") == (
        '<function name="a.b">\n  <desc>Does.</desc>\n  <params>\n'
        '    <param name="x" type="array[integer]" required="false" default="[1 2]">\n'
        "      <desc>X. Enum values: ['a', 'b'].</desc>\n    </param>\n  </params>\n</function>\n"
    )
    assert write_documents([document], "python") == (
        '# Function: a.b\n    """\n    Does.\n\n    Args:\n'
        "        x (list[int], default=[1, 2]): X. Enum values: ['a', 'b'].\n    \"\"\"\n\n\n\n"
    )


def test_ids_hold_the_format_and_the_sample_they_word_anew() -> None:
    assert split_id(f"format_sensitivity_3:{JSON}:live_simple_1-2-3") == (JSON, "live_simple_1-2-3")
    for id in ("format_sensitivity_3", "a:b:c", f"a:{ORDINARY}&style=classic:c"):
        with pytest.raises(BadInput):
            split_id(id)


def test_native_tools_leave_nothing_of_a_prompt_format() -> None:
    with pytest.raises(BadInput, match="mode=native"):
        task("format_sensitivity", mode="native")


def test_the_two_official_figures_are_those_of_the_accuracies_by_format() -> None:
    values = [0.5, 0.6, 0.9]
    estimates = [
        Estimate(name="accuracy", slice=f"format={form.label}", value=value, scored=200, planned=200)
        for form, value in zip(FORMATS, values, strict=False)
    ]
    found = {one.name: one for one in summarise(estimates, list)}
    assert found["format_max_delta"].value == pytest.approx(0.4)
    assert found["format_std"].value == pytest.approx(0.2081666)
    assert str(found["format_std"].note) == "over 3 of 26 prompt formats"
    assert not summarise(estimates[:1], list)
