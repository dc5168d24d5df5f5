"""Write an inspection as a file: the forms of an audit, with the scores and shares that only trials have."""

import json
from pathlib import Path

from msgspec.structs import replace

from proctor.core.sentence import say
from proctor.reports import pages
from proctor.reports.blocks import Bullets, Phrase, SectionBlock, TableBlock
from proctor.runtime.files import write_whole
from proctor.runtime.visible import visible_json
from proctor_audit.inspector.inspection import Inspection, inspection_json
from proctor_audit.inspector.telling import describe_blame, describe_people, describe_scores
from proctor_audit.printing import percent
from proctor_audit.report import FailOn
from proctor_audit.writing import page_of, write_report


def write_inspection(inspection: Inspection, path: Path, lang: str, fail_on: FailOn) -> Path:
    """Write it in the form that the suffix names.

    Raises:
        BadInput: the file cannot be written.
    """
    match path.suffix:
        case ".json":
            text = json.dumps(inspection_json(inspection), ensure_ascii=False)
            return write_whole(path, visible_json(text + "\n"))
        case ".html" | ".md":
            return pages.write(path, _page(inspection), lang)
    return write_report(inspection.report, path, lang, fail_on)


def _page(inspection: Inspection) -> pages.ReportPage:
    page = page_of(inspection.report)
    lines: list[Phrase] = []
    if inspection.scores is not None:
        lines = [*describe_scores(inspection.scores), describe_blame(inspection.blame)]
    rows: list[list[Phrase]] = [
        [each.check, str(each.trials), percent(each.share), "-" if each.corrected is None else percent(each.corrected)]
        for each in inspection.prevalence
        if each.trials
    ]
    heads: list[Phrase] = [say("check"), say("trials"), say("share"), say("by labels")]
    people: list[Phrase] = [
        say("{check}: {sentence}", check=each.check, sentence=sentence)
        for each in inspection.prevalence
        for sentence in describe_people(each)
    ]
    sections = [SectionBlock(say("Score"), [Bullets(lines)])] if lines else []
    if rows:
        sections.append(SectionBlock(say("How frequent"), [TableBlock(heads, rows, right=(1, 2, 3))]))
    if people:
        sections.append(SectionBlock(say("What people say of findings"), [Bullets(people)]))
    return replace(
        page,
        title=say("Inspection of {source}", source=inspection.report.task),
        facts={"source": inspection.report.task, "trials": f"{inspection.report.samples:,}"},
        sections=[*sections, *page.sections],
    )
