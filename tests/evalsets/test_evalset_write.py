import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor_adapters.evalsets import cases
from proctor_adapters.evalsets.noun import as_json, camel
from proctor_adapters.evalsets.read import read
from proctor_adapters.evalsets.schema import EvalCase, EvalSet
from proctor_adapters.evalsets.write import as_text, change, create, save

OLD = [{"name": "a", "data": [{"query": "Hi", "reference": "Hello"}]}]


def _case(case_id: str) -> EvalCase:
    return EvalCase(eval_id=case_id, conversation=[])


def _set(*ids: str, **more: Any) -> EvalSet:
    return EvalSet(eval_set_id="shop", eval_cases=[_case(one) for one in ids], **more)


def _ids(eval_set: EvalSet) -> list[str]:
    return [case.eval_id for case in eval_set.eval_cases]


def test_what_says_nothing_is_left_out(tmp_path: Path) -> None:
    create(tmp_path / "s.evalset.json", _set("a", creation_timestamp=2.5))
    assert json.loads((tmp_path / "s.evalset.json").read_text()) == {
        "eval_set_id": "shop",
        "eval_cases": [{"eval_id": "a", "conversation": []}],
        "creation_timestamp": 2.5,
    }


def test_an_old_file_is_kept_beside_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "old.evalset.json"
    for count in (1, 2):
        path.write_text(json.dumps(OLD))
        copy = change(path, lambda eval_set: eval_set)
        assert copy is not None
        assert copy.name == f"old.evalset.json.bak{'' if count == 1 else 2}"
        assert json.loads(copy.read_text()) == OLD
        assert read(path).shape == "current"
    assert change(path, lambda eval_set: eval_set) is None


def test_a_file_changed_by_someone_else_stays_theirs(tmp_path: Path) -> None:
    path = create(tmp_path / "s.evalset.json", _set("a"))
    loaded = read(path)
    path.write_text(as_text(_set("theirs")))
    with pytest.raises(BadInput, match="changed by someone else"):
        save(path, cases.add(loaded.eval_set, _case("ours")), loaded)
    assert _ids(read(path).eval_set) == ["theirs"]
    path.unlink()
    with pytest.raises(BadInput, match="changed by someone else"):
        save(path, loaded.eval_set, loaded)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_lost_when_many_write_at_once(tmp_path: Path) -> None:
    path = create(tmp_path / "s.evalset.json", _set())
    refused: list[str] = []

    def add(name: str) -> None:
        while True:
            try:
                change(path, lambda eval_set: cases.add(eval_set, _case(name)))
            except BadInput:
                refused.append(name)
            else:
                return

    threads = [threading.Thread(target=add, args=(str(number),)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(_ids(read(path).eval_set), key=int) == [str(number) for number in range(12)]


def test_a_file_that_cannot_be_written_is_left_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = create(tmp_path / "s.evalset.json", _set("a"))
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="No space left"):
        change(path, lambda eval_set: cases.add(eval_set, _case("b")))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_rights_and_links_stay_as_they_are(tmp_path: Path) -> None:
    path = create(tmp_path / "s.evalset.json", _set("a"))
    path.chmod(0o640)
    link = tmp_path / "link.evalset.json"
    link.symlink_to(path)
    change(link, lambda eval_set: cases.add(eval_set, _case("b")))
    assert link.is_symlink()
    assert _ids(read(path).eval_set) == ["a", "b"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_no_file_is_written_over_another(tmp_path: Path) -> None:
    path = create(tmp_path / "s.evalset.json", _set("a"))
    with pytest.raises(BadInput, match="there already"):
        create(path, _set("b"))
    with pytest.raises(BadInput, match="cannot be written"):
        create(tmp_path / "missing" / "s.evalset.json", _set("b"))
    assert _ids(read(path).eval_set) == ["a"]


def test_cases_are_found_added_replaced_and_deleted() -> None:
    eval_set = cases.add(_set("a", "b"), _case("c"))
    assert _ids(eval_set) == ["a", "b", "c"]
    assert _ids(cases.put(eval_set, "b", _case("d"))) == ["a", "d", "c"]
    assert _ids(cases.delete(eval_set, ["a", "c"])) == ["b"]
    assert cases.find(eval_set, "c").eval_id == "c"


def test_ids_stay_unique_and_wrong_ones_are_told() -> None:
    eval_set = _set("price", "b")
    with pytest.raises(BadInput, match="already"):
        cases.add(eval_set, _case("b"))
    with pytest.raises(BadInput, match="already"):
        cases.put(eval_set, "b", _case("price"))
    with pytest.raises(BadInput, match="Did you mean 'price'"):
        cases.find(eval_set, "prize")
    with pytest.raises(BadInput, match="no case 'x'"):
        cases.delete(eval_set, ["b", "x"])


def test_sets_are_merged_and_split_in_order() -> None:
    merged = cases.merge([_set("a", "b"), _set("c", "d", "e")], "all")
    assert (_ids(merged), merged.eval_set_id) == (["a", "b", "c", "d", "e"], "all")
    parts = cases.split(merged, 2)
    assert [(part.eval_set_id, _ids(part)) for part in parts] == [("all_1", ["a", "b"]), ("all_2", ["c", "d", "e"])]
    with pytest.raises(BadInput, match="both in"):
        cases.merge([_set("a"), replace(_set("a"), eval_set_id="other")], "all")
    with pytest.raises(BadInput, match="cannot be split"):
        cases.split(merged, 6)


def _id(case: Any) -> str:
    return str(case["eval_id"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {"name": st.text(min_size=1)}, optional={"args": st.dictionaries(st.text(), JSON), "id": st.text()}
    ),
    max_size=2,
)
CONTENTS = st.fixed_dictionaries(
    {},
    optional={
        "role": st.text(),
        "parts": st.lists(st.fixed_dictionaries({}, optional={"text": st.text()}), max_size=2),
    },
)
DATA = st.fixed_dictionaries({}, optional={"tool_uses": CALLS}) | st.fixed_dictionaries(
    {"invocation_events": st.lists(st.fixed_dictionaries({"author": st.text(), "content": CONTENTS}), max_size=2)}
)
TURNS = st.fixed_dictionaries(
    {"user_content": CONTENTS},
    optional={"final_response": CONTENTS, "intermediate_data": DATA, "invocation_id": st.text()},
)
CASES = st.fixed_dictionaries(
    {"eval_id": st.text(), "conversation": st.lists(TURNS, max_size=2)},
    optional={
        "session_input": st.fixed_dictionaries({"app_name": st.text(), "user_id": st.text(), "state": st.dictionaries(st.text(), JSON)}),
        "zzz": JSON,
        "final_session_state": st.none() | st.dictionaries(st.text(), JSON),
    },
)  # fmt: skip
SETS = st.fixed_dictionaries({"eval_set_id": st.text(), "eval_cases": st.lists(CASES, max_size=2, unique_by=_id)})


def _recased(value: Any, chosen: st.DataObject) -> Any:
    """Some keys in camelCase; what is inside arguments and states is data and stays."""
    if isinstance(value, list):
        return [_recased(one, chosen) for one in value]
    if not isinstance(value, dict):
        return value
    data = {"args", "state", "zzz", "final_session_state"}
    return {
        (camel(key) if chosen.draw(st.booleans()) else key): inner if key in data else _recased(inner, chosen)
        for key, inner in value.items()
    }


@settings(max_examples=150, deadline=None)
@given(value=SETS, data=st.data())
def test_reading_what_was_written_gives_the_same_in_either_spelling(
    value: dict[str, Any], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("sets") / "s.evalset.json"
    path.write_text(json.dumps(value))
    plain = read(path).eval_set
    path.write_text(json.dumps(_recased(value, data)))
    assert read(path).eval_set == plain
    path.write_text(as_text(plain))
    again = read(path)
    assert (again.eval_set, again.shape) == (plain, "current")
    assert as_text(again.eval_set) == as_text(plain)
    assert [as_json(case).get("zzz") for case in plain.eval_cases] == [case.get("zzz") for case in value["eval_cases"]]
