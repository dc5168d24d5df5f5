"""Results as gauges, pushed to a gateway through the official client library, or written to a file."""

import ast
from pathlib import Path

import pytest

pytest.importorskip("prometheus_client", reason="needs the extra 'prometheus'")

from prometheus_client.parser import text_string_to_metric_families
from pushgateway import PushGateway

from proctor import Sample, Task, evaluate
from proctor.core.errors import BadInput
from proctor_adapters.evalsets.outcomes import outcomes
from proctor_adapters.exports import prometheus
from proctor_adapters.exports.prometheus import Figures, Gateway, figures_of, from_environment, push

FIGURES = Figures(
    test_name="nightly",
    total=3,
    passed=2,
    failed=1,
    cases=[{"id": "0", "input": 'a "quoted"\nline \\', "status": "PASSED"}],
    models={"tested_model": "m", "judge_model": "j"},
)


def test_every_gauge_is_pushed_under_the_job_and_the_name_of_the_test() -> None:
    with PushGateway() as gateway:
        push(FIGURES, Gateway(url=gateway.url))
        assert list(gateway.groups) == ["/metrics/job/veadk_eval_job/test_name/nightly"]
        for name, value in (
            ("test_cases_total", 3),
            ("test_cases_success", 2),
            ("test_cases_pass", 2),
            ("test_cases_failure", 1),
            ("threshold", 0.5),
            ("diff_threshold", 0.2),
        ):
            assert gateway.value(name) == value, name
        assert [ast.literal_eval(one) for one in gateway.labels("test_cases_data", "data")] == list(FIGURES.cases)
        assert [ast.literal_eval(one) for one in gateway.labels("eval_data", "data")] == [FIGURES.models]


def test_nothing_of_an_earlier_push_is_left_in_the_next() -> None:
    with PushGateway() as gateway:
        push(FIGURES, Gateway(url=gateway.url))
        other = Figures(test_name="nightly", total=1, passed=1, failed=0, cases=[{"id": "9"}])
        push(other, Gateway(url=gateway.url))
        assert gateway.labels("test_cases_data", "data") == ["{'id': '9'}"]


def test_a_name_with_a_slash_is_one_label() -> None:
    with PushGateway() as gateway:
        push(Figures(test_name="a/b c", total=0, passed=0, failed=0), Gateway(url=gateway.url))
        assert len(gateway.groups) == 1
        assert gateway.value("test_cases_total") == 0


def test_the_gateway_is_told_user_and_password_of_the_environment() -> None:
    with PushGateway(username="u", password="p:ü") as gateway:
        variables = {
            "OBSERVABILITY_PROMETHEUS_PUSHGATEWAY_URL": gateway.url,
            "OBSERVABILITY_PROMETHEUS_USERNAME": "u",
            "OBSERVABILITY_PROMETHEUS_PASSWORD": "p:ü",
        }
        push(FIGURES, from_environment(variables))
        assert gateway.value("test_cases_total") == 3


@pytest.mark.parametrize(("username", "password"), [("", ""), ("u", "wrong-secret")])
def test_a_refused_push_is_an_error_without_the_password(username: str, password: str) -> None:
    with (
        PushGateway(username="u", password="p") as gateway,
        pytest.raises(BadInput, match="could not be pushed") as caught,
    ):
        push(FIGURES, Gateway(url=gateway.url, username=username, password=password))
    assert "401" in str(caught.value)
    assert "wrong-secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://user:secret@127.0.0.1:9", "127.0.0.1:9", "ftp://x", "http://[", "::"])
def test_an_address_that_leads_nowhere_is_an_error(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        push(FIGURES, Gateway(url=url))
    assert "secret" not in str(caught.value)


def test_without_an_address_in_the_environment_it_is_said_which_variable_is_missing() -> None:
    with pytest.raises(BadInput, match="OBSERVABILITY_PROMETHEUS_PUSHGATEWAY_URL"):
        from_environment({})


def test_the_cases_of_a_run_become_figures_and_a_file(tmp_path: Path) -> None:
    task = Task(name="t", samples=[Sample.ask(one, one, target=one) for one in "ab"], scorers=["exact"])
    run = evaluate(task, agent=lambda question: "a", store=":memory:")
    figures = figures_of("x", list(outcomes(run.record, run.store)), {})
    assert (figures.total, figures.passed, figures.failed) == (2, 1, 1)
    assert [(one["id"], one["status"], one["score"], one["expected_output"]) for one in figures.cases] == [
        ("a", "PASSED", "1.0", "a"),
        ("b", "FAILURE", "0.0", "b"),
    ]
    [path] = prometheus.write(run.record, run.store, tmp_path / "run.prom")
    families = {one.name: one for one in text_string_to_metric_families(path.read_text(encoding="utf-8"))}
    assert families["test_cases_failure"].samples[0].value == 1
