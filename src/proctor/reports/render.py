"""A report as Markdown, and as one HTML file that asks nothing of the network.

What a model wrote is hostile: `finalize` makes hidden characters visible and escapes whatever a template puts out;
only what this module made itself, as `Markup`, passes unchanged.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from proctor.core.run import Estimate
from proctor.reports import plot
from proctor.reports.build import METRICS, Report
from proctor.reports.listing import Listing, Rule, listing
from proctor.reports.story import Story
from proctor.reports.visible import names_only, one_line, visible
from proctor.reports.words import Words

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

LIVE_MARKDOWN = re.compile(r"[\\`*\[\]|~$#!]|(?<!\w)_|_(?!\w)")


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate as a row of a table."""

    label: str
    estimate: Estimate
    is_code: bool
    note: str


def html(report: Report, lang: str, stories: Iterable[Story] = ()) -> str:
    """Return one self-contained HTML file; with the `stories` of all trials, it lists, searches and filters them."""
    rules = [Rule(one.error_class, one.error_type) for one in report.errors]
    total = sum(count for name, count in report.outcomes.items() if name != "not_run")
    found = listing(stories, rules, total, Words(lang))
    return _render("report.html.jinja", report, lang, **script_values(found, "samples.js"))


def script_values(found: Listing, name: str) -> dict[str, object]:
    """Return the values that the base page needs to list samples by a script; no script if none are listed."""
    from markupsafe import Markup

    if not found.listed:
        return {"listing": None, "policy": policy()}
    folder = files("proctor.reports").joinpath("templates")
    script = "".join(folder.joinpath(one).read_text(encoding="utf-8") for one in ("list.js", name))
    return {
        "listing": found,
        "data": Markup(found.data),  # noqa: S704 - JSON without "<"
        "script": Markup(script),  # noqa: S704 - ours
        "policy": policy(script),
    }


def policy(script: str = "") -> "Markup":
    """Return what a page may do: show its own style and run its own script; load nothing, send nothing, make no HTML of text."""
    from markupsafe import Markup

    rules = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    if not script:
        return Markup(rules)  # noqa: S704 - ours
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return Markup(  # noqa: S704 - ours
        f"{rules}; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def anchor(sample_id: str, attempt: int) -> str:
    """Return the anchor of a sample on a page, as `samples.js` makes it.

    >>> anchor("a b", 0), anchor("x", 2)
    ('s-a%20b', 's-x~3')
    """
    return f"s-{quote(visible(sample_id), safe='')}" + (f"~{attempt + 1}" if attempt else "")


def markdown(report: Report, lang: str) -> str:
    """Return a Markdown file (GitHub's kind, for its tables)."""
    text = _render("report.md.jinja", report, lang)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def lines(report: Report, words: Words, key: str) -> list[Line]:
    """Return the rows of one section, labelled by the value of the tag, the metric, or both."""
    estimates = next(section.estimates for section in report.sections if section.key == key)
    several = len({one.name for one in estimates}) > 1
    found = []
    for one in sorted(estimates, key=lambda one: one.name) if several and key not in ("", "official") else estimates:
        value = one.slice.partition("=")[2]
        metric = words.metric(one.name)
        label = metric if not value else f"{value} · {metric}" if several else value
        is_code = bool(value) or not (one.note or one.name.rpartition(".")[2] in METRICS)
        found.append(Line(label=label, estimate=one, is_code=is_code, note=_note(one, words)))
    return found


def _note(estimate: Estimate, words: Words) -> str:
    """Return the notes on an estimate: its own, why it has no interval, where its error comes from."""
    parts = [words.t(estimate.note)] if estimate.note else []
    if estimate.value is not None and estimate.low is None and estimate.method:
        parts.append(words.t(estimate.method))
    if estimate.error_from_attempts is not None and estimate.error_from_samples is not None:
        parts.append(
            words.t(
                "standard error: ±{samples} points from samples, ±{attempts} from attempts",
                samples=f"{100 * estimate.error_from_samples:.1f}",
                attempts=f"{100 * estimate.error_from_attempts:.1f}",
            )
        )
    return "; ".join(parts)


def methods(report: Report, words: Words) -> str:
    """Return the methods of the intervals, each once."""
    used = (one.method for section in report.sections for one in section.estimates if one.low is not None)
    return ", ".join(words.t(method) for method in dict.fromkeys(used) if method)


def _render(template: str, report: Report, lang: str, **more: object) -> str:
    words = Words(lang)
    numbers = {(one.error_class, one.error_type): number for number, one in enumerate(report.errors, 1)}
    return (
        environment(template.endswith(".html.jinja"))
        .get_template(template)
        .render(
            report=report,
            record=report.record,
            lang=lang,
            words=words,
            t=words.t,
            lines=lambda key: lines(report, words, key),
            methods=methods(report, words),
            class_number=lambda error: numbers.get(error, 0),
            **more,
            target=words.t(report.target) if report.target is not None else "",
        )
    )


@cache
def environment(is_html: bool) -> "Environment":
    """Return the templates of this package; their output is made harmless."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("proctor.reports"),
        autoescape=is_html,  # noqa: S701 - for Markdown, `finalize` escapes what is live there
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalizer(visible if is_html else _inline, Markup),
    )

    def row(estimate: Estimate, title: str) -> Markup:
        return Markup(plot.row(estimate, str(Markup.escape(visible(title)))))  # noqa: S704 - the title is escaped

    made.globals.update(
        row=row,
        difference_row=lambda low, value, high, title: Markup(plot.difference_row(low, value, high, title)),  # noqa: S704 - numbers
        axis=lambda: Markup(plot.axis()),  # noqa: S704 - all of it is ours
        difference_axis=lambda: Markup(plot.difference_axis()),  # noqa: S704 - the same
        fence=lambda text: Markup(_fence(text)),  # noqa: S704 - a fence no line of the text can close
        code=lambda text: Markup(_code(text)),  # noqa: S704 - the same within a line
        one_line=one_line,
        names_only=names_only,
        anchor=anchor,
    )
    return made


def _finalizer(escape: Callable[[str], str], safe: type) -> Callable[[object], object]:
    return lambda value: escape(value) if isinstance(value, str) and not isinstance(value, safe) else value


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
