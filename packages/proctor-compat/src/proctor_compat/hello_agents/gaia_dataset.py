"""`GAIADataset`: the questions of GAIA, or of a set like it, as plain dicts."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.runtime.json_file import read_json
from proctor_benchmarks.gaia import dataset, hub
from proctor_benchmarks.gaia.prompt import system_prompt
from proctor_compat.hello_agents._playing import Questions
from proctor_compat.hello_agents._settings import load
from proctor_compat.hello_agents._words import tell

GAIA_SYSTEM_PROMPT = system_prompt()
DOWNLOADED = Path("data", "gaia")  # where the original puts its copy


class GAIADataset(Questions):
    """Questions of one split and level.

    They come from `local_data_dir`: a folder in either published layout, or one with `*gaia*.json` files; without it
    from `./data/gaia`, or the cache, or the hub with HF_TOKEN.
    """

    def __init__(
        self,
        dataset_name: str = hub.DATA_SET,
        split: str = "validation",
        level: int | str | None = None,
        local_data_dir: str | Path | None = None,
        *,
        local_data_path: str | Path | None = None,
    ) -> None:
        if split not in get_args(dataset.Split):
            raise BadInput("GAIA has the splits validation and test, not '{split}'.", split=split)
        self.dataset_name = dataset_name
        self.split: Any = split
        self.level = level_of(level)
        given = local_data_dir or local_data_path
        self.local_data_dir = Path(given) if given else None
        super().__init__()

    def load(self) -> list[dict[str, object]]:
        """Read and check the questions.

        Raises:
            BadInput: no data, access refused by the hub, a question that lacks something, or none of the level.
        """
        items = list(self._items())
        self.data = [item for item in items if self.level in (None, item["level"])]
        if items and not self.data:
            raise BadInput("There is no question of level {level}.", level=self.level)
        tell(
            say(
                "✅ GAIA questions loaded: {count} (split {split}, level {level})",
                count=len(self.data),
                split=self.split,
                level=self.level or "-",
            )
        )
        return self.data

    def get_by_level(self, level: int | str) -> list[dict[str, object]]:
        return [item for item in self._loaded() if item["level"] == level_of(level)]

    def get_level_distribution(self) -> dict[int, int]:
        """Count the questions of each level, those of 1, 2 and 3 in any case."""
        counts = dict.fromkeys((1, 2, 3), 0)
        for item in self._loaded():
            counts[item["level"]] = counts.get(item["level"], 0) + 1
        return dict(sorted(counts.items()))

    def get_statistics(self) -> dict[str, object]:
        """Return counts of questions, levels and attachments, and the mean of the annotators' numbers of steps."""
        steps = [item["steps"] for item in self._loaded() if item["steps"]]  # 0 is: not known
        return {
            "total_samples": len(self.data),
            "level_distribution": self.get_level_distribution(),
            "samples_with_files": sum(bool(item["file_name"]) for item in self.data),
            "average_steps": fmean(steps) if steps else 0,
            "split": self.split,
        }

    def _items(self) -> Iterator[dict[str, object]]:
        root = self._root()
        if root.is_file() or not _is_published(root, self.split):
            yield from _of_json(root)
            return
        folder = dataset.split_folder(root, self.split)
        for where, raw in dataset.records(folder):
            record = dataset.decode_record(raw, where)
            item = dataset.item_of(record, where, folder, root)
            if item.id != dataset.PLACEHOLDER:
                yield _as_dict(item, record)

    def _root(self) -> Path:
        if self.local_data_dir is not None:
            if not self.local_data_dir.exists():
                raise BadInput("There is no file or folder {path}.", path=self.local_data_dir)
            return self.local_data_dir
        if self.dataset_name == hub.DATA_SET and _is_published(DOWNLOADED, self.split):
            return DOWNLOADED
        load()  # HF_TOKEN may be in .env
        return hub.locate(data_set=self.dataset_name)[0]


def level_of(level: object) -> int | None:
    """Return a level as a number; None for all.

    Raises:
        BadInput: it is no whole number.

    >>> level_of("2"), level_of(None)
    (2, None)
    """
    if level is None or level == "":
        return None
    try:
        return int(str(level))
    except ValueError:
        raise BadInput("A level is a whole number, not '{level}'.", level=level) from None


def _is_published(root: Path, split: dataset.Split) -> bool:
    try:
        dataset.split_folder(root, split)
    except BadInput:
        return False
    return True


def _of_json(root: Path) -> Iterator[dict[str, object]]:
    """Yield the questions of a set of the user's: every `*gaia*.json` below a folder, each a list or one question."""
    paths = [root] if root.is_file() else sorted(path for path in root.rglob("*.json") if "gaia" in path.name.lower())
    if not paths:
        dataset.split_folder(root, "validation")  # says what was looked for
    seen: set[str] = set()
    for path in paths:
        value = read_json(path)
        for number, record in enumerate(value if isinstance(value, list) else [value], start=1):
            where = f"{path}, {number}"
            if not isinstance(record, dict):
                raise BadInput("{where} is no question.", where=where)
            fields = {"task_id": f"gaia_{number}", "level": 1, **record} if "Level" not in record else record
            item = dataset.item_of(fields, where, path.parent, root if root.is_dir() else path.parent)
            if item.id in seen:
                raise BadInput("{where}: the id '{id}' is there already.", where=where, id=item.id)
            seen.add(item.id)
            yield _as_dict(item, record)


def _as_dict(item: dataset.GaiaItem, record: Mapping[str, object]) -> dict[str, object]:
    annotator = record.get("Annotator Metadata", record.get("annotator_metadata")) or {}
    path = "" if item.attachment is None else str(item.attachment)
    return {
        "task_id": item.id,
        "question": item.question,
        "level": item.level,
        "final_answer": item.answer,
        "file_name": path,
        "file_path": path,
        "annotator_metadata": annotator,
        "steps": item.steps if item.steps is not None else 0,
        "tools": item.tools,
        "raw_item": dict(record),
    }
