"""Write `docs/benchmark-findings.md` from stored audits, in one language: `python findings_page.py zh`.

The audits are what `proctor audit-task TASK -o FILE.json` writes; `python findings_page.py --keep FILE.json ...` takes them over.
"""

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pages

PAGE = pages.ROOT / "docs" / "benchmark-findings.md"
AUDITS = Path(__file__).with_name("benchmark_audits.json")
WORDS = Path(__file__).with_name("benchmark_findings.toml")
MOST = 3  # findings of a check that are shown
KEPT = ("task", "digest", "samples", "scorers", "floor")
MOST_SHOWN = 150  # characters of a finding


def page(lang: str) -> str:
    """Return the page in a language."""
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    audits = json.loads(AUDITS.read_text(encoding="utf-8"))
    return "\n".join([words[lang]["head"].strip(), "", *_summary(audits, words[lang]), *_sections(audits, words, lang)])


def keep(files: list[str]) -> None:
    """Take over audits, each in place of an earlier one of the same task."""
    known = {each["task"]: each for each in json.loads(AUDITS.read_text(encoding="utf-8"))} if AUDITS.exists() else {}
    for name in files:
        audit = json.loads(Path(name).read_text(encoding="utf-8"))
        known[audit["task"]] = kept(audit)
    ordered = [known[task] for task in sorted(known)]
    AUDITS.write_text(json.dumps(ordered, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def kept(audit: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is stored of an audit; `undecided` are checks that were made and could not decide on all that they tried."""
    return {
        **{key: audit[key] for key in KEPT},
        "checks": len(audit["checks"]),
        "made": len(audit["checks"]) - len({each["check"] for each in audit["not_checked"] if not each["made"]}),
        "undecided": sorted({each["check"] for each in audit["not_checked"] if each["made"] and each["applies"]}),
        "look": sum(each["class"] == "look" for each in audit["findings"]),
        "findings": [*found_by_check(audit["findings"])],
    }


def found_by_check(findings: list[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what each check proved or found likely: the samples, and the first findings whole."""
    counted = [each for each in findings if each["class"] != "look"]
    for (cls, check), group in groupby(counted, key=lambda each: (each["class"], each["check"])):
        of_check = [*group]
        yield {
            "check": check,
            "class": cls,
            "count": len(of_check),
            "samples": sorted({sample for each in of_check for sample in each["samples"]}),
            "shown": [{key: each[key] for key in ("samples", "message", "replay")} for each in of_check[:MOST]],
        }


def _summary(audits: list[Any], words: Mapping[str, str]) -> Iterator[str]:
    yield words["columns"]
    yield "|---|---|---|---|---|---|---|"
    for audit in audits:
        proved = {
            sample
            for each in audit["findings"]
            if each["class"] == "proved" and each["check"] != "duplicate"  # which moves nothing by itself
            for sample in each["samples"]
        }
        likely = sum(each["count"] for each in audit["findings"] if each["class"] == "likely")
        share = f"{100 * len(proved) / audit['samples']:.1f}"
        floor = max(audit["floor"], key=lambda each: each["value"], default=None)
        shown = "–" if floor is None else _floor(floor, words)
        yield f"| `{audit['task']}` | {audit['samples']:,} | {len(proved)} | {share} | {likely} | {audit['look']} | {shown} |"
    yield ""


def _floor(floor: Mapping[str, Any], words: Mapping[str, str]) -> str:
    value, low, high = (f"{100 * floor[key]:.0f}" for key in ("value", "low", "high"))
    return words["floor"].format(agent=floor["agent"], value=value, low=low, high=high, count=floor["count"])


def _sections(audits: list[Any], words: Mapping[str, Any], lang: str) -> Iterator[str]:
    for audit in audits:
        yield f"## {audit['task']}\n"
        yield words[lang]["made"].format(
            digest=audit["digest"], samples=f"{audit['samples']:,}", made=audit["made"], checks=audit["checks"],
            scorers=", ".join(f"`{name}`" for name in audit["scorers"]),
        ) + "\n"  # fmt: skip
        if audit["undecided"]:
            yield words[lang]["undecided"].format(checks=", ".join(f"`{name}`" for name in audit["undecided"])) + "\n"
        if not audit["findings"]:
            yield words[lang]["nothing"] + "\n"
        notes = words.get("notes", {}).get(audit["task"], {})
        if "task" in notes:
            yield notes["task"][lang] + "\n"
        for each in audit["findings"]:
            yield from _of_check(each, words[lang])
            if each["check"] in notes:
                yield notes[each["check"]][lang] + "\n"


def _of_check(found: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    yield f"**{words[found['class']]}: `{found['check']}`** ({found['count']})\n"
    for each in found["shown"]:
        text = each["message"][words["lang"]].replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
        shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
        yield f"- `{', '.join(each['samples'][:3])}`: {shown}"
    yield f"\n```sh\n{found['shown'][0]['replay']}\n```\n"


if __name__ == "__main__":
    if sys.argv[1] == "--keep":
        keep(sys.argv[2:])
    else:
        sys.stdout.write(page(sys.argv[1]).rstrip() + "\n")
