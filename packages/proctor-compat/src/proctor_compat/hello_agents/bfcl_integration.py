"""`BFCLIntegration`: the official tool, where the user has installed it, over exported results."""

import json
import os
import shutil
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.installing import is_installed
from proctor.core.sentence import say
from proctor_benchmarks.bfcl import official
from proctor_benchmarks.bfcl.dataset import CATEGORIES
from proctor_benchmarks.bfcl.export import result_folder
from proctor_compat.hello_agents._words import tell
from proctor_compat.hello_agents.bfcl_dataset import category_of

COMMAND = "pip install bfcl-eval"
UNREGISTERED = "score_unregistered"  # not in score/, whose folders have to be models of the official registry
MOST_LINES = 20
READER = "Qwen/Qwen3-8B"  # of the official registry; it reads results in text form, whosever they are
GUIDE = """\
bfcl evaluate --model MODEL --test-category CATEGORY --partial-eval
results: result/<MODEL with / as _>/BFCL_v4_<CATEGORY>_result.json
scores:  score/<MODEL with / as _>/<group>/BFCL_v4_<CATEGORY>_score.json
tables:  score/data_overall.csv, data_non_live.csv, data_live.csv, data_multi_turn.csv, data_agentic.csv
BFCL_PROJECT_ROOT is the folder that holds result/ and score/"""


class BFCLIntegration:
    """Calls `bfcl evaluate`. It never installs anything by itself.

    Attributes:
        project_root: holds `result/` and `score/`; `BFCL_PROJECT_ROOT`, else the working folder, when not given.
    """

    def __init__(self, project_root: str | Path | None = None) -> None:
        self.project_root = Path(project_root or os.environ.get("BFCL_PROJECT_ROOT") or ".")

    def is_installed(self) -> bool:
        """Return True if the official tool can be called."""
        return shutil.which("bfcl") is not None or is_installed("bfcl_eval")

    def install(self) -> bool:
        """Print how to install it; True if it is installed."""
        if not self.is_installed():
            tell(say("The official tool is not installed. In an environment of its own: {command}", command=COMMAND))
        return self.is_installed()

    def prepare_result_file(self, source_file: str | Path, model_name: str, category: str) -> Path:
        """Copy results to the folder that the official tool reads.

        Raises:
            BadInput: no such file or category, or a model name that is no folder name.
        """
        target = result_folder(self.project_root, model_name) / f"BFCL_v4_{category_of(category)}_result.json"
        if not Path(source_file).is_file():
            raise BadInput("There is no file {path}.", path=source_file)
        target.parent.mkdir(parents=True, exist_ok=True)
        if Path(source_file).resolve() != target.resolve():
            shutil.copyfile(source_file, target)
        return target

    def run_evaluation(
        self, model_name: str, category: str, result_file: str | Path | None = None
    ) -> dict[str, Any] | None:
        """Return what the official tool says of the results; None where it cannot be called, which is reported.

        A name that its registry does not have is no obstacle: the results, which are in text form, are then read in a
        folder of their own as those of a model it has, and the scores are filed in `score_unregistered/<model_name>`.
        """
        try:
            category = category_of(category)
            if result_file is not None:
                self.prepare_result_file(result_file, model_name, category)
            try:
                official.evaluate(self.project_root, model_name, [category])
            except official.UnknownModel:
                self._evaluate_as_reader(model_name, category)
        except BadInput as error:
            tell(error.sentence)
            return None
        return self.parse_results(model_name, category)

    def _evaluate_as_reader(self, model_name: str, category: str) -> None:
        tell(
            say(
                "The official registry has no '{model}': its results are read as text, as those of {reader} are.",
                model=model_name,
                reader=READER,
            )
        )
        own = result_folder(self.project_root, model_name)
        with tempfile.TemporaryDirectory() as root:
            aside = BFCLIntegration(root)
            results = next(own.rglob(f"BFCL_v4_{category}_result.json"), own)
            aside.prepare_result_file(results, READER, category)
            official.evaluate(aside.project_root, READER, [category])
            scores, kept = Path(root, "score"), self.project_root / UNREGISTERED / own.name
            shutil.copytree(scores / result_folder(scores, READER).name, kept, dirs_exist_ok=True)
            for table in scores.glob("data_*.csv"):
                shutil.copy(table, kept)

    def parse_results(self, model_name: str, category: str) -> dict[str, object] | None:
        """Return the first line of a score file (`accuracy`, `correct_count`, `total_count`); None without a readable file."""
        group = CATEGORIES[category].group if category in CATEGORIES else "*"
        name = result_folder(self.project_root, model_name).name
        for folder in ("score", UNREGISTERED):
            for path in sorted((self.project_root / folder / name).glob(f"{group}/BFCL_v4_{category}_score.json")):
                with path.open(encoding="utf-8") as lines:
                    try:
                        data = json.loads(lines.readline())
                    except ValueError:
                        return None
                return data if isinstance(data, dict) else None
        return None

    def get_summary_csv(self, part: str = "overall", model_name: str | None = None) -> Path | None:
        """Return `score/data_<part>.csv` or None; of a model that the registry lacks, the table of its own.

        The parts are overall, non_live, live, multi_turn, agentic and format_sensitivity.
        """
        own = (
            [self.project_root / UNREGISTERED / result_folder(self.project_root, model_name).name] if model_name else []
        )
        paths = [folder / f"data_{part}.csv" for folder in (*own, self.project_root / "score")]
        return next((path for path in paths if path.is_file()), None)

    def print_summary(self, model_name: str, category: str) -> None:
        """Print the official table of the group of a category."""
        part = CATEGORIES[category].group if category in CATEGORIES else "overall"
        path = self.get_summary_csv(part, model_name)
        if path is not None:
            tell(say("📊 Official table: {path}", path=path))
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in islice(lines, MOST_LINES):
                    tell(line.rstrip("\n"), indent=3)

    def print_usage_guide(self) -> None:
        """Print the command and its files."""
        print(GUIDE)
