"""The page of one sample, the parts of it that are sent when they are asked for, and its forms."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.stores.blobs import encode
from proctor_audit.inspector.view import trial_id
from proctor_web.app import page
from proctor_web.auth import FormFields, person_name, post
from proctor_web.comparing.word_diff import WordDiffPiece, diff_words
from proctor_web.evalset_files import Saved
from proctor_web.operations import OF_ALL_PAGES, checked_filter, convert
from proctor_web.samples import cases, labels, sample
from proctor_web.samples.addresses import SampleLinks, attachment_address, links_of, list_address, sample_address
from proctor_web.samples.attachments import describe_attachment, read_attachment
from proctor_web.samples.listing import SampleFilter, SampleKey, neighbours
from proctor_web.samples.sample import Attempt, SampleAttempt, SampleStep, SampleView
from proctor_web.samples.timing import LANES
from proctor_web.workspace import NotFound, Workspace

LEAST_COMMON = 0.4  # of the longer of two texts, for their differences to be marked
RECORD_CHARACTERS = 300_000

MOST_SENT = 8_192  # characters of a filter that a form sends back
Kept = Mapping[str, list[str]]


class SampleAddress(SampleStep, frozen=True, kw_only=True):
    """What the address of a sample's page says; `in_pane` is set where it is shown next to the list."""

    part: str = ""
    entry: int = 0
    piece: int = 0
    way: str = ""
    find: str = ""
    in_pane: bool = False
    saved: str = ""
    file: str = ""
    case: str = ""


OWN = {*SampleAddress.__struct_fields__, *OF_ALL_PAGES} - {"run"}  # of this page; the rest is a filter


def routes(workspace: Workspace) -> list[BaseRoute]:
    pages = SamplePages(workspace)
    return [
        Route("/runs/{run}/samples/{sample:path}", pages.show),
        Route("/runs/{run}/attachments/{sample:path}", pages.attachment),
        post("/runs/{run}/marks", pages.mark),
        post("/runs/{run}/labels", pages.label),
        post("/runs/{run}/cases", pages.add_case),
    ]


class SamplePages:
    """The pages of the samples of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def show(self, request: Request) -> Response:
        address = _place(request, request.query_params)
        if address.part:
            return self._part(request, address)
        return self._page(request, address)

    def attachment(self, request: Request) -> Response:
        """Send a file of the conversation: a picture or sound as such, anything else only to be kept."""
        address = _place(request, request.query_params)
        file = Attempt(self._workspace, address).conversation().file(address.entry, address.piece)
        known = describe_attachment(file) if file is not None else None
        data = read_attachment(file) if file is not None else None
        if known is None or data is None:
            raise HTTPException(404)
        if known.shown:
            return Response(data, media_type=known.shown)
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{quote(known.name, safe='', errors='replace')}"
        }
        return Response(data, media_type="application/octet-stream", headers=headers)

    def mark(self, request: Request, fields: FormFields) -> Response:
        return self._write(request, fields, labels.Mark, labels.mark_sample, "mark")

    def label(self, request: Request, fields: FormFields) -> Response:
        if fields.get("remove"):
            return self._write(request, fields, labels.ScorerOfAttempt, labels.remove_label, "unlabel")
        return self._write(request, fields, labels.Label, labels.save_label, "label")

    def add_case(self, request: Request, fields: FormFields) -> Response:
        """Make a case of an attempt; the end of the file's name may be left out."""
        return self._write(request, fields, cases.CaseOfSample, cases.add_case, "case")

    def _write(
        self, request: Request, fields: FormFields, kind: type[SampleAttempt], call: Callable[..., object], saved: str
    ) -> Response:
        """Do what a form asks for, and show the page again, with what was wrong if something was."""
        given = {**fields, **request.path_params}
        address = _place(request, given)
        try:
            result = call(self._workspace, _given(given, kind), person_name(request))
        except NotFound:
            raise
        except BadInput as error:
            return self._page(request, address, error.sentence, given)
        query: dict[str, object] = {**_filter(_sent(given)), "saved": saved}
        if isinstance(result, Saved):
            query |= {"file": result.file, "case": result.case}
        if address.in_pane:
            query = {**query, "open": address.sample, "attempt": str(address.attempt)}
            return RedirectResponse(list_address(address.run, query), 303)
        return RedirectResponse(sample_address(address.run, address.sample, address.attempt, query), 303)

    def _page(
        self, request: Request, place: SampleAddress, wrong: Sentence | None = None, given: Mapping[str, str] = {}
    ) -> Response:
        kept = _filter(_sent(given) if given else request.query_params.multi_items())
        return page(
            request,
            "samples/sample.html.jinja",
            status=200 if wrong is None else 422,
            wrong=wrong,
            given=given,
            **self.story(place, kept),
        )

    def story(self, place: SampleAddress, kept: Kept) -> dict[str, object]:
        """Return what the template of a whole sample shows; `kept` is the filter of the list around it."""
        workspace = self._workspace
        view = sample.show_sample(workspace, place)
        search = sample.SampleSearch(run=place.run, sample=place.sample, attempt=place.attempt, text=place.find)
        return {
            "trial": trial_id(view.sample, view.attempt),
            "pieces": _compared(view.expected, view.made),
            "case_files": cases.list_case_files(workspace),
            "can_add": cases.can_add(workspace),
            "matches": sample.find_in_sample(workspace, search) if place.find.strip() else (),
            **self._values(place, view, kept),
        }

    def _part(self, request: Request, place: SampleAddress) -> Response:
        """Send a part of the page: the part alone to htmx, else as a page of its own."""
        workspace = self._workspace
        kept = _filter(request.query_params.multi_items())
        values: dict[str, Any]
        match place.part:
            case "pane" if "hx-request" not in request.headers:
                return RedirectResponse(sample_address(place.run, place.sample, place.attempt, kept), 303)
            case "pane":
                place = msgspec.structs.replace(place, in_pane=True)
                values = {**self.story(place, kept), "given": {}, "wrong": None}
            case "steps":
                values = self._values(place, sample.show_sample(workspace, place), kept)
            case "text":
                text = Attempt(workspace, place).conversation().text(place.entry, place.piece)
                if text is None:
                    raise HTTPException(404)
                values = {"text": text}
            case "runs":
                values = {"others": sample.list_other_runs(workspace, place), "sample_address": sample_address}
            case "judges":
                values = {"exchanges": sample.list_judge_requests(workspace, place)}
            case "record":
                text = msgspec.json.format(encode(sample.sample_record(workspace, place)), indent=2).decode()
                values = {"text": text[:RECORD_CHARACTERS], "characters": len(text)}
            case _:
                raise HTTPException(404)
        template = f"samples/sample_{place.part}.html.jinja"
        values = {"place": place, **self._links(place, kept), **values}
        if "hx-request" in request.headers:
            return page(request, template, **values)
        return page(request, "samples/sample_part.html.jinja", included=template, **values)

    def _values(self, place: SampleAddress, view: SampleView, kept: Kept) -> dict[str, Any]:
        return {
            "view": view,
            "place": place,
            "lanes": LANES,
            "changed": _compared,
            **self._neighbours(place, kept),
            "bar_of": {bar.number: bar for bar in view.timing.bars},
            **self._links(place, kept),
        }

    def _neighbours(self, place: SampleAddress, kept: Kept) -> dict[str, object]:
        """Return where the samples before and after this one are, in the list that one came from."""
        fields = {name: values if name == "tag" else values[-1] for name, values in kept.items()}
        chosen = checked_filter({**fields, "run": place.run}, SampleFilter)
        failing = msgspec.structs.replace(chosen, state="failed")
        near, failed = (neighbours(self._workspace, each, place.sample, place.attempt) for each in (chosen, failing))

        def link(key: SampleKey | None) -> SampleLinks | None:
            return None if key is None else links_of(place.run, key, kept)

        return {
            "before": link(near.previous),
            "after": link(near.next),
            "failed_before": link(failed.previous),
            "failed_after": link(failed.next),
        }

    def _links(self, place: SampleAddress, kept: Kept) -> dict[str, object]:
        """Return what makes the addresses of a page, each with the filter of the list that one came from."""

        def here(**more: object) -> str:
            return sample_address(place.run, place.sample, place.attempt, {**kept, **more})

        def attempt(number: int) -> str:
            return sample_address(place.run, place.sample, number, kept)

        def attachment(entry: int, piece: int) -> str:
            return attachment_address(place.run, place.sample, place.attempt, entry, piece)

        return {
            "here": here,
            "attempt_address": attempt,
            "attachment": attachment,
            "kept": kept,
            "kept_text": urlencode(kept, doseq=True, errors="replace"),
            "list_address": list_address(place.run, kept),
        }


def _compared(expected: str, made: str) -> tuple[Sequence[WordDiffPiece], Sequence[WordDiffPiece]] | None:
    """Return both texts split where they differ; None where they have too little in common for that to help."""
    if not expected or not made:
        return None
    first, second = diff_words(expected, made)
    common = sum(len(piece.text) for piece in first if not piece.changed)
    return (first, second) if common >= LEAST_COMMON * max(len(expected), len(made)) else None


def _place(request: Request, fields: Mapping[str, object]) -> SampleAddress:
    given = {**fields, **request.path_params}
    given["sample"] = request.path_params.get("sample") or fields.get("sample", "")
    return convert({name: value for name, value in given.items() if value != "" or name == "sample"}, SampleAddress)


def _given(fields: Mapping[str, str], kind: type[SampleAttempt]) -> SampleAttempt:
    """Return a form as what is asked for: a share in percent is one of one, and a file gets the end of its name."""
    values: dict[str, Any] = {**fields}
    file = fields.get("file", "").strip()
    if file and not file.endswith(".json"):
        values["file"] = f"{file}.evalset.json"
    if fields.get("value") == "other":
        values["value"] = fields.get("percent", "")
        with suppress(ValueError):
            values["value"] = float(fields.get("percent", "")) / 100
    return convert(values, kind)


def _sent(given: Mapping[str, str]) -> list[tuple[str, str]]:
    return parse_qsl(given.get("filter", "")[:MOST_SENT])


def _filter(items: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return what of a query is the filter of the list that one came from."""
    kept: dict[str, list[str]] = {}
    for name, value in items:
        if name not in OWN:
            kept.setdefault(name, []).append(value)
    return kept
