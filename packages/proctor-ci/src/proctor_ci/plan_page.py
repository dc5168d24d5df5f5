"""Show a plan: on a terminal, as Markdown or HTML; JSON is that of its fields."""

from collections.abc import Iterator, Sequence

from proctor.reports.pages import Block, Bullets, Paragraph, ReportPage, SectionBlock, TableBlock
from proctor.reports.words import ReportWords
from proctor_ci.plan import PlannedSize, SamplePlan

BAR = 20
LEAST_POWER = 0.0005  # below that all is 0.0%
FEW = 100  # samples of a pilot, up to which it promises too much in one case of ten


def page(plan: SamplePlan, lang: str) -> ReportPage:
    words = ReportWords(lang)
    t = words.t
    facts = {t("Task"): plan.task, t("Samples"): words.count(plan.total)}
    if plan.against is not None:
        facts[t("Baseline")] = plan.against
    return ReportPage(
        title=t("Plan of {task}", task=plan.task), facts=facts, sections=_sections(plan, words), numbered=False
    )


def _sections(plan: SamplePlan, words: ReportWords) -> list[SectionBlock]:
    t = words.t
    takes: list[Block] = [Paragraph(_conclusion(plan, words), strong=True)]
    if plan.choices:
        takes.append(_choices(plan, words))
    takes.append(Bullets([*_remarks(plan, words)]))
    blocks = [SectionBlock(t("What it takes"), takes)]
    if any(size.power >= LEAST_POWER for size in plan.curve):
        blocks.append(SectionBlock(t("Power and cost"), [_curve(plan, words)]))
    bases = [
        *(t("Measured: {what}", what=sentence) for sentence in plan.measured),
        *(t("Assumed: {what}", what=sentence) for sentence in plan.assumed),
    ]
    blocks.append(SectionBlock(t("What this rests on"), [Bullets(bases)]))
    return blocks


def _conclusion(plan: SamplePlan, words: ReportWords) -> str:
    t = words.t
    values = {"points": f"{100 * plan.difference:.3g}", "power": words.percent(plan.power)}
    if plan.best is None:
        if plan.threshold is None:
            return t(
                "The {total} samples of the task do not find a difference of {points} points in {power} of cases.",
                total=words.count(plan.total),
                **values,
            )
        return t(
            "An agent that is {points} points above {threshold} is not shown to reach it in {power} of cases by the {total} samples of the task.",
            total=words.count(plan.total),
            threshold=words.percent(plan.threshold),
            **values,
        )
    best = plan.best
    count = words.count(best.samples)
    samples = (
        t("{count} samples", count=count)
        if best.attempts == 1
        else t("{count} samples with {attempts} attempts each", count=count, attempts=best.attempts)
    )
    more = {"samples": samples, "spent": ", ".join(_spent(best, words))}
    if plan.threshold is not None:
        return t(
            "An agent that is {points} points above {threshold} is shown to reach it in {power} of cases by {samples} ({spent}).",
            threshold=words.percent(plan.threshold),
            **values,
            **more,
        )
    return t("A difference of {points} points is found in {power} of cases by {samples} ({spent}).", **values, **more)


def _spent(choice: PlannedSize, words: ReportWords) -> Iterator[str]:
    t = words.t
    yield t("{count} trials", count=words.count(choice.trials))
    if choice.money is not None:
        yield t("about {money} in money", money=words.amount(choice.money))
    if choice.tokens is not None:
        yield t("{tokens} tokens", tokens=words.amount(choice.tokens))
    if choice.minutes is not None:
        yield words.seconds(60 * choice.minutes)


def _choices(plan: SamplePlan, words: ReportWords) -> TableBlock:
    t = words.t
    ranged = any(choice.low != choice.high for choice in plan.choices)
    rows = []
    for size in _different(plan.choices):
        low, high = ("–" if end is None else words.count(end) for end in (size.low, size.high))
        mark = t("cheapest") if size == plan.best else "" if size.samples <= plan.total else t("more than there are")
        samples = words.count(size.samples) + (f" [{low}, {high}]" if low != high else "")
        rows.append([words.count(size.attempts), samples, words.count(size.trials), *_costs(size, words), mark])
    columns = [
        t("Attempts"),
        t("Samples [range]") if ranged else t("Samples"),
        t("Trials"),
        *_cost_columns(plan, words),
        "",
    ]
    return TableBlock(columns, rows, right=range(len(columns) - 1))


def _different(choices: Sequence[PlannedSize]) -> Iterator[PlannedSize]:
    """Yield the choices without those whose attempts, more of them, take as many samples as fewer do."""
    least: int | None = None
    for choice in choices:
        if least is None or choice.samples < least:
            least = choice.samples
            yield choice


def _curve(plan: SamplePlan, words: ReportWords) -> TableBlock:
    rows = []
    for size in plan.curve:
        filled = round(BAR * size.power)
        bar = "━" * filled + "╌" * (BAR - filled)
        samples, trials = words.count(size.samples), words.count(size.trials)
        rows.append([samples, trials, *_costs(size, words), words.percent(size.power), bar])
    t = words.t
    columns = [t("Samples"), t("Trials"), *_cost_columns(plan, words), t("Power"), ""]
    return TableBlock(columns, rows, right=range(len(columns) - 1))


def _cost_columns(plan: SamplePlan, words: ReportWords) -> Sequence[str]:
    t = words.t
    known = plan.spending
    titles = ((known.money, t("Money")), (known.tokens, t("Tokens")), (known.seconds, t("Time")))
    return [title for amount, title in titles if amount is not None]


def _costs(choice: PlannedSize, words: ReportWords) -> Sequence[str]:
    cells = []
    if choice.money is not None:
        cells.append(words.amount(choice.money))
    if choice.tokens is not None:
        cells.append(words.amount(choice.tokens))
    if choice.minutes is not None:
        cells.append(words.seconds(60 * choice.minutes))
    return cells


def _remarks(plan: SamplePlan, words: ReportWords) -> Iterator[str]:
    t = words.t
    if plan.best is None and plan.smallest is not None:
        yield t(
            "With all {total} samples of the task the smallest difference found so often is {points} points.",
            total=words.count(plan.total),
            points=f"{100 * plan.smallest:.1f}",
        )
    yield t(
        "For as many trials, more samples lessen the noise at least as much as more attempts: attempts help where the samples are used up."
    )
    shown = [*_different(plan.choices)]
    if len(shown) < len(plan.choices):
        yield t("More than {count} attempts take no fewer samples.", count=shown[-1].attempts)
    asked = plan.best or next(iter(plan.choices), None)
    if plan.pilot is not None and plan.pilot <= FEW and asked is not None and asked.high is not None:
        yield t(
            "These are the chances if the {count} samples that the spread comes from are typical; with {high} samples, the upper end of the range, they are so surely.",
            count=words.count(plan.pilot),
            high=words.count(asked.high),
        )
    if plan.spending.money is None and plan.spending.tokens is not None:
        yield t("What it costs in money is not known: name the agent with --agent, and its price in proctor.toml.")
    if plan.threshold is None:
        yield t("The test of proctor compare errs in at most {error}, on both sides.", error=words.percent(plan.error))
    else:
        yield t("The bound of proctor ci gate errs in at most {error}.", error=words.percent(plan.error))
    if plan.threshold is None and plan.against is None:
        yield t("Trials, and all they take, are those of both runs together.")
    if plan.best is not None:
        limit = f" --limit {plan.best.samples}" if plan.best.samples < plan.total else ""
        attempts = f" --attempts {plan.best.attempts}" if plan.best.attempts > 1 else ""
        yield t("To run it: {command}", command=f"proctor run {plan.task} --agent …{limit}{attempts}")
