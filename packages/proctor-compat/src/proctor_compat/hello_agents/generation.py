"""`AIMEGenerator` and `run_complete_evaluation`, on the generation of Proctor.

An answer outside 0 to 999 is rejected and asked for again, never clamped; a problem that cannot be had is left out, never
made up. What was generated before a stop is kept.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import proctor
from proctor.core.errors import AgentFailed, BadInput, ProctorError
from proctor.core.sentence import Sentence, say
from proctor.core.trial import Trial, Verdict
from proctor.i18n import language
from proctor.reports.pages import markdown
from proctor.runtime.json_file import read_json
from proctor.runtime.visible import visible
from proctor_compat.hello_agents._judged import Dict
from proctor_compat.hello_agents._llm import LlmWriter
from proctor_compat.hello_agents._words import headline, tell
from proctor_compat.hello_agents.judging_tools import LLMJudgeTool, WinRateTool
from proctor_judging.generation import reference_set
from proctor_judging.generation.files import stamp, write, write_json
from proctor_judging.generation.problems import Generated, GenerationPlan, ItemProgress, written
from proctor_judging.generation.quality import Quality, Wish, assess
from proctor_judging.generation.report import report as comprehensive
from proctor_judging.generation.report import write_generation_report, write_report

GENERATED = "data_generation/generated_data"
EVALUATED = "data_generation/evaluation_results"
MOST_COMPARISONS = 20
AIME = reference_set.NAMED["aime-1983-2025"]


class AIMEGenerator:
    """Has an llm write problems in the style of the AIME.

    Attributes:
        reference_examples: real problems; one is shown with each prompt, and none may be repeated.
    """

    def __init__(
        self,
        llm: object = None,
        delay_seconds: float = 1.0,
        use_reference_examples: bool = True,
        reference_dataset: str = AIME,
    ) -> None:
        self.llm = llm
        self.delay_seconds = delay_seconds
        self.use_reference_examples = use_reference_examples
        self.reference_examples: Sequence[reference_set.ReferenceExample] = ()
        self._reference: str | None = None
        self._writer = LlmWriter(llm, delay_seconds)
        if use_reference_examples:
            self._load(reference_dataset)

    def generate_single(self, max_retries: int = 3) -> Dict:
        """Generate one problem: problem, answer, solution, topic.

        Raises:
            AgentFailed: none of the tries gave one.
        """
        generated = self._generate(1, tries=max_retries)
        if not generated.items:
            raise AgentFailed("No problem could be generated: {reason}", reason=generated.missing[0].reason)
        return {
            name: value
            for name, value in generated.items[0].items()
            if name not in ("id", "generated_at", "generation")
        }

    def generate_batch(self, num_problems: int = 30, checkpoint_path: str | Path | None = None) -> list[Dict]:
        """Write that many problems, with ids `gen_aime_<n>`; fewer when some cannot be had.

        What is in the checkpoint already is kept, and it is written after every problem.
        """
        return self._batch(num_problems, Path(checkpoint_path) if checkpoint_path else None)[0]

    def generate_and_save(self, num_problems: int = 30, output_dir: str | Path = GENERATED) -> str:
        """Generate problems, save them as `aime_generated_<ts>.json` with `generation_report_<ts>.md`, and return the path.

        A call that was stopped is resumed from its checkpoint.

        Raises:
            AgentFailed: no problem at all could be generated.
        """
        folder, moment = Path(output_dir), stamp()
        older = sorted(folder.glob("checkpoint_*.json"))
        checkpoint = older[-1] if older else folder / f"checkpoint_{moment}.json"
        problems, generated = self._batch(num_problems, checkpoint)
        if not problems:
            raise AgentFailed(
                "No problem could be generated: {reason}",
                reason=generated.missing[0].reason if generated else "",
            )
        path = write_json(folder / f"aime_generated_{moment}.json", problems)
        if generated is not None:
            write_generation_report(folder / f"generation_report_{moment}.md", _whole(generated, problems), language())
        checkpoint.unlink(missing_ok=True)
        tell(say("✅ Results written: {path}", path=path))
        return str(path)

    def _batch(self, count: int, checkpoint: Path | None) -> tuple[list[Dict], Generated | None]:
        done = _read(checkpoint)[:count] if checkpoint is not None else []
        tell(
            say(
                "🎯 Generating {count} problems with {model}, {done} are there already",
                count=count,
                model=self._writer.name,
                done=len(done),
            )
        )
        if len(done) >= count:
            return done, None
        progress = _Checkpoint(done, checkpoint)
        generated = self._generate(count - len(done), earlier=done, progress=progress)
        problems = [*done, *(dict(item) for item in generated.items)]
        for gap in generated.missing:
            tell(say("✗ {id}: {reason}", id=gap.id, reason=gap.reason), indent=3)
        return problems, generated

    def _generate(
        self, count: int, *, tries: int = 3, earlier: Sequence[Dict] = (), progress: ItemProgress | None = None
    ) -> Generated:
        first = 1 + max((_number(problem) for problem in earlier), default=0)
        plan = GenerationPlan(generator="aime", count=count, first=first, tries=tries, reference=self._reference)
        return written(
            plan,
            agent=self._writer,
            earlier=[(str(problem.get("id", index)), problem) for index, problem in enumerate(earlier)],
            concurrency=1,
            progress=progress,
        )

    def _load(self, name: str) -> None:
        source = name if Path(name).suffix or name in reference_set.NAMED else f"hub:{name}"
        try:
            reference = reference_set.load(source)
        except ProctorError as error:
            tell(say("⚠️ Reference examples cannot be read, so none are shown: {reason}", reason=error.sentence))
            self.use_reference_examples = False
            return
        self.reference_examples, self._reference = reference.items, source
        tell(say("📚 Reference problems: {count} from {name}", count=len(reference.items), name=name))


class _Checkpoint(ItemProgress):
    """Tells each problem, and writes all of them so far."""

    def __init__(self, done: Sequence[Dict], path: Path | None) -> None:
        super().__init__(tell=tell, show=lambda line: print(f"   {visible(line)}"))
        self._items = list(done)
        self._path = path

    def added(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        super().added(trial, verdicts)
        item = verdicts[0].result.known.item if verdicts else None
        if item is not None and self._path is not None:
            self._items.append({"id": trial.sample_id, **item})
            write(self._path, json.dumps(self._items, ensure_ascii=False, indent=2), replace=True)


def run_complete_evaluation(
    num_problems: int = 30,
    delay_seconds: float = 3.0,
    *,
    llm: object = None,
    reference_data_path: str | None = None,
    judge_model: str | None = None,
) -> Dict:
    """Generate, judge, compare, and write the comprehensive report; a step that fails does not stop the rest.

    Args:
        llm: writes and judges; without one the model of LLM_MODEL_ID does.
        judge_model: another model that judges, where there is no llm.
        reference_data_path: real problems, instead of those of the hub.

    Returns:
        generated_data_path, llm_judge_result, win_rate_result, comprehensive_report_path.
    """
    examples = reference_data_path or AIME
    generated = AIMEGenerator(llm, delay_seconds, reference_dataset=examples).generate_and_save(num_problems, GENERATED)
    folder = Path(EVALUATED, stamp())
    real = {"reference_data_path": reference_data_path} if reference_data_path else {"reference_year": 2025}
    shared = {"generated_data_path": generated, "judge_model": judge_model, **real}
    judged = _try_step(
        "llm_judge",
        lambda: LLMJudgeTool(llm).run({**shared, "max_samples": num_problems, "output_dir": str(folder / "llm_judge")}),
    )
    count = min(num_problems, MOST_COMPARISONS)
    compared = _try_step(
        "win_rate",
        lambda: WinRateTool(llm).run({**shared, "num_comparisons": count, "output_dir": str(folder / "win_rate")}),
    )
    report = None
    if judged is not None or compared is not None:
        quality = _assess_results(generated, judged, compared, reference_data_path)
        report = str(write_report(folder, quality, language())[0])
        tell(say("✅ Results written: {path}", path=report))
    return {
        "generated_data_path": generated,
        "llm_judge_result": judged,
        "win_rate_result": compared,
        "comprehensive_report_path": report,
    }


def generate_comprehensive_report(
    generated_data_path: str,
    llm_judge_result: Dict | None,
    win_rate_result: Dict | None,
    *,
    reference_data_path: str | None = None,
) -> str:
    """Return the comprehensive report, in Markdown, of what both tools said; a result that is None is left out.

    Args:
        reference_data_path: real problems to compare the data with, instead of those of 2025.
    """
    quality = _assess_results(generated_data_path, llm_judge_result, win_rate_result, reference_data_path)
    return markdown(comprehensive(quality, language()), language())


def _assess_results(data: str, judged: Dict | None, compared: Dict | None, reference: str | None) -> Quality:
    results = {"judge": judged, "win_rate": compared}
    runs = {name: proctor.open_run(result["run_id"]) for name, result in results.items() if result and result["run_id"]}
    return assess(Wish(data=data, reference=reference or "aime25"), runs=runs)


def _try_step(name: str, step: Callable[[], str]) -> Dict | None:
    headline(say("Step: {name}", name=name))
    try:
        data: Dict = json.loads(step())
    except Exception as error:  # noqa: BLE001 - one step must not cost the others
        reason: Sentence | str = error.sentence if isinstance(error, ProctorError) else str(error)
        tell(say("❌ {name} failed: {reason}", name=name, reason=reason))
        return None
    return data


def _read(checkpoint: Path) -> list[Dict]:
    """Return the problems in a checkpoint; one that is broken is refused rather than written over."""
    if not checkpoint.is_file():
        return []
    try:
        problems = read_json(checkpoint)
    except BadInput as error:
        raise BadInput(
            "{path} is no checkpoint: {error} Move it away to begin again.", path=checkpoint, error=error.sentence
        ) from None
    if not isinstance(problems, list) or not all(
        isinstance(problem, dict) and problem.get("problem") for problem in problems
    ):
        raise BadInput(
            "{path} is no checkpoint: {error} Move it away to begin again.",
            path=checkpoint,
            error=say("it holds no problems."),
        )
    return problems


def _number(problem: Dict) -> int:
    digits = str(problem.get("id", "")).rpartition("_")[2]
    return int(digits) if digits.isdecimal() else 0


def _whole(found: Generated, problems: Sequence[Dict]) -> Generated:
    """Return what was generated with what was there before, for the report."""
    from msgspec.structs import replace

    plan = replace(found.plan, first=1, count=len(problems) + len(found.missing))
    return replace(found, items=problems, plan=plan)
