"""Eval-set files as the pages change them: nothing else in the file changes, nobody is written over, no name leads out."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor_adapters.evalsets.cases import new_case
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.schema import EvalCase
from proctor_web import evalset_files as files
from proctor_web.evalset_files import Conflict, History
from proctor_web.workspace import NotFound, Workspace

# As people keep them: keys of their own, both spellings, numbers in their form, short objects on one line, nulls.
KEPT = """{
  "eval_set_id": "shop", "_comment": "by hand; ask Li before you change it",
  "name": "shop",
  "description": null,
  "eval_cases": [
    {
      "evalId": "price", "owner": "Li", "session_inputs": {"typo": 1.50},
      "conversation": [
        {
          "invocation_id": "e-1",
          "userContent": {"parts": [{"text": "What does A cost?"}], "role": "user"},
          "final_response": {"role": "model", "parts": [{"text": "100"}]},
          "intermediate_data": {
            "tool_uses": [{"name": "price", "args": {"model": "A", "rate": 1.10, "limit": 1e3}}],
            "tool_responses": []
          },
          "creation_timestamp": 1700000000
        }
      ],
      "session_input": {"app_name": "shop", "user_id": "u", "session_id": null, "state": {}}
    },
    {"eval_id": "greet", "conversation": [{"user_content": {"parts": [{"text": "你好"}]},
      "intermediate_data": {"invocation_events": [{"author": "root", "color": "red", "content": {"parts": [{"text": "hm"}]}}]}}]}
  ],
  "creation_timestamp": 1.70e9
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "shop.evalset.json").write_text(KEPT)
    return tmp_path / "sets"


FILE = "shop.evalset.json"


def _text(folder: Path, file: str = FILE) -> str:
    return (folder / file).read_text()


def _with_answer(case: EvalCase, text: str) -> EvalCase:
    turn, *rest = case.conversation or []
    assert turn.final_response is not None
    parts = [replace(part, text=text) for part in turn.final_response.parts or ()]
    return replace(case, conversation=[replace(turn, final_response=replace(turn.final_response, parts=parts)), *rest])


def test_only_what_was_changed_is_another_in_the_file(folder: Path) -> None:
    opened = files.open_set(folder, FILE)
    case = _with_answer(files.find_case(opened, "price"), "120")
    files.save_case(folder, FILE, case, case_id="price", expected_digest=opened.digest)
    assert _text(folder) == KEPT.replace('"text": "100"', '"text": "120"')


def test_cases_come_and_go_without_a_trace_in_the_others(folder: Path) -> None:
    saved = files.save_case(folder, FILE, new_case("bye", "Bye", None, None))
    assert saved.case == "bye"
    assert KEPT[: KEPT.index('{"eval_id": "greet"')] in _text(folder)
    assert '"color": "red"' in _text(folder)
    files.change(folder, FILE, files.deletion("bye"), expected_digest=saved.digest, history=History())
    assert _text(folder) == KEPT


def test_a_case_is_duplicated_next_to_its_original_and_moved_with_its_lines(folder: Path) -> None:
    history = History()
    opened = files.open_set(folder, FILE)
    saved = files.change(folder, FILE, files.duplication("price"), expected_digest=opened.digest, history=history)
    assert saved.case == "price-2"
    ids = [case.eval_id for case in files.open_set(folder, FILE).eval_set.eval_cases]
    assert ids == ["price", "price-2", "greet"]
    assert _text(folder).count('"rate": 1.10, "limit": 1e3') == _text(folder).count('"owner": "Li"') == 2
    files.change(folder, FILE, files.move("price-2", 99), expected_digest=saved.digest, history=history)
    ids = [case.eval_id for case in files.open_set(folder, FILE).eval_set.eval_cases]
    assert ids == ["price", "greet", "price-2"]


def test_every_change_can_be_taken_back_to_the_byte(folder: Path) -> None:
    history = History()
    texts = [_text(folder)]
    digest = files.open_set(folder, FILE).digest
    for wanted in (files.duplication("price"), files.deletion("price")):
        digest = files.change(folder, FILE, wanted, expected_digest=digest, history=history, by="Ann").digest
        texts.append(_text(folder))
    while len(texts) > 1:
        assert texts.pop() == _text(folder)
        step = history.last(files.open_set(folder, FILE))
        assert step is not None
        assert step.by == "Ann"
        files.undo(folder, FILE, history, step.number)
    assert _text(folder) == KEPT
    assert history.last(files.open_set(folder, FILE)) is None


def test_what_someone_else_made_of_the_file_is_not_taken_back(folder: Path) -> None:
    history = History()
    digest = files.open_set(folder, FILE).digest
    files.change(folder, FILE, files.deletion("greet"), expected_digest=digest, history=history)
    step = history.last(files.open_set(folder, FILE))
    assert step is not None
    (folder / FILE).write_text(theirs := _text(folder).replace("Li", "Wang"))
    assert history.last(files.open_set(folder, FILE)) is None
    with pytest.raises(Conflict):
        files.undo(folder, FILE, history, step.number)
    assert _text(folder) == theirs


def test_of_two_people_who_change_one_case_the_second_is_told(folder: Path) -> None:
    opened = files.open_set(folder, FILE)
    case = files.find_case(opened, "price")
    seen = files.case_digest(case)
    files.save_case(folder, FILE, _with_answer(case, "of the first"), case_id="price", expected_digest=seen)
    before = _text(folder)
    for digest in (seen, opened.digest, None):
        with pytest.raises(Conflict) as error:
            files.save_case(folder, FILE, _with_answer(case, "mine"), case_id="price", expected_digest=digest)
        assert error.value.theirs is not None
        assert as_json(error.value.theirs)["conversation"][0]["final_response"]["parts"][0]["text"] == "of the first"
    assert _text(folder) == before


def test_two_people_who_change_different_cases_both_succeed(folder: Path) -> None:
    opened = files.open_set(folder, FILE)
    price, greet = (files.find_case(opened, one) for one in ("price", "greet"))
    files.save_case(folder, FILE, _with_answer(price, "1"), case_id="price", expected_digest=files.case_digest(price))
    renamed = replace(greet, eval_id="hello")
    files.save_case(folder, FILE, renamed, case_id="greet", expected_digest=files.case_digest(greet))
    assert _text(folder) == KEPT.replace('"text": "100"', '"text": "1"').replace(
        '"eval_id": "greet"', '"eval_id": "hello"'
    )


def test_a_case_that_someone_deleted_is_not_written_again(folder: Path) -> None:
    opened = files.open_set(folder, FILE)
    case = files.find_case(opened, "greet")
    files.change(folder, FILE, files.deletion("greet"), expected_digest=opened.digest, history=History())
    with pytest.raises(Conflict) as error:
        files.save_case(folder, FILE, case, case_id="greet", expected_digest=files.case_digest(case))
    assert error.value.theirs is None


def test_many_add_at_once_and_nothing_is_lost(folder: Path) -> None:
    def add() -> None:
        files.save_case(folder, FILE, new_case("same", "Hi", None, None))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [case.eval_id for case in files.open_set(folder, FILE).eval_set.eval_cases]
    assert sorted(ids) == ["greet", "price", "same", "same-2", "same-3", "same-4"]


def test_a_case_makes_the_file_it_goes_into(folder: Path) -> None:
    saved = files.save_case(folder, "new/first.evalset.json", new_case("a", "Hi", "Hello", [("f", {"x": 1})]))
    assert (saved.case, saved.file) == ("a", "new/first.evalset.json")
    listed = {one.file: (one.set_id, one.cases) for one in files.list_sets(folder)}
    assert listed == {FILE: ("shop", 2), "new/first.evalset.json": ("first", 1)}
    with pytest.raises(BadInput, match="already"):
        files.new_set(folder, "new/first.evalset.json")


def test_an_older_shape_is_changed_too_and_a_copy_is_kept(folder: Path) -> None:
    old = '[{"name": "a", "data": [{"query": "Hi", "reference": "Hello"}]}]'
    (folder / "old.test.json").write_text(old)
    saved = files.save_case(folder, "old.test.json", new_case("b", "Bye", None, None))
    assert (folder / saved.copy).read_text() == old
    assert [case.eval_id for case in files.open_set(folder, "old.test.json").eval_set.eval_cases] == ["a", "b"]


def test_a_file_that_cannot_be_read_is_listed_with_the_reason(folder: Path) -> None:
    (folder / "broken.evalset.json").write_text('{"eval_set_id": "x", "eval_cases": [{"eval_id": 3}]}')
    (folder / ".hidden.evalset.json").write_text(KEPT)
    listed = {one.file: one.problem for one in files.list_sets(folder)}
    assert [*listed] == ["broken.evalset.json", FILE]
    assert str(listed["broken.evalset.json"]).startswith("broken.evalset.json, line 1: expected a text")
    with pytest.raises(BadInput, match="line 1"):
        files.save_case(folder, "broken.evalset.json", new_case("b", "Bye", None, None))


def test_a_change_from_outside_is_in_the_next_list(folder: Path) -> None:
    before = files.list_sets(folder)[0]
    (folder / FILE).write_text(KEPT.replace('"name": "shop"', '"name": "Shop"'))
    after = files.list_sets(folder)[0]
    assert (before.name, after.name) == ("shop", "Shop")
    assert before.digest != after.digest


BAD_NAMES = [
    "", "/", ".", "..", "../out.evalset.json", "/etc/out.evalset.json", "a/../../out.evalset.json", "a//b.evalset.json",
    "./shop.evalset.json", "shop.evalset.json/", "..\\out.evalset.json", "C:out.evalset.json", "a\0.evalset.json", "a\n.evalset.json",
    ".hidden.evalset.json", ".git/x.evalset.json", "x" * 300 + ".evalset.json", ".evalset.json", "a/.test.json", "shop.json",
    "test_config.json", "a.evalset.json.bak", "shop.evalset.json:price",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_no_name_leads_out_of_the_folder_or_to_other_files(folder: Path, name: str) -> None:
    case = new_case("a", "Hi", None, None)
    for act in (files.open_set, files.new_set, lambda at, file: files.save_case(at, file, case)):
        with pytest.raises(BadInput):
            act(folder, name)
    assert [*folder.parent.rglob("*.json")] == [folder / FILE]


@settings(max_examples=200)
@given(parts=st.lists(st.sampled_from(["..", ".", "a", "", "/", "~", "b.evalset.json", "\\", "%2e%2e"]), max_size=5))
def test_whatever_a_name_is_made_of_it_stays_inside(parts: list[str]) -> None:
    root = Path("/srv/sets")
    try:
        path = files.inside(root, "/".join(parts))
    except BadInput:
        return
    assert path.is_relative_to(root)
    assert path != root


def test_a_link_that_leads_out_is_no_file_of_the_folder(folder: Path) -> None:
    out = folder.parent / "out.evalset.json"
    out.write_text(KEPT)
    (folder / "link.evalset.json").symlink_to(out)
    (folder / "up").symlink_to(folder.parent)
    assert [one.file for one in files.list_sets(folder)] == [FILE]
    for name in ("link.evalset.json", "up/out.evalset.json", "up/new.evalset.json"):
        with pytest.raises(BadInput, match="no file of the folder"):
            files.save_case(folder, name, new_case("a", "Hi", None, None))
    assert out.read_text() == KEPT


@pytest.mark.parametrize("case_id", ["", " ", " a", "a,b", "a\nb", "x" * 201, "a\u202eb"])
def test_an_id_that_commands_cannot_name_is_refused(folder: Path, case_id: str) -> None:
    with pytest.raises(BadInput, match="id of a case"):
        files.save_case(folder, FILE, new_case(case_id, "Hi", None, None))
    assert _text(folder) == KEPT


def test_the_folder_is_that_of_the_sets_else_of_the_agents(tmp_path: Path) -> None:
    agents, sets = tmp_path / "agents", tmp_path / "sets"
    assert files.folder_of(Workspace({}, agents=agents, evalsets=sets)) == sets
    assert files.folder_of(Workspace({}, agents=agents)) == agents
    with pytest.raises(NotFound, match="--evalsets"):
        files.folder_of(Workspace({}))
    with pytest.raises(NotFound, match="no eval set"):
        files.open_set(tmp_path, "missing.evalset.json")


ARGUMENTS = st.dictionaries(
    st.text(max_size=3),
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3) | st.lists(st.none()),
    max_size=3,
)


@settings(max_examples=60)
@given(answer=st.text(max_size=5), arguments=ARGUMENTS, state=ARGUMENTS)
def test_whatever_a_case_becomes_the_others_keep_every_byte(
    tmp_path_factory: pytest.TempPathFactory, answer: str, arguments: dict[str, Any], state: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("sets")
    (folder / FILE).write_text(KEPT)
    opened = files.open_set(folder, FILE)
    case = new_case("price", "?", answer, [("f", arguments)])
    assert case.conversation is not None
    old = files.find_case(opened, "price")
    assert old.session_input is not None
    case = replace(case, session_input=replace(old.session_input, state=state))
    files.save_case(folder, FILE, case, case_id="price", expected_digest=opened.digest)
    assert json.loads(json.dumps(as_json(case))) == as_json(files.find_case(files.open_set(folder, FILE), "price"))
    text = _text(folder)
    assert text.startswith(KEPT[: KEPT.index('"evalId"')])
    assert text.endswith(KEPT[KEPT.index('{"eval_id": "greet"') :])
