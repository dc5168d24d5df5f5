from pathlib import Path
from xml.etree import ElementTree

import example_runs
import msgspec
from memory_store import MemoryStore

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.exports import junit


async def suite(make: str, folder: Path, **options: str) -> ElementTree.Element:
    store = MemoryStore()
    run, _ = await getattr(example_runs, f"{make}_run")(store)
    assert junit.write(run, store, folder / "run.xml", options=options) == [folder / "run.xml"]
    found = ElementTree.parse(folder / "run.xml").getroot().find("testsuite")
    assert found is not None
    return found


async def test_the_suite_counts_what_its_cases_say(tmp_path: Path) -> None:
    found = await suite("small", tmp_path)
    assert {name: found.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "7",
        "failures": "3",
        "errors": "1",
        "skipped": "2",
    }
    assert len(found.findall("testcase")) == 7
    assert len(found.findall("testcase/failure")) == 3


async def test_each_way_to_end_has_its_element(tmp_path: Path) -> None:
    cases = {case.get("name"): case for case in (await suite("small", tmp_path)).findall("testcase")}
    assert list(cases["simple_python_0"]) == []
    assert cases["simple_python_0"].get("classname") == "bfcl.simple_python"
    expected = {
        "simple_python_1": ("failure", "bfcl: 0 / 1. Expected 5, got 50."),
        "irrelevance_1": ("error", "agent_failed: The agent raised ValueError: no"),
        "parallel_1": ("skipped", "provider_failed: The endpoint answered 503 four times."),
        "simple_python_2": ("skipped", "bfcl: The scorer raised KeyError: 'x'"),
    }
    assert {name: (cases[name][0].tag, cases[name][0].get("message")) for name in expected} == expected
    assert cases["simple_python_1"][0].get("type") == "value_error:others"


async def test_hostile_text_makes_no_element_and_no_illegal_character(tmp_path: Path) -> None:
    found = await suite("hostile", tmp_path)
    assert {one.tag for one in found.iter()} == {"testsuite", "testcase", "failure", "error", "skipped"}
    text = (tmp_path / "run.xml").read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert "\x00" not in text


async def test_attempts_are_cases_of_their_own(tmp_path: Path) -> None:
    store = MemoryStore()
    run = example_runs.record("twice", planned=2, spec={"attempts": 2})
    rows = [example_runs.played("twice", Sample.ask("a", "?"), Score(points=n), attempt=n) for n in range(2)]
    await example_runs.fill(store, run, rows)
    junit.write(run, store, tmp_path / "run.xml")
    cases = ElementTree.parse(tmp_path / "run.xml").getroot().findall(".//testcase")
    assert [(case.get("name"), len(case)) for case in cases] == [("a #1", 1), ("a #2", 0)]


async def test_verdicts_that_come_in_another_order_stay_with_their_trials(tmp_path: Path) -> None:
    class Backwards(MemoryStore):
        def verdicts(self, run_id: str, *, scorer: str | None = None, sample_id: str | None = None):  # type: ignore[no-untyped-def]
            return reversed(list(super().verdicts(run_id, scorer=scorer, sample_id=sample_id)))

    results = {}
    for kind in (MemoryStore, Backwards):
        store = kind()
        run, _ = await example_runs.small_run(store)
        junit.write(run, store, tmp_path / "run.xml")
        results[kind] = (tmp_path / "run.xml").read_text(encoding="utf-8")
    assert results[MemoryStore] == results[Backwards]


async def test_an_inconclusive_run_says_so(tmp_path: Path) -> None:
    store = MemoryStore()
    note = say("The budget of {bound} tokens is spent ({used}).", bound="5", used="<6>")
    run = msgspec.structs.replace(example_runs.record("spent"), state="inconclusive", note=note)
    await example_runs.fill(store, run, [])
    junit.write(run, store, tmp_path / "run.xml")
    found = ElementTree.parse(tmp_path / "run.xml").getroot().findall(".//property")
    assert {one.get("name"): one.get("value") for one in found} == {"state": "inconclusive", "note": str(note)}


async def test_a_run_without_trials_is_an_empty_suite(tmp_path: Path) -> None:
    store = MemoryStore()
    run = msgspec.structs.replace(example_runs.record("empty"), created=0.0)
    await example_runs.fill(store, run, [])
    junit.write(run, store, tmp_path / "run.xml")
    found = ElementTree.parse(tmp_path / "run.xml").getroot()[0]
    assert (found.get("tests"), list(found)) == ("0", [])
