"""The summary files of the original: statistics.csv, summary.md and the leaderboard entry, from scored questions.

Source: OpenDFM/MULTI-Benchmark at aa40c5b, `eval/metrics.py` and `docs/leaderboard.json`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from proctor.core.installing import install_command
from proctor.core.tally import Case, tally
from proctor.stats.estimate import estimate
from proctor_benchmarks.multi import baselines
from proctor_benchmarks.multi.official import OFFICIAL_POINTS

TYPES = ("SA", "MA", "FB", "OP")
CLASSES = ("NI", "SI", "MI")
LEVELS = ("JuH", "SeH", "Uni", "Driving", "AAT")
_COLUMNS = "education,subject,type,image,qs_count,qs_correct,qs_total,qs_score"
_NO_PICTURES = "The pictures need the extra `plots`: {command}\n"
_MODEL = ("Creator", "Version", "Url", "VersionUrl", "Date", "# Paras", "Form", "Modality")


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """One question as the tables count it; `problem` groups questions that share a stem."""

    id: str
    problem: str
    education: str
    subject: str
    type: str
    image: str
    score: float
    total: float
    rejected: bool = False


class QuestionSums(msgspec.Struct, frozen=True, kw_only=True):
    """Questions, those with full marks, points to be had, points earned."""

    count: int = 0
    correct: int = 0
    total: float = 0
    score: float = 0

    @property
    def percent(self) -> float | None:
        """The percentage of points earned; None where there are none to be had."""
        return round(self.score / self.total * 100, 1) if self.total else None

    @property
    def accuracy(self) -> float | None:
        """The percentage of questions with full marks; None without questions."""
        return round(self.correct / self.count * 100, 1) if self.count else None


def sums(rows: Iterable[Scored]) -> QuestionSums:
    """Add up points; full marks are exactly all points, as upstream."""
    found = list(rows)
    return QuestionSums(
        count=len(found),
        correct=sum(row.score == row.total for row in found),
        total=sum(row.total for row in found),
        score=sum(row.score for row in found),
    )


def statistics(rows: Sequence[Scored]) -> str:
    """Return the rows of statistics.csv: every question type and image class of each subject, zeros included."""
    lines = [_COLUMNS]
    subjects = dict.fromkeys((row.education, row.subject) for row in rows)
    for education, subject in sorted(subjects, key=lambda pair: _rank(pair[0])):
        mine = [row for row in rows if (row.education, row.subject) == (education, subject)]
        for kind in TYPES:
            for image in CLASSES:
                cell = sums(row for row in mine if (_kind(row), row.image) == (kind, image))
                name = subject.replace(",", " ").replace("\n", " ")
                lines.append(
                    f"{education},{name},{kind},{image},{cell.count},{cell.correct},{_number(cell.total)},{_number(cell.score)}"
                )
    return "\n".join(lines) + "\n"


def summary(rows: Sequence[Scored], *, pictures: bool = False) -> str:
    """Return summary.md: the official tables and JSON block, then intervals and rejected replies, which upstream does not have.

    Args:
        pictures: the four pictures are next to it; else a line says how to get them.
    """
    whole = sums(rows)
    parts = [f"{absolute(whole.score, whole.total)}\n"]
    for name, by in by_slice(rows).items():
        parts.append(_table(name, by))
        parts += [f"![summary_{name.lower()}](summary_{name.lower()}.png)\n"] if pictures else []
    parts.append("![heatmap](heatmap.png)\n" if pictures else _NO_PICTURES.format(command=install_command("plots")))
    parts.append(f"```json\n{json.dumps(block(rows), indent=2, ensure_ascii=False)}\n```\n")
    parts.append(_intervals(rows))
    parts += [f"{line}\n" for line in rejections(rows)]
    return "\n\n".join(parts)


def absolute(score: float, total: float) -> str:
    """Return a score as the original prints it; without points to be had it has no percentage."""
    share = f"{score / total:.2%}" if total else "-"
    return f"Absolute Score: {score:.2f}/{_number(total)}, {share}"


def by_slice(rows: Sequence[Scored]) -> Mapping[str, Mapping[str, QuestionSums]]:
    """Return what the three tables hold: sums by education, image class and question type."""
    levels = sorted({row.education for row in rows}, key=_rank)
    return {
        "Education": {level: sums(row for row in rows if row.education == level) for level in levels},
        "Image": {image: sums(row for row in rows if row.image == image) for image in CLASSES},
        "Type": {kind: sums(row for row in rows if _kind(row) == kind) for kind in TYPES},
    }


def block(rows: Sequence[Scored]) -> dict[str, object]:
    """Return the figures of the leaderboard: per cent, one decimal; rows without points are left out."""
    whole = sums(rows)
    tables = {
        name: {key: question_sums for key, question_sums in by.items() if question_sums.total}
        for name, by in by_slice(rows).items()
    }
    types: dict[str, float | None] = {}
    for key, question_sums in tables["Type"].items():
        types[key] = question_sums.percent
        if key == "MA":
            types["MAAcc"] = question_sums.accuracy
    return {
        "Overall": whole.percent,
        "Education": {
            "Driv" if key == "Driving" else key: question_sums.percent
            for key, question_sums in tables["Education"].items()
        },
        "Image": {key: question_sums.percent for key, question_sums in tables["Image"].items()},
        "Type": types,
    }


def leaderboard(rows: Sequence[Scored], model: str, *, elite: bool = False) -> dict[str, object]:
    """Return an entry for the leaderboard; what only the submitter knows is '-'."""
    entry: dict[str, object] = {"Model": model, **dict.fromkeys(_MODEL, "-"), "Url": "", "VersionUrl": ""}
    return {**entry, "MULTI-Elite" if elite else "MULTI": block(rows)}


def leaderboard_file(rows: Sequence[Scored], model: str) -> str:
    """Return leaderboard.json: this model's entry, then the published rows for guessing, the most frequent answer, and people."""
    data = [leaderboard(rows, model), *baselines.rows(_MODEL)]
    return json.dumps({"data": data, "baselines": baselines.SOURCE}, ensure_ascii=False, indent=4) + "\n"


def rejections(rows: Sequence[Scored]) -> list[str]:
    """Return how many points were lost to claims of a missing image: of those in the run, and of the official totals."""
    lines = []
    for image in CLASSES:
        mine = [row for row in rows if row.image == image]
        lost = sum(row.total for row in mine if row.rejected)
        if lost:
            share = lost / sum(row.total for row in mine)
            line = f"Rejected ({image}): {_number(lost)} points, {share:.1%} of this run"
            if image in OFFICIAL_POINTS:
                line += f"; {lost / OFFICIAL_POINTS[image]:.1%} of {OFFICIAL_POINTS[image]}"
            lines.append(line)
    return lines


def _table(name: str, by: Mapping[str, QuestionSums]) -> str:
    lines = [f"| {name} | Correct  | Score | Ratio |", "| ---- | ---------- | --------- | ------ |"]
    for key, question_sums in by.items():
        if question_sums.total:
            more = f" (Acc. {question_sums.accuracy:.1f})" if key == "MA" else ""
            lines.append(
                f"| {key} | {question_sums.correct}/{question_sums.count} | {question_sums.score:.3f}/{_number(question_sums.total)} | {question_sums.percent:.1f}{more} |"
            )
    return "\n".join(lines) + "\n"


def _intervals(rows: Sequence[Scored]) -> str:
    """Return the mean share of points of a question, with its 95 % interval over problems."""
    slices: dict[str, Callable[[Scored], str]] = {
        "Education": lambda row: row.education,
        "Subject": lambda row: row.subject,
        "Image": lambda row: row.image,
        "Type": _kind,
    }
    lines = ["| Slice | Mean | 95 % interval | Questions |", "| ---- | ---- | ---- | ---- |", _interval("All", rows)]
    for name, of in slices.items():
        keys = dict.fromkeys(map(of, rows))
        lines += [_interval(f"{name} {key}", [row for row in rows if of(row) == key]) for key in keys]
    return "\n".join(lines) + "\n"


def _interval(name: str, rows: Sequence[Scored]) -> str:
    cases = [
        Case(cluster=row.problem, values=(row.score / row.total,), planned=1, points=row.score, out_of=row.total)
        for row in rows
        if row.total
    ]
    figure = estimate("score", tally(cases))
    mean = "-" if figure.value is None else f"{figure.value:.3f}"
    between = "-" if figure.low is None or figure.high is None else f"{figure.low:.3f}-{figure.high:.3f}"
    return f"| {name.replace('|', ' ')} | {mean} | {between} | {figure.scored} |"


def _kind(row: Scored) -> str:
    return row.type if row.type in TYPES else "OP"  # upstream counts other types there


def _rank(level: str) -> tuple[int, str]:
    return (LEVELS.index(level), "") if level in LEVELS else (len(LEVELS), level)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
