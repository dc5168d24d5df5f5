"""`BFCLDataset`: the official questions with their answers, as plain dicts."""

import json
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor_benchmarks.bfcl import dataset
from proctor_compat.hello_agents._playing import Questions
from proctor_compat.hello_agents._words import tell

CLONE = Path("berkeley-function-call-leaderboard", "bfcl_eval", "data")
BFCL_EDGE_CASES = Path(__file__).with_name("edge_cases.jsonl")  # ten questions of our own, two or three a category
DEFAULT_FOLDER = "./temp_gorilla/berkeley-function-call-leaderboard/bfcl_eval/data"
CATEGORIES = (
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
    "multi_turn_base",
    "multi_turn_miss_func",
    "multi_turn_miss_param",
    "multi_turn_long_context",
    "memory",
    "web_search",
)
OLDER = {"simple": "simple_python", "java": "simple_java", "javascript": "simple_javascript"}


class BFCLDataset(Questions):
    """Questions of one category, each a dict with `id`, `question`, `function` and `ground_truth`.

    Where the clone that the chapter makes is not there, the same files come from the pinned official package. A
    `local_data_path` may also be a file of questions in any form that the chapter shows, JSON or JSON lines.

    Attributes:
        ground_truth: the answers by id.
    """

    def __init__(
        self,
        bfcl_data_dir: str | Path | None = None,
        category: str | None = None,
        *,
        local_data_path: str | Path | None = None,
        local_data_dir: str | Path | None = None,
    ) -> None:
        if _is_category(bfcl_data_dir) and not _is_category(category):
            # The order of the chapter's listing: BFCLDataset("simple_python", "mine.json").
            bfcl_data_dir, category, local_data_path = None, str(bfcl_data_dir), category or local_data_path
        own = [path for path in (local_data_path, local_data_dir) if path]
        given = [path for path in (bfcl_data_dir, *own) if path]
        if len(set(map(str, given))) > 1:
            raise BadInput(
                "Name one place for the questions, not {count}: {places}.",
                count=len(given),
                places=", ".join(map(str, given)),
            )
        if own and not Path(own[0]).exists():
            raise BadInput("There is no file or folder {path}.", path=own[0])
        self.bfcl_data_dir = Path(given[0] if given else DEFAULT_FOLDER)
        self.category = category_of(category) if category else None
        super().__init__()
        self.ground_truth: dict[str, Any] = {}

    def load(self) -> list[dict[str, object]]:
        """Read and check the questions of the category (`simple_python` without one).

        Raises:
            BadInput: a category that is unknown or of more than one reply, or data that is missing or broken.
        """
        if self.bfcl_data_dir.is_file():
            self.data = _records(self.bfcl_data_dir)
        else:
            category = self.category or CATEGORIES[0]
            dataset.expand([category])
            if category in (*dataset.MULTI_TURN, *dataset.AGENTIC, "memory", "web_search"):
                raise BadInput(
                    "'{category}' is more than a question and a reply. Run it with: proctor run bfcl/{category}",
                    category=category,
                )
            folder = dataset.locate(self._folder())
            self.data = [_item(entry) for entry in dataset.entries(folder, category)]
        self.ground_truth = {item["id"]: item["ground_truth"] for item in self.data if "ground_truth" in item}
        tell(
            say(
                "✅ BFCL questions loaded: {count}, with answers: {answers}",
                count=len(self.data),
                answers=len(self.ground_truth),
            )
        )
        return self.data

    def get_ground_truth(self, sample_id: str) -> object:
        """Return the answer of a question; [] if it has none."""
        self._loaded()
        return self.ground_truth.get(sample_id, [])

    def get_available_categories(self) -> list[str]:
        """Return all categories of version 4, in the order of the chapter; the last six are no questions of one turn."""
        return list(CATEGORIES)

    def _folder(self) -> Path | None:
        """Return the folder to read; None for the pinned package."""
        if self.bfcl_data_dir.exists() or self.bfcl_data_dir.parts[-len(CLONE.parts) :] != CLONE.parts:
            return self.bfcl_data_dir
        tell(
            say(
                "⚠️ {folder} is not there; the same files are taken from the pinned official package.",
                folder=self.bfcl_data_dir,
            )
        )
        return None


def _is_category(value: object) -> bool:
    return isinstance(value, str) and OLDER.get(value, value) in CATEGORIES


def category_of(name: str) -> str:
    """Return a category by its name, or by that of an older version.

    Raises:
        BadInput: there is none of that name; the nearest is named.
    """
    name = OLDER.get(name, name)
    if name not in CATEGORIES:
        dataset.expand([name])
        raise BadInput("'{name}' is several categories of BFCL; name one of them.", name=name)
    return name


def _item(entry: dataset.BfclEntry) -> dict[str, Any]:
    question = [[{"role": said.role, "content": said.content} for said in entry.question]]
    item: dict[str, object] = {"id": entry.id, "question": question, "function": entry.functions}
    return item if entry.answers is None else {**item, "ground_truth": entry.answers}


def _records(path: Path) -> list[dict[str, Any]]:
    """Return the questions in a file: a JSON list, one JSON object, or one JSON object a line.

    Raises:
        BadInput: it is none of them, or a question lacks `id`, `question` or `function`.
    """
    try:
        values = _values(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput("{path}: {error}.", path=path, error=error) from None
    for number, value in enumerate(values, start=1):
        missing = [key for key in ("id", "question", "function") if not isinstance(value, dict) or key not in value]
        if missing:
            raise BadInput("{path}: question {number} lacks '{key}'.", path=path, number=number, key=missing[0])
    return values


def _values(text: str) -> list[Any]:
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        whole = json.loads(text)
    except ValueError:
        if len(lines) < 2 or text.lstrip()[:1] == "[":
            raise
        return [json.loads(line) for line in lines]
    return whole if isinstance(whole, list) else [whole]
