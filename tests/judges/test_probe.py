import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from simulated import rounds
from swayed_judge import swayed

from proctor.api import evaluate
from proctor.core.errors import BadInput
from proctor.models.scripted import ScriptedModel
from proctor_judging.judges.probe import Probe, turned
from proctor_judging.judges.rubric import rubric
from proctor_judging.tasks import probe_variants, probes
from proctor_judging.tasks.probe_findings import ProbeFinding
from proctor_judging.tasks.probing import Probed, ProbeSet, probe, read

CRITERIA = rubric("answer-quality")


def test_a_judge_without_bias_and_noise_is_acquitted_of_everything() -> None:
    found = _probed(swayed())
    assert {one.verdict for one in found.findings if one.probe != "self"} == {"fine"}
    assert not found.is_biased
    assert not found.is_unclear
    assert str(_of(found, "length", "pairs").words) == "no bias above 15%"
    assert str(_of(found, "stability", "pairs").words) == "stable to within 15%"


@pytest.mark.parametrize(
    ("bias", "probe", "kinds"),
    [
        ({"position": 1.2}, "position", ("pairs",)),
        ({"label": 1.2}, "labels", ("pairs",)),
        ({"length": 1.5}, "length", ("pairs", "points")),
        ({"style": 1.5}, "style", ("pairs", "points")),
        ({"injection": 1.5}, "injection", ("pairs", "points")),
        ({"noise": 2.0}, "stability", ("pairs", "points")),
        ({"ignores_labels": True, "base": 4.0}, "labels", ("points",)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_known_bias_is_found_and_no_other(bias: dict[str, Any], probe: str, kinds: Sequence[str]) -> None:
    found = _probed(swayed(**bias))
    for kind in kinds:
        one = _of(found, probe, kind)
        assert one.verdict == "biased"
        assert one.value is not None
        assert abs(one.value) > 0.05
    # a pair with fixed labels cannot tell what is called A from what stands first
    others = [one for one in found.findings if one.probe not in (probe, "position", "stability")]
    if probe != "stability":  # without noise nothing else moves
        assert not [one.probe for one in others if one.verdict == "biased"]


def test_the_size_of_a_bias_is_found() -> None:
    """A gain of 1.2 points on a scale from 1 to 5 is .3 of the scale."""
    values = [_of(_probed(swayed(length=1.2, noise=0.7, seed=seed)), "length", "points") for seed in range(8)]
    covered = sum((one.low or 0) <= 0.3 <= (one.high or 0) for one in values)
    assert covered >= 6
    assert sum(one.value or 0 for one in values) / 8 == pytest.approx(0.3, abs=0.04)


def test_a_judge_that_always_names_the_first_is_biased_and_never_consistent() -> None:
    one = _of(_probed(swayed(always="A"), kinds=["pairs"]), "position", "pairs")
    assert (one.value, one.consistency, one.verdict) == (1.0, 0.0, "biased")


def test_a_noisy_judge_without_bias_is_rarely_accused() -> None:
    accused: list[bool] = []
    for seed in range(rounds(16)):
        found = _probed(swayed(noise=1.0, seed=seed), probes=["position", "length", "style", "injection", "labels"])
        accused += [one.verdict == "biased" for one in found.findings]
    assert sum(accused) / len(accused) <= 0.08


def test_an_order_in_the_answer_that_costs_points_is_no_bias() -> None:
    found = _probed(swayed(injection=-1.5), probes=["injection"])
    assert {one.verdict for one in found.findings} == {"fine"}
    assert (_of(found, "injection", "pairs").value or 0) < -0.5


def test_an_order_is_tried_in_both_languages_and_the_item_is_the_cluster() -> None:
    one = _of(_probed(swayed(), probes=["injection"]), "injection", "pairs")
    assert (one.items, one.scored, one.planned) == (24, 48, 48)


def test_few_items_are_not_enough_evidence() -> None:
    found = _probed(swayed(), items=5)
    assert _of(found, "length", "points").verdict == "unclear"
    assert found.is_unclear
    assert not found.is_biased


def test_a_probe_without_fit_items_is_not_applicable() -> None:
    found = _of(_probed(swayed()), "self", "pairs")
    assert (found.verdict, found.value, found.planned) == ("not_applicable", None, 0)
    assert "answers by the judge's own model" in str(found.reading)


@pytest.mark.parametrize(("own", "verdict"), [(0.0, "fine"), (1.5, "biased")])
def test_self_preference_is_found_with_answers_of_both(tmp_path: Path, own: float, verdict: str) -> None:
    path = tmp_path / "items.jsonl"
    rows = [{"id": i, "question": f"Q{i}?", "own": f"It is {i}, mine.", "other": f"It is {i}."} for i in range(30)]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = _probed(swayed(own=own), path=str(path), kinds=["points"])
    assert _of(found, "self", "points").verdict == verdict


def test_people_who_find_its_answers_better_too_excuse_it(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    rows = [
        {"id": i, "own": f"{i}, mine", "other": f"{i}", "human": "own" if said else "other"}
        for i, said in enumerate([True] * 30)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    one = _of(_probed(swayed(own=1.8), path=str(path)), "self", "pairs")
    assert (one.value, one.verdict) == (0.0, "fine")


def test_a_judge_that_fails_is_not_acquitted() -> None:
    found = _probed(ScriptedModel(lambda *_: "I would rather not."), probes=["length"])
    assert {one.verdict for one in found.findings} == {"unclear"}
    assert [one.scored for one in found.findings] == [0, 0]
    assert found.is_unclear


def test_an_answer_is_judged_once_by_points_however_many_probes_need_it() -> None:
    judge = swayed()
    _probed(judge, probes=["length", "style", "injection"], kinds=["points"])
    assert len(judge.asked) == 24 * (1 + 1 + 1 + 2)


def test_the_scale_turned_round_names_both_ends_and_turns_anchors_and_examples() -> None:
    other = turned(CRITERIA)
    assert other.en is not None
    assert "1 is the best and 5 the worst" in other.en.task
    for before, after in zip(CRITERIA.dimensions, other.dimensions, strict=True):
        assert before.en is not None
        assert after.en is not None
        assert {f"{6 - float(points):g}": text for points, text in before.en.anchors.items()} == dict(after.en.anchors)
    assert turned(other).dimensions == CRITERIA.dimensions


def test_a_run_of_probes_is_read_again_from_the_store(tmp_path: Path) -> None:
    script = tmp_path / "judge.jsonl"
    script.write_text('{"when": "\\"winner\\"", "say": {"reason": "", "winner": "A"}}\n')
    store = str(tmp_path / "runs.db")
    found = probe(f"scripted:{script}", ProbeSet(kinds=["pairs"], probes=["position"]), store=store)
    assert found.judge == f"scripted:{script}"
    again = read(found.run.id, store=store)
    assert again.findings == found.findings
    assert len(again.findings) == 1


def test_a_run_that_probes_nothing_is_refused(tmp_path: Path) -> None:
    run = evaluate(probes.task(items=1), agent="baseline:null", scorers=["blanks"], store=str(tmp_path / "runs.db"))
    with pytest.raises(BadInput, match="probes no judge"):
        read(run)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"probes": ["colour"]}, "No probe is called 'colour'"),
        ({"kinds": ["pair"]}, "Did you mean 'pairs'"),
        ({"limit": 0}, "at least 1"),
        ({"margin": 0.0}, "margin lies between"),
        ({"items": "nowhere.jsonl"}, "nowhere.jsonl"),
        ({"items": __file__}, "no data file"),
        ({"rubric": "no-such"}, "No rubric is called"),
        ({"probes": ["self"]}, "None of the items"),
    ],
)
def test_what_cannot_be_probed_is_refused(tmp_path: Path, given: dict[str, object], why: str) -> None:
    wanted = {name: value for name, value in given.items() if name != "margin"}
    margin = 0.0 if "margin" in given else 0.15
    with pytest.raises(BadInput, match=why):
        probe("scripted:x.jsonl", msgspec.convert(wanted, ProbeSet), margin=margin, store=str(tmp_path / "runs.db"))


def test_no_judge_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_JUDGE", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="Name the model to probe"):
        probe(store=str(tmp_path / "runs.db"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no items"),
        ('{"id": 1, "answer": "x"}\n{"id": 1, "answer": "y"}', "was used already in row 1"),
        ('{"id": 1, "answr": "x"}', "Did you mean 'answer'"),
        ('{"id": 1, "own": "x", "other": "y", "human": "me"}', "human"),
        ("{", "line 1"),
    ],
)
def test_malformed_items_are_refused_with_their_place(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput, match=why):
        probes.task(str(path))


def test_the_bundled_items_are_in_both_languages_and_have_two_answers() -> None:
    items = probes.bundled()
    assert len({item.id for item in items}) == len(items) == 24
    assert [item.lang for item in items].count("zh") == 12
    assert all(item.question and item.answer and item.other for item in items)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_changed_answers_keep_their_words(lang: str) -> None:
    item = next(one for one in probes.bundled() if one.lang == lang)
    assert probe_variants.longer(item.answer, lang).count(item.answer) == 2
    pretty = probe_variants.prettier(item.answer, lang)
    kept = pretty.removeprefix(probe_variants.HEADING[lang]).replace("*", "").replace("- ", "").replace("\n", "")
    assert kept.replace(" ", "") == item.answer.replace(" ", "")
    assert probe_variants.injected(item.answer, lang).startswith(item.answer)


def _probed(
    judge: ScriptedModel,
    *,
    path: str = "",
    probes: Sequence[str] = (),
    kinds: Sequence[str] = (),
    items: int | None = None,
) -> Probed:
    from proctor_judging.tasks.probes import task

    run = evaluate(
        task(path, probes=probes, kinds=kinds, items=items),
        agent="baseline:null",
        scorers=[Probe(CRITERIA, judge)],
        store=":memory:",
        concurrency=1,  # a noisy judge says the same again only when it is asked in the same order
    )
    found = read(run)
    asked = {(one.probe, one.judged) for one in found.findings if one.planned or (not probes and not kinds)}
    return Probed(
        judge=found.judge,
        rubric=found.rubric,
        run=run,
        findings=[one for one in found.findings if (one.probe, one.judged) in asked],
    )


def _of(found: Probed, probe: str, kind: str) -> ProbeFinding:
    return next(one for one in found.findings if (one.probe, one.judged) == (probe, kind))
