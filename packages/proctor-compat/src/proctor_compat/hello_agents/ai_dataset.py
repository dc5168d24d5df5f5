"""`AIDataset`: generated items, or real problems of the AIME, as plain dicts."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.datasets.formats import READERS, is_empty
from proctor.datasets.rows import rows
from proctor_compat.hello_agents._words import tell
from proctor_judging.generation.generator import as_text
from proctor_judging.generation.reference_set import NAMED, located

NEWEST = 2025  # the one year that has a set of its own
ALIASES = {
    "problem_id": ("id", "problem_id"),
    "problem": ("problem", "question"),
    "answer": ("answer",),
    "solution": ("solution", "reasoning"),
    "difficulty": ("difficulty",),
    "topic": ("topic", "category"),
}


class AIDataset:
    """Problems as dicts with problem_id, problem, answer, solution, difficulty and topic.

    Attributes:
        problems: what `load` has read.
    """

    def __init__(
        self,
        dataset_type: str = "generated",
        data_path: str | Path | None = None,
        year: int | None = None,
        cache_dir: str | Path | None = None,
    ) -> None:
        if dataset_type not in ("generated", "real"):
            raise BadInput("Data is 'generated' or 'real', not '{kind}'.", kind=dataset_type)
        self.dataset_type = dataset_type
        self.data_path = data_path
        self.year = year
        self.cache_dir = Path(cache_dir) if cache_dir else None
        self.problems: list[dict[str, object]] = []

    def load(self) -> list[dict[str, object]]:
        """Read the problems of the file, or of a year (2025 by default) from the hub.

        Raises:
            BadInput: no such file, set or year, nothing in it, or an id twice.
        """
        if self.dataset_type == "generated" or self.data_path is not None:
            if self.data_path is None:
                raise BadInput("Generated data needs a file: data_path.")
            prefix, path, year = "gen", Path(self.data_path), None
        else:
            year = self.year or NEWEST
            prefix = f"aime_{year}"
            path, _ = located("aime25" if year == NEWEST else "aime-1983-2025", self.cache_dir)
        self.problems = list(_problems(path, prefix, None if year == NEWEST else year))
        if not self.problems:
            sets = NAMED["aime-1983-2025"]
            raise BadInput("{path} holds no problems of {year}.", path=sets if year else path, year=year or "-")
        tell(say("✅ Problems loaded: {count} from {path}", count=len(self.problems), path=path))
        return self.problems

    def get_problem(self, problem_id: str) -> dict[str, object] | None:
        return next((problem for problem in self.problems if problem["problem_id"] == problem_id), None)

    def get_problems_by_topic(self, topic: str) -> list[dict[str, object]]:
        return [problem for problem in self.problems if problem["topic"] == topic]

    def get_problems_by_difficulty(self, min_diff: float, max_diff: float) -> list[dict[str, object]]:
        """Return the problems whose difficulty is a number within these bounds."""
        return [
            problem
            for problem in self.problems
            if isinstance(problem["difficulty"], int | float) and min_diff <= problem["difficulty"] <= max_diff
        ]

    def __len__(self) -> int:
        return len(self.problems)

    def __getitem__(self, idx: int) -> dict[str, object]:
        return self.problems[idx]

    def __iter__(self) -> Iterator[dict[str, object]]:
        return iter(self.problems)


def _problems(path: Path, prefix: str, year: int | None) -> Iterator[dict[str, object]]:
    if path.suffix.lower() not in READERS:
        raise BadInput("{path}: items are read from {known}.", path=path, known=", ".join(READERS))
    seen: set[str] = set()
    for row in rows(path):
        cells = {name.casefold(): value for name, value in row.cells.items()}
        if year is not None and str(cells.get("year", "")) != str(year):
            continue
        problem = {name: _first(cells, others) for name, others in ALIASES.items()}
        problem["problem_id"] = as_text(problem["problem_id"] or f"{prefix}_{row.number - 1}")
        for name in ("problem", "answer", "solution"):  # a solution of null is none
            problem[name] = "" if problem[name] is None else problem[name]
        if problem["problem_id"] in seen:
            raise BadInput("{where}: the id '{id}' was used already.", where=row.where, id=problem["problem_id"])
        seen.add(problem["problem_id"])
        yield problem


def _first(cells: Mapping[str, object], names: tuple[str, ...]) -> Any:
    return next((cells[name] for name in names if not is_empty(cells.get(name))), None)
