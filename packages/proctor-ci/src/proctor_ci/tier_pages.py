"""Show what came out of a tier: on a terminal, as Markdown, HTML, JSON, or JUnit."""

from pathlib import Path

from proctor.api import Run
from proctor.reports.pages import Paragraph, SectionBlock, TableBlock
from proctor.reports.pages import ReportPage as WholePage
from proctor.reports.words import ReportWords
from proctor_ci import pages
from proctor_ci.gate import Gate
from proctor_ci.tiers import TierResult


def page(result: TierResult, lang: str) -> WholePage:
    """Return the result as a page: all runs in a table, then each decision."""
    words = ReportWords(lang)
    t = words.t
    title = t("Tier {tier}", tier=result.tier.name)
    if result.decision is not None:
        title = f"{t(pages.DECISIONS[result.decision])}: {title}"
    rows = [_row(run, gate, words) for run, gate in zip(result.runs, result.gates, strict=True)]
    columns = [t("Task"), t("Run"), t("Main number"), t("Trials"), t("Taken over"), t("Decision")]
    blocks = [TableBlock(columns, rows, right=(2, 3, 4))]
    left_out = [Paragraph(t("The budget was spent before {task}.", task=task.task)) for task in result.left_out]
    sections = [SectionBlock(t("Runs"), [*blocks, *left_out])]
    for gate in filter(None, result.gates):
        sections += [
            SectionBlock(f"{gate.run.task}: {section.title}", section.blocks) for section in pages.sections(gate, words)
        ]
    agents = dict.fromkeys(run.record.agent for run in result.runs)
    return WholePage(title=title, facts={t("Agent"): ", ".join(agents)}, sections=sections, numbered=False)


def as_json(result: TierResult) -> str:
    runs = [
        {
            "id": run.id,
            "task": run.record.task,
            "agent": run.record.agent,
            "state": run.record.state,
            "taken_over": dict(run.record.taken_over),
            "summary": run.summary(),
            "gate": None if gate is None else pages.as_data(gate),
        }
        for run, gate in zip(result.runs, result.gates, strict=True)
    ]
    left_out = [task.task for task in result.left_out]
    return pages.json_text({"tier": result.tier.name, "decision": result.decision, "runs": runs, "left_out": left_out})


def write(result: TierResult, path: Path, lang: str) -> Path:
    """Write the result; the suffix says how: .md, .html, .json or .xml (JUnit).

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    suites = [pages.suite_of(gate, lang) for gate in filter(None, result.gates)]
    return pages.write_decision(path, page(result, lang), as_json(result), suites, lang)


def _row(run: Run, gate: Gate | None, words: ReportWords) -> list[str]:
    main = run.headline
    number = "–" if main is None else " ".join(filter(None, (words.value(main), f"[{words.interval(main)}]")))
    taken = sum(run.record.taken_over.values())
    decision = words.state(run.record.state) if gate is None else words.t(pages.DECISIONS[gate.decision])
    return [run.record.task, run.id, number, words.count(run.record.planned), words.count(taken), decision]
