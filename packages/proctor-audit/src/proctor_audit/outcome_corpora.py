"""Compare the ranking by consensus and the schema rules with corpora of outcomes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.core.parity import Checked
from proctor.core.sample import Sample
from proctor_audit.checks.gold_against_schema import contradictions
from proctor_audit.consensus import ItemConsensus, ItemVotes, bins_of, precision_of, rank_by_consensus

Lines = Sequence[Mapping[str, Any]]


def rank_keys(lines: Lines) -> list[ItemConsensus]:
    """Return the ranking of questions with options, whose systems are named MAKER_MODEL."""
    items = [
        ItemVotes(
            id=line["id"],
            answers=line["answers"],
            right=frozenset(model for model, answer in line["answers"].items() if answer == line["key"]),
        )
        for line in lines
    ]
    return rank_by_consensus(items, {model: model.split("_")[0] for item in items for model in item.answers})


def rank_golds(lines: Lines) -> list[ItemConsensus]:
    """Return the ranking of expected calls; a decoded call is known by its digest."""
    items = [
        ItemVotes(
            id=line["id"],
            answers={
                **dict.fromkeys(line["passed"], "gold"),
                **{model: failure[0] for model, failure in line["failed"].items()},
            },
            right=frozenset(line["passed"]),
        )
        for line in lines
    ]
    return rank_by_consensus(
        items, {model: model.split("_")[0].split("-")[0] for item in items for model in item.answers}
    )


def check_keys(lines: Lines) -> Iterator[Checked]:
    """Yield the first questions of the ranking with what experts say, and the bins with their stated precision."""
    by_id = {line["id"]: line for line in lines}
    ranked = rank_keys(lines)
    for most in (50, 100):
        for each in ranked[:most]:
            line, weight, group = by_id[each.id], f"{each.weight:.2f}", f"precision at {most}"
            yield Checked(id=each.id, agrees=line["flawed"], official=line["error_type"], ours=weight, group=group)
    first = {each.id for each in ranked[:100]}
    for line in lines:
        if line["error_type"] == "wrong_groundtruth":
            yield Checked(id=line["id"], agrees=line["id"] in first, group="wrong keys among the first 100")
    for precision_bin in bins_of(ranked, {id: line["flawed"] for id, line in by_id.items()})[:-1]:
        stated = precision_of(precision_bin.low, "choice")
        share = precision_bin.flawed / max(1, precision_bin.count)
        holds = stated is not None and (not precision_bin.count or stated.low <= share <= stated.high)
        shown = "-" if stated is None else f"{stated.low:.2f}–{stated.high:.2f}"
        yield Checked(
            id=f"from {precision_bin.low}",
            agrees=holds,
            official=f"{share:.2f}",
            ours=shown,
            group="stated precision holds",
        )


def check_golds(lines: Lines) -> Iterator[Checked]:
    """Yield the golds that contradict their schema, of both years, and the changed golds among the first 40 of the ranking."""
    for year in ("gold_2024", "gold_2026"):
        for line in lines:
            if line[year] is not None:
                contradiction = next(contradictions(sample_of_line(line, line[year]), rejects_unknown=True), None)
                if contradiction is not None:
                    group = f"{year}: proved against its schema"
                    yield Checked(id=line["id"], agrees=True, ours=str(contradiction.sentence), group=group)
    known = [line for line in lines if line["gold_changed"] is not None]
    first = {each.id for each in rank_golds(known)[:40]}
    for line in known:
        if line["gold_changed"]:
            yield Checked(id=line["id"], agrees=line["id"] in first, group="changed golds among the first 40")


def sample_of_line(line: Mapping[str, Any], gold: object) -> Sample:
    """Return an item of the corpus as a sample with one of its golds."""
    functions = line["tools"] if isinstance(line["tools"], list) else [line["tools"]]
    expected = gold if isinstance(gold, list) else [gold]
    meta = {"functions": functions, "category": line["category"]}
    return Sample.ask(line["id"], str(line["question"]), target=expected, meta=meta)
