"""A run of which nothing was scored shows no number as its rate, at any entry point and in any file."""

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from web_site import AppSite

import proctor
from proctor.api.files import export as export_run
from proctor.cli import app
from proctor.core.errors import BadInput, ProviderFailed
from proctor.exports.summary import Summary, metrics
from proctor.registry import BENCHMARKS, EXPORTS
from proctor_benchmarks.multi import tables
from proctor_compat.multi.evaluator import MultiAssertionEvaluator
from proctor_compat.multi.inspecting import calculate_score
from proctor_web.failures import API

BOUNDS = re.compile(
    r"\b0(?:\.0+)?%?(?:–|-| and )100(?:\.0+)?\s?%|(?:between|from) 0(?:\.0+)?% (?:and|to) 100(?:\.0+)?%"
)
RATE = re.compile(r"(?<![\d.,])-?0(?:\.0+)?\s?%")
NAMES = re.compile(
    r"(?:^|[_./ ])(?:value|low|high|score|points|mean|share|rate|accuracy|percent|figure|difference|overall)$", re.I
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppSite]:
    """Two runs whose trials all failed at the provider, as the app shows them."""
    site = AppSite(tmp_path_factory.mktemp("nothing"))
    samples = [proctor.Sample.ask(f"s{n}", "?", target="x", tags={"level": str(n % 2)}) for n in range(3)]
    task = proctor.Task(name="t", version="1", samples=samples, scorers=["exact", "rouge"])

    def agent(_: str) -> str:
        raise ProviderFailed("The endpoint failed with status 500.", kind="http_500")

    for id in ("a", "b"):
        proctor.evaluate(task, agent=agent, store=site.store, run_id=id, attempts=2)
    yield site
    site.workspace.close()


def shown_rates(found: object, name: str = "") -> Iterator[str]:
    """Yield what reads as a rate of 0; bounds from 0 to 100 % are none, as they say that nothing is known."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield from shown_rates(value, str(key))
    elif isinstance(found, list | tuple):
        for value in found:
            yield from shown_rates(value, name)
    elif isinstance(found, str):
        yield from (f"{name}: {one[0]!r} in {found!r}" for one in RATE.finditer(BOUNDS.sub("", found)))
    elif found == 0 and isinstance(found, int | float) and not isinstance(found, bool) and NAMES.search(name):
        yield f"{name}: {found}"


def command(*words: str) -> Callable[[AppSite, Path], object]:
    def show(site: AppSite, folder: Path) -> object:
        (folder / "gate.toml").write_text('[[rule]]\nmetric = "exact"\nat_least = 0.5\n')
        given = [word.format(folder=folder) for word in words]
        result = CliRunner(env={"COLUMNS": "160"}).invoke(app, [*given, "--store", site.store])
        assert result.exit_code in (0, 2, 3), result.output
        return json.loads(result.stdout) if "--json" in words and result.exit_code != 2 else result.output

    return show


def export(
    format: str, name: str, read: Callable[[Path], object] = Path.read_text
) -> Callable[[AppSite, Path], object]:
    def show(site: AppSite, folder: Path) -> object:
        file = folder / name
        said = command("runs", "export", "a", "--format", format, "--out", str(file))(site, folder)
        return read(file) if file.exists() else said

    return show


def report(name: str) -> Callable[[AppSite, Path], object]:
    def show(site: AppSite, folder: Path) -> object:
        command("runs", "report", "a", "--out", str(folder / name))(site, folder)
        return plain((folder / name).read_text())

    return show


def page(path: str) -> Callable[[AppSite, Path], object]:
    def show(site: AppSite, _: Path) -> object:
        reply = site.program().get(path)
        assert reply.status_code == 200 or "compare" in path, reply.text
        return reply.json() if "json" in reply.headers["content-type"] else plain(reply.text)

    return show


def plain(page: str) -> str:
    return re.sub(r"(?s)<(?:style|script|svg)\b.*?</(?:style|script|svg)>|<[^>]*>", "\n", page)


def rows_of(file: Path) -> object:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(file).to_pylist()


def cells_of(file: Path) -> object:
    import openpyxl

    names, *rows = openpyxl.load_workbook(file).active.iter_rows(values_only=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def lines_of(file: Path) -> object:
    return [json.loads(line) for line in file.read_text().splitlines()]


def members_of(file: Path) -> object:
    with zipfile.ZipFile(file) as zipped:
        return {name: json.loads(zipped.read(name)) for name in zipped.namelist()}


def of_eval_sets(site: AppSite, folder: Path) -> object:
    """The result files of a run of an eval set, which is the only kind that ADK has."""
    words = {"parts": [{"text": "hi"}]}
    case = {"eval_id": "c", "conversation": [{"user_content": words, "final_response": words}]}
    file = folder / "s.evalset.json"
    file.write_text(json.dumps({"eval_set_id": "s", "eval_cases": [case]}), encoding="utf-8")

    def agent(_: str) -> str:
        raise ProviderFailed("The endpoint failed with status 500.", kind="http_500")

    run = proctor.evaluate(str(file), agent=agent, store=str(folder / "runs.db"), max_failed=1.0)
    found = [json.loads(path.read_text(encoding="utf-8")) for path in export_run(run, "adk", str(folder / "adk"))]
    return [json.loads(one) if isinstance(one, str) else one for one in found]


def tracked(site: AppSite, folder: Path) -> object:
    """What MLflow and Weights & Biases are sent."""
    run = proctor.open_run("a", store=site.store)
    summary = Summary(estimates=run.estimates, options={}, write_report=lambda path: path, model="")
    return {name: value for name, value in metrics(run.record, run.store, summary).items() if "." not in name}


SHOWN: dict[str, Callable[[AppSite, Path], object]] = {
    **{
        " ".join(words): command(*words)
        for line in (
            *("show a", "runs", "runs samples a", "trends", "compare a b"),
            *("ci gate a --policy {folder}/gate.toml", "ci delta a b"),
        )
        for words in (line.split(), [*line.split(), "--json"])
    },
    "explain": command("runs", "explain", "a", "s0"),
    "ci gate --for product": command("ci", "gate", "a", "--policy", "{folder}/gate.toml", "--for", "product"),
    "ci gate --for user": command("ci", "gate", "a", "--policy", "{folder}/gate.toml", "--for", "user"),
    "csv": export("table", "a.csv"),
    "jsonl": export("table", "a.jsonl", lines_of),
    "xlsx": export("xlsx", "a.xlsx", cells_of),
    "parquet": export("parquet", "a.parquet", rows_of),
    "junit": export("junit", "a.xml"),
    "prometheus": export("prometheus", "a.prom"),
    "otel": export("otel", "a.jsonl", lines_of),
    "model-card": export("model-card", "a.md"),
    "inspect": export("inspect", "a.eval", members_of),
    "adk": of_eval_sets,
    "tracked": tracked,
    **{f"report.{end}": report(f"r.{end}") for end in ("md", "html", "json", "xml")},
    **{
        path: page(path)
        for path in (
            *("/", "/runs/a", "/runs/a/samples", "/runs/a/samples/s0", "/compare?run=a&run=b", "/trends?task=t"),
            *("/leaderboard?task=t", "/compare/why?run=a&run=b", f"{API}/runs", f"{API}/runs/a/estimates"),
            *(
                f"{API}/runs/a/report",
                f"{API}/runs/a/samples",
                f"{API}/runs/a/facets",
                f"{API}/runs/a/sample?sample=s0",
            ),
            *(
                f"{API}/runs/a/progress",
                f"{API}/trends?task=t",
                f"{API}/leaderboard?task=t",
                f"{API}/compare?run=a&run=b",
            ),
        )
    },
}


@pytest.mark.parametrize("name", SHOWN)
def test_no_entry_point_and_no_file_shows_a_rate(name: str, site: AppSite, tmp_path: Path) -> None:
    found = SHOWN[name](site, tmp_path)
    assert found
    assert [*shown_rates(found)] == []


def test_every_format_of_the_exports_is_looked_at() -> None:
    elsewhere = {"table": "csv", "mlflow": "tracked", "wandb": "tracked"}
    assert {elsewhere.get(name, name) for name in EXPORTS.names()} <= SHOWN.keys()


@pytest.mark.parametrize(
    "found", [{"value": 0.0}, [{"exact.accuracy": 0}], "accuracy 0.0%", {"text": "0 %, 0.0–100.0%"}, "-0.0%"]
)
def test_what_is_looked_for_would_be_found(found: object) -> None:
    assert [*shown_rates(found)]


def test_prometheus_is_told_of_no_passes_without_an_evaluated_case(site: AppSite, tmp_path: Path) -> None:
    shown = str(export("prometheus", "a.prom")(site, tmp_path))
    assert "\ntest_cases_total 3.0\n" in shown
    assert not re.search("^test_cases_(?:pass|success|failure)", shown, re.M)


@pytest.mark.parametrize("name", [name for name in BENCHMARKS.names() if BENCHMARKS.find(name).export is not None])
def test_no_official_layout_is_written_of_nothing(name: str, tmp_path: Path) -> None:
    write = BENCHMARKS.find(name).export
    assert write is not None
    with pytest.raises(BadInput, match="no scored trial"):
        write([], tmp_path, "model")
    assert not any(tmp_path.rglob("*"))


@pytest.mark.parametrize("name", [name for name in BENCHMARKS.names() if BENCHMARKS.find(name).summarise is not None])
def test_no_benchmark_makes_an_official_number_of_nothing(name: str) -> None:
    summarise: Any = BENCHMARKS.find(name).summarise
    assert [one for one in summarise([], lambda: iter(())) if one.value is not None] == []


def test_multi_without_points_has_no_percentage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "score.json").write_text("{}")

    class Given:
        score_file = str(tmp_path / "score.json")

    _, _, percent = calculate_score(Given())
    assert percent != percent
    rows = MultiAssertionEvaluator().evaluate_batch({"q": "x"}, {"q": {"correct_answer": "x", "type": "unheard-of"}})
    assert rows[0]["accuracy"] != rows[0]["accuracy"]
    files = [tables.summary([]), tables.leaderboard([], "m"), tables.block([])]
    assert [*shown_rates([capsys.readouterr().out, *files])] == []
