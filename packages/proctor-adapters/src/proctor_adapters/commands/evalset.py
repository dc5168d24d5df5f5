"""proctor adk evalset: look at eval-set files, change them, and bring old ones to the current shape."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from proctor.cli import derived, options, output
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.runtime.visible import one_line
from proctor_adapters.evalsets import cases
from proctor_adapters.evalsets.read import Loaded, case_of, read, read_case, read_scenarios, read_session, set_id
from proctor_adapters.evalsets.schema import EvalCase, EvalSet, SessionInput, texts
from proctor_adapters.evalsets.write import append, as_text, change, create, save

FILE = click.Path(path_type=Path)
SHOWN_CHARACTERS = 60
SHOWN_REASONS = 20


@click.group()
def command() -> None:
    pass


_case_options = derived.together(
    click.option("--from", "source", metavar="FILE", type=FILE, help=t("A JSON file with the whole case.")),
    click.option("--ask", metavar="TEXT", help=t("What the user says.")),
    click.option("--answer", metavar="TEXT", help=t("The response that is expected.")),
    click.option(
        "--call",
        "calls",
        metavar="NAME[=JSON]",
        multiple=True,
        help=t('A call that is expected, such as price={"model": "A"}; may be given several times.'),
    ),
)
_session_option = click.option(
    "--session", metavar="FILE", type=FILE, help=t("A JSON file with the session that the cases begin with.")
)


@command.command("list", help=t("List the cases of eval-set files."))
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@options.as_json
def list_(files: tuple[Path, ...], as_json: bool) -> None:
    loaded = {path: read(path) for path in files}
    if as_json:
        output.print_json({"sets": [_row(path, loaded_set.eval_set) for path, loaded_set in loaded.items()]})
        return
    for path, loaded_set in loaded.items():
        _tell_notes(path, loaded_set)
        _print_cases(loaded_set.eval_set)


@command.command("validate", help=t("Say whether eval-set files can be run, and where in them something is wrong."))
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.pass_context
def validate(ctx: click.Context, files: tuple[Path, ...]) -> None:
    from proctor_adapters.evalsets.task import files_of, validated

    wrong = 0
    for path in (one for file in files for one in files_of(file)):
        try:
            loaded = validated(path)
        except BadInput as error:
            wrong += 1
            output.tell(error.sentence)
            continue
        _tell_notes(path, loaded)
        count = len(loaded.eval_set.eval_cases)
        output.line(t("{path}: {count} cases can be run ({shape}).", path=path, count=count, shape=t(loaded.shape)))
    if wrong:
        ctx.exit(2)


@command.command("show", help=t("Print a case, or a whole set, as JSON in the current shape."))
@click.argument("file", type=FILE)
@click.argument("case_id", metavar="CASE", required=False)
def show(file: Path, case_id: str | None) -> None:
    eval_set = read(file).eval_set
    output.json_text(as_text(eval_set if case_id is None else cases.find(eval_set, case_id)))


@command.command("add", help=t("Add a case to a file; the file is made when it is not there."))
@click.argument("file", type=FILE)
@click.argument("case_id", metavar="CASE", required=False)
@_case_options
@click.option(
    "--scenarios",
    metavar="FILE",
    type=FILE,
    help=t("A JSON file with scenarios, as adk eval_set add_eval_case reads it; each one that is new becomes a case."),
)
@_session_option
def add(file: Path, case_id: str | None, scenarios: Path | None, session: Path | None, **given: Any) -> None:
    begin = read_session(session) if session is not None else None
    if scenarios is not None:
        if case_id is not None or any(given.values()):
            raise BadInput("--scenarios names whole cases; it goes with --session only.")
        _add_scenarios(file, scenarios, begin)
        return
    case = _case_of_options(case_id, **given)
    if begin is not None and case.session_input is None:
        case = replace(case, session_input=begin)
    if file.exists():
        _tell_copy(change(file, lambda eval_set: cases.add(eval_set, case)))
    else:
        create(file, EvalSet(eval_set_id=set_id(file), name=set_id(file), eval_cases=[case]))
    output.message(t("Added {case} to {path}.", case=case.eval_id, path=file))


@command.command("edit", help=t("Replace a case by that of a file, change its first turn, or open it in your editor."))
@click.argument("file", type=FILE)
@click.argument("case_id", metavar="CASE")
@_case_options
def edit(file: Path, case_id: str, **given: Any) -> None:
    loaded = read(file)
    case = _edit_case(cases.find(loaded.eval_set, case_id), **given)
    _tell_copy(save(file, cases.put(loaded.eval_set, case_id, case), loaded))
    output.message(t("Changed {case} in {path}.", case=case_id, path=file))


@command.command("delete", help=t("Delete cases from a file."))
@click.argument("file", type=FILE)
@click.argument("case_ids", metavar="CASE...", nargs=-1, required=True)
def delete(file: Path, case_ids: tuple[str, ...]) -> None:
    _tell_copy(change(file, lambda eval_set: cases.delete(eval_set, case_ids)))
    output.message(t("Deleted {cases} from {path}.", cases=", ".join(case_ids), path=file))


@command.command(
    "migrate", help=t("Bring files of any older shape to the current one; the old file is kept next to it.")
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option("--out", "-o", metavar="FILE", type=FILE, help=t("Write there instead; the old file stays unchanged."))
@_session_option
def migrate(files: tuple[Path, ...], out: Path | None, session: Path | None) -> None:
    if out is not None and len(files) > 1:
        raise BadInput("--out takes one file; use merge for several.")
    begin = read_session(session) if session is not None else None
    for file in files:
        loaded = read(file)
        _tell_notes(file, loaded)
        eval_set = loaded.eval_set if begin is None else cases.with_session(loaded.eval_set, begin)
        if out is not None:
            create(out, eval_set)
        elif loaded.shape != "current" or eval_set != loaded.eval_set:
            _tell_copy(save(file, eval_set, loaded, reshape=True))
        output.message(
            t("{path}: {shape} → {count} cases.", path=file, shape=t(loaded.shape), count=len(eval_set.eval_cases))
        )


@command.command("merge", help=t("Put the cases of several files into a new one."))
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option("--out", "-o", metavar="FILE", type=FILE, required=True, help=t("The new file."))
def merge(files: tuple[Path, ...], out: Path) -> None:
    merged = cases.merge([read(file).eval_set for file in files], set_id(out))
    create(out, merged)
    output.message(t("Wrote {path} with {count} cases.", path=out, count=len(merged.eval_cases)))


@command.command("split", help=t("Put the cases of a file into several new ones next to it; the file stays."))
@click.argument("file", type=FILE)
@click.option("--parts", type=options.AT_LEAST_ONE, required=True, help=t("How many files."))
def split(file: Path, parts: int) -> None:
    name = set_id(file)
    targets = [
        (file.with_name(f"{name}_{number}{file.name.removeprefix(name)}"), part)
        for number, part in enumerate(cases.split(read(file).eval_set, parts), start=1)
    ]
    for path, _ in targets:
        if path.exists():
            raise BadInput("{path} is there already; nothing was written.", path=path)
    for path, part in targets:
        create(path, part)
        output.message(t("Wrote {path} with {count} cases.", path=path, count=len(part.eval_cases)))


@command.command("from-trace", help=t("Make cases out of traces: OpenTelemetry (GenAI), OpenInference, ADK, VeADK."))
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option("--out", "-o", metavar="FILE", type=FILE, help=t("The new file."))
@click.option(
    "--redact",
    "patterns",
    metavar="[NAME=]REGEX",
    multiple=True,
    help=t("Take out what the pattern fits, everywhere, and write [NAME] instead; may be given several times."),
)
@click.option("--redact-common", is_flag=True, help=t("Take out keys, e-mail addresses and phone numbers."))
@click.option("--dry-run", is_flag=True, help=t("Show the cases, and write nothing."))
@options.as_json
def from_trace(
    files: tuple[Path, ...],
    out: Path | None,
    patterns: tuple[str, ...],
    redact_common: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    from proctor_adapters.evalsets.redact import patterns as read_patterns
    from proctor_adapters.evalsets.trace_cases import record_cases
    from proctor_adapters.traces import read

    if out is None and not dry_run:
        raise BadInput("Say where the cases go: -o shop.evalset.json, or look at them first with --dry-run.")
    chosen = read_patterns(patterns, common=redact_common)
    traces = read(files)
    recorded_set = record_cases(traces, set_id(out) if out is not None else "trace", chosen)
    if out is not None and not dry_run:
        create(out, recorded_set.eval_set)
    counts = {
        "spans": traces.spans,
        "traces": traces.traces,
        "conversations": len(traces.whole) + len(traces.broken),
        "cases": len(recorded_set.eval_set.eval_cases),
        "twice": recorded_set.twice,
        "left_out": len(recorded_set.broken),
        "redacted": recorded_set.redacted,
    }
    if as_json:
        output.print_json(
            {
                **counts,
                "reasons": [str(reason) for reason in recorded_set.broken],
                "sets": [_row(out or Path("-"), recorded_set.eval_set)],
            }
        )
        return
    if dry_run:
        _print_cases(recorded_set.eval_set)
    for reason in recorded_set.broken[:SHOWN_REASONS]:
        output.message(t("Left out: {reason}", reason=t(reason)))
    if len(recorded_set.broken) > SHOWN_REASONS:
        output.message(t("… and {count} more.", count=len(recorded_set.broken) - SHOWN_REASONS))
    counted = t(
        "Traces: {traces}, spans: {spans}, conversations: {conversations}. Cases: {cases}; left out: {left_out}, as repeated: {twice}; places taken out: {redacted}.",
        **{name: f"{count:,}" for name, count in counts.items()},
    )
    output.message(counted)
    if out is not None and not dry_run:
        output.message(t("Wrote {path} with {count} cases.", path=out, count=counts["cases"]))


def _add_scenarios(file: Path, source: Path, begin: SessionInput | None) -> None:
    new, added = cases.of_scenarios(read_scenarios(source), begin), 0

    def edit(eval_set: EvalSet) -> EvalSet:
        nonlocal added
        made = cases.add_missing(eval_set, new)
        added = len(made.eval_cases) - len(eval_set.eval_cases)
        return made

    _tell_copy(append(file, edit, EvalSet(eval_set_id=set_id(file), name=set_id(file), eval_cases=[])))
    output.message(
        t("Added {count} cases to {path}; {known} were there already.", count=added, path=file, known=len(new) - added)
    )


def _tell_notes(path: Path, loaded: Loaded) -> None:
    for note in loaded.notes:
        output.message(t("{path}: {note}", path=path, note=note))


def _tell_copy(copy: Path | None) -> None:
    if copy is not None:
        output.message(t("The file had an older shape; what it was is in {copy}.", copy=copy))


def _case_of_options(
    case_id: str | None, source: Path | None, ask: str | None, answer: str | None, calls: Sequence[str]
) -> EvalCase:
    if source is not None:
        case = read_case(source)
        return replace(case, eval_id=case_id) if case_id else case
    if not case_id or ask is None:
        raise BadInput("Give either --from FILE, or the id of the case and --ask TEXT.")
    return cases.new_case(case_id, ask, answer, [_call(text) for text in calls] if calls else None)


def _edit_case(
    case: EvalCase, source: Path | None, ask: str | None, answer: str | None, calls: Sequence[str]
) -> EvalCase:
    if source is not None:
        return read_case(source)
    if ask is not None or answer is not None or calls:
        return cases.change_first_turn(case, ask, answer, [_call(text) for text in calls] if calls else None)
    text = click.edit(as_text(case), extension=".json")
    return case if text is None else case_of(text)


def _call(text: str) -> tuple[str, dict[str, object]]:
    """Split `name={"x": 1}` into a name and its arguments."""

    name, equals, arguments = text.partition("=")
    try:
        value = json.loads(arguments) if equals else {}
    except ValueError:
        value = None
    if not name or not isinstance(value, dict):
        raise BadInput("--call takes NAME or NAME=JSON, not '{text}'.", text=text)
    return name, value


def _row(path: Path, eval_set: EvalSet) -> dict[str, object]:
    return {
        "file": str(path),
        "eval_set_id": eval_set.eval_set_id,
        "cases": [_cells(case) for case in eval_set.eval_cases],
    }


def _cells(case: EvalCase) -> dict[str, object]:
    turns = case.conversation or []
    asked = case.conversation_scenario.starting_prompt if case.conversation_scenario else ""
    data = [turn.intermediate_data for turn in turns]
    return {
        "id": case.eval_id,
        "turns": len(turns),
        "calls": sum(len(item.calls()) for item in data if item is not None),
        "question": " ".join(texts(turns[0].user_content)) if turns else asked,
    }


def _print_cases(eval_set: EvalSet) -> None:
    titles = (one_line(eval_set.eval_set_id, SHOWN_CHARACTERS), t("Turns"), t("Calls"), t("Question"))
    rows = (
        [one_line(str(row[key]), SHOWN_CHARACTERS) for key in ("id", "turns", "calls", "question")]
        for row in map(_cells, eval_set.eval_cases)
    )
    output.print_table(titles, rows, right=(1, 2))
