"""Draw the badge of an audit: what was found by class, how much was checked, and the digest of the report that says so."""

from html import escape

from proctor.core.sentence import say
from proctor.i18n import speak
from proctor.runtime.visible import one_line
from proctor_audit.findings import CLASSES
from proctor_audit.report import AuditReport, as_json

# of the strongest class; no colour says that a task is sound
COLOURS = {"proved": "#b3261e", "likely": "#9a6700", "": "#47617a"}
CHARACTER = 6.6  # pixels
WIDE = 11.5  # pixels of a Chinese one
BADGE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="20" role="img"><title>{title}</title>
<rect width="{left:.0f}" height="20" fill="#333"/><rect x="{left:.0f}" width="{right:.0f}" height="20" fill="{colour}"/>
<g fill="#fff" font-family="Verdana,sans-serif" font-size="11"><text x="6" y="14">{name}</text><text x="{start:.0f}" y="14">{summary}</text></g>
</svg>
"""


def badge_of(report: AuditReport, lang: str) -> str:
    """Return the badge as SVG, with no link and no script."""
    counts = {cls: sum(finding.cls == cls for finding in report.counted) for cls in CLASSES}
    count = len(report.checks) - len({each.check for each in report.not_checked if each.applies or not each.made})
    name = f"Proctor {as_json(report)['audit']}"
    summary = speak(
        say(
            "{proved} proved, {likely} likely, {look} look · {made} of {all} checks",
            made=count,
            all=len(report.checks),
            **counts,
        ),
        lang,
    )
    left, right = _width(name), _width(summary)
    return BADGE.format(
        width=left + right,
        left=left,
        right=right,
        start=left + 6,
        colour=COLOURS[next((cls for cls in CLASSES[:2] if counts[cls]), "")],
        title=escape(f"{one_line(report.task)}: {summary}"),
        name=escape(name),
        summary=escape(summary),
    )


def _width(text: str) -> float:
    return 12 + sum(CHARACTER if character.isascii() else WIDE for character in text)
