"""A report as Markdown, and as one HTML file that asks nothing of the network.

What a model wrote is hostile: `finalize` makes hidden characters visible and escapes whatever a template puts out;
only what this module made itself, and a template marks as safe, passes unchanged.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from proctor.core.run import Estimate
from proctor.reports import noise, plot
from proctor.reports.blocks import block_kind
from proctor.reports.build import METRICS, ReportData
from proctor.reports.listing import ErrorRule, TrialListing, listing
from proctor.reports.story import Story
from proctor.reports.words import ReportWords
from proctor.runtime.visible import names_only, one_line, visible

if TYPE_CHECKING:
    from jinja2 import Environment

LIVE_MARKDOWN = re.compile(r"[\\`*\[\]|~$#!]|(?<!\w)_|_(?!\w)")


class EstimateLine(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate as a row of a table."""

    label: str
    estimate: Estimate
    is_code: bool
    notes: Sequence[str]

    @property
    def note(self) -> str:
        """All notes, as one text."""
        return "; ".join(self.notes)


class PageOfSamples(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a report that is a folder: which trials it lists, in the order of the plan."""

    name: str
    first: str
    last: str
    trials: int
    failed: int


def html(report: ReportData, lang: str, stories: Iterable[Story] = (), *, others: Sequence[PageOfSamples] = ()) -> str:
    """Return one self-contained HTML file; with the `stories` of all trials, it lists, searches and filters them.

    Args:
        report: the data of the page.
        lang: its language.
        stories: the trials that it lists.
        others: pages next to it that list them instead.
    """
    total = sum(count for name, count in report.outcomes.items() if name != "not_run")
    return _render("report.html.jinja", report, lang, others=others, **_listing_values(report, lang, stories, total))


def html_of_samples(
    report: ReportData, lang: str, stories: Sequence[Story], number: int, count: int, names: Sequence[str]
) -> str:
    """Return page `number` of `count` of a report that is a folder; `names` are the pages before and after it, or ''."""
    values = _listing_values(report, lang, stories, len(stories))
    return _render("part.html.jinja", report, lang, number=number, count=count, names=names, others=(), **values)


def _listing_values(report: ReportData, lang: str, stories: Iterable[Story], total: int) -> dict[str, object]:
    rules = [ErrorRule(error.error_class, error.error_type) for error in report.errors]
    return script_values(listing(stories, rules, total, ReportWords(lang)), "samples.js")


def script_values(found: TrialListing, name: str) -> dict[str, object]:
    """Return the values that the base page needs to list samples by a script; no script if none are listed."""
    if not found.listed:
        return {"listing": None, "policy": policy()}
    folder = files("proctor.reports").joinpath("templates")
    script = "".join(folder.joinpath(part).read_text(encoding="utf-8") for part in ("list.js", name))
    return {"listing": found, "script": script, "policy": policy(script)}


def policy(script: str = "") -> str:
    """Return what a page may do: show its own style and run its own script; load nothing, send nothing, make no HTML of text."""
    rules = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:"
    if not script:
        return rules
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"{rules}; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"


def anchor(sample_id: str, attempt: int) -> str:
    """Return the anchor of a sample on a page, as `samples.js` makes it.

    >>> anchor("a b", 0), anchor("x", 2)
    ('s-a%20b', 's-x~3')
    """
    return f"s-{quote(visible(sample_id), safe='')}" + (f"~{attempt + 1}" if attempt else "")


def markdown(report: ReportData, lang: str) -> str:
    """Return a Markdown file (GitHub's kind, for its tables)."""
    text = _render("report.md.jinja", report, lang)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def lines(report: ReportData, words: ReportWords, key: str) -> list[EstimateLine]:
    """Return the rows of one section, labelled by the value of the tag, the metric, or both."""
    estimates = next(section.estimates for section in report.sections if section.key == key)
    several = len({estimate.name for estimate in estimates}) > 1
    labelled = []
    for one in sorted(estimates, key=lambda one: one.name) if several and key not in ("", "official") else estimates:
        value = one.slice.partition("=")[2]
        metric = words.metric(one.name)
        label = metric if not value else f"{value} · {metric}" if several else value
        is_code = bool(value) or not (one.note or one.name.rpartition(".")[2] in METRICS)
        labelled.append(EstimateLine(label=label, estimate=one, is_code=is_code, notes=[*_notes(one, words)]))
    return labelled


def _notes(estimate: Estimate, words: ReportWords) -> Iterator[str]:
    """Yield the notes on an estimate: its own, why it has no interval, where its error comes from."""
    if estimate.note:
        yield words.t(estimate.note)
    if estimate.value is not None and estimate.low is None and estimate.method:
        yield words.t(estimate.method)
    if estimate.error_from_attempts is not None and estimate.error_from_samples is not None:
        yield words.t(
            "standard error: ±{samples} points from samples, ±{attempts} from attempts",
            samples=f"{100 * estimate.error_from_samples:.1f}",
            attempts=f"{100 * estimate.error_from_attempts:.1f}",
        )


def methods(report: ReportData, words: ReportWords) -> str:
    used = (
        estimate.method for section in report.sections for estimate in section.estimates if estimate.low is not None
    )
    return ", ".join(words.t(method) for method in dict.fromkeys(used) if method)


class ReportLinks:
    """Where the parts of a page about a run lead: in a report to other parts of the page, or nowhere, which is ''."""

    def __init__(self, report: ReportData) -> None:
        self._numbers = {(error.error_class, error.error_type): number for number, error in enumerate(report.errors, 1)}

    def class_id(self, error_class: str, error_type: str) -> str:
        """Return the anchor of the first failed trial with an error."""
        return f"class-{self._numbers.get((error_class, error_type), 0)}"

    def error(self, error_class: str, error_type: str) -> str:
        return f"#{self.class_id(error_class, error_type)}"

    def outcome(self, name: str) -> str:
        """Return the address of the trials with an outcome."""
        return ""

    def slice(self, slice: str) -> str:
        """Return the address of the samples with a tag, given as key=value."""
        return ""

    def sample(self, sample_id: str, attempt: int) -> str:
        return ""

    def shown(self, key: str, rows: Sequence[EstimateLine]) -> Sequence[EstimateLine]:
        """Return which rows of a section of estimates the page has: all of them."""
        return rows

    def section(self, key: str) -> str:
        """Return the address at which a section has all its rows."""
        return ""


def run_values(report: ReportData, words: ReportWords, links: ReportLinks | None = None) -> dict[str, object]:
    """Return the values that the templates about a run need, for reports and for other pages that include them."""
    return {
        "report": report,
        "record": report.record,
        "lines": lambda key: lines(report, words, key),
        "methods": methods(report, words),
        "noise": noise.sections(report.noise, words),
        "kind": block_kind,
        "links": links or ReportLinks(report),
        "target": words.t(report.target) if report.target is not None else "",
    }


def _render(template: str, report: ReportData, lang: str, **more: object) -> str:
    words = ReportWords(lang)
    values = {"lang": lang, "words": words, "t": words.t, **run_values(report, words), **more}
    return environment(template.endswith(".html.jinja")).get_template(template).render(values)


@cache
def environment(is_html: bool) -> "Environment":
    """Return the templates of this package; their output is made harmless."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("proctor.reports"),
        autoescape=is_html,  # noqa: S701 - for Markdown, `finalize` escapes what is live there
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalizer(visible if is_html else _inline),
    )
    safe = made.filters["safe"]
    made.globals.update(
        _template_functions(safe),
        fence=lambda text: safe(_fence(text)),  # no line of the text can close it
        code=lambda text: safe(_code(text)),
    )
    return made


def _template_functions(safe: Callable[[str], object]) -> Mapping[str, Callable[..., object]]:
    """Return the functions that the templates of this package call; `safe` marks HTML whose texts are escaped."""

    def linked(text: str, address: str, *, is_code: bool = False) -> object:
        shown = f"<code>{escape(visible(text))}</code>" if is_code else escape(visible(text))
        return safe(f'<a href="{escape(visible(address))}">{shown}</a>' if address else shown)

    def drawn(draw: Callable[..., str]) -> Callable[..., object]:
        """Escape the texts that a plot shows."""
        return lambda *values: safe(
            draw(*(escape(visible(value)) if isinstance(value, str) else value for value in values))
        )

    plots = (plot.row, plot.axis, plot.difference_row, plot.difference_axis, plot.share_bar, plot.histogram)
    return {draw.__name__: drawn(draw) for draw in plots} | {
        "linked": linked,
        "one_line": one_line,
        "names_only": names_only,
        "anchor": anchor,
    }


def _finalizer(make_harmless: Callable[[str], str]) -> Callable[[object], object]:
    """Return what is done with each value that a template puts out; `__html__` is how Jinja marks safe text."""
    return lambda value: make_harmless(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _inline(text: str) -> str:
    """Return text that means nothing in Markdown or HTML, in one line."""
    flat = " ".join(visible(text).split())
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("://", "&#58;//")
    return LIVE_MARKDOWN.sub(lambda found: "\\" + found[0], flat)


def _fence(text: str) -> str:
    ticks = max((len(run) for run in re.findall(r"`+", text)), default=0)
    mark = "`" * max(3, ticks + 1)
    return f"{mark}text\n{visible(text)}\n{mark}"


def _code(text: str) -> str:
    flat = " ".join(visible(text).split())
    if not flat:
        return ""
    mark = "`" * (max((len(run) for run in re.findall(r"`+", flat)), default=0) + 1)
    gap = " " if "`" in flat else ""
    return f"{mark}{gap}{flat}{gap}{mark}".replace("|", "\\|")
