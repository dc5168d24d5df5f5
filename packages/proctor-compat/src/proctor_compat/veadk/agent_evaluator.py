"""`AgentEvaluator` of google-adk: evaluate the agent of a module on files, and raise when a case fails.

    await AgentEvaluator.evaluate("shop", "tests/", num_runs=2)                        # in a test

Source: google/adk-python, src/google/adk/evaluation/agent_evaluator.py, release 2.7.1.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor import registry
from proctor.api import Run, evaluate_async, resolve
from proctor.core.errors import BadInput
from proctor_adapters.evalsets import cases
from proctor_adapters.evalsets.criteria import EvalCriteria, criteria_next_to, of_config
from proctor_adapters.evalsets.criteria import of as criteria_of
from proctor_adapters.evalsets.outcomes import CaseOutcome, outcomes
from proctor_adapters.evalsets.read import Loaded, read_session
from proctor_adapters.evalsets.task import EvalSetSource, task_from
from proctor_adapters.exports.case_files import append_csv
from proctor_compat.veadk import sets
from proctor_compat.veadk.adk_evaluator import failures, show

NUM_RUNS = 2


class AgentEvaluator:
    """Evaluates the agent of a module, for use in tests."""

    @staticmethod
    async def evaluate(
        agent_module: str,
        eval_dataset_file_path_or_dir: str | Path,
        num_runs: int = NUM_RUNS,
        agent_name: str | None = None,
        initial_session_file: str | Path | None = None,
        print_detailed_results: bool = True,
        artifact_service: Any = None,
        output_file: str | Path | None = None,
        app_name: str | None = None,
        eval_set_results_manager: Any = None,
        *,
        allow_code: bool = False,
    ) -> None:
        """Evaluate the cases of a file, or of all `*.test.json` in a folder and below, by the `test_config.json` next to each.

        Args:
            agent_module: a module with `root_agent`, or with a module `agent` that has it; or a path, `./agent.py`.
            agent_name: the sub-agent to evaluate instead of the root agent.
            initial_session_file: the session of cases that name none.
            output_file: a CSV file to add the results to.
            artifact_service, eval_set_results_manager: ADK's, for artifacts of the cases and for the results.
            allow_code: functions that a `test_config.json` names under `custom_metrics` may run.

        Raises:
            AssertionError: a case failed; says which.
            UnusableEvalSet: a ValueError: a file that cannot be read.
        """
        evaluation = _Evaluation(
            agent_module, num_runs, agent_name, print_detailed_results, artifact_service, output_file, app_name,
            eval_set_results_manager,
        )  # fmt: skip
        for path in sets.test_files(eval_dataset_file_path_or_dir):
            assert path is not None
            loaded = sets.loaded(None, path)
            if initial_session_file is not None:
                session = read_session(initial_session_file)
                loaded = replace(loaded, eval_set=cases.with_session(loaded.eval_set, session))
            criteria = AgentEvaluator.find_config_for_test_file(path, allow_code=allow_code)
            await evaluation.run(loaded, criteria, Path(path))

    @staticmethod
    async def evaluate_eval_set(
        agent_module: str,
        eval_set: object,
        criteria: Mapping[str, object] | None = None,
        eval_config: object = None,
        num_runs: int = NUM_RUNS,
        agent_name: str | None = None,
        print_detailed_results: bool = True,
        artifact_service: object = None,
        output_file: str | Path | None = None,
        app_name: str | None = None,
        eval_set_results_manager: object = None,
        *,
        allow_code: bool = False,
    ) -> None:
        """Evaluate the cases of a set by criteria (thresholds by metric), or by a config: ours, ADK's or plain data.

        Raises:
            AssertionError: a case failed; says which.
            ValueError: neither criteria nor config.
        """
        if not criteria and eval_config is None:
            raise ValueError("`eval_config` is required.")
        evaluation = _Evaluation(
            agent_module, num_runs, agent_name, print_detailed_results, artifact_service, output_file, app_name,
            eval_set_results_manager,
        )  # fmt: skip
        loaded = sets.loaded(eval_set, None)
        await evaluation.run(
            loaded, _criteria(criteria or eval_config, allow_code=allow_code), Path(loaded.eval_set.eval_set_id)
        )

    @staticmethod
    def find_config_for_test_file(test_file: str | Path, *, allow_code: bool = False) -> EvalCriteria:
        """Return the criteria of the `test_config.json` next to a file, or ADK's defaults without one."""
        return criteria_next_to(Path(test_file), allow_code=allow_code)

    @staticmethod
    def migrate_eval_data_to_new_schema(
        old_eval_data_file: str | Path, new_eval_data_file: str | Path, initial_session_file: str | Path | None = None
    ) -> None:
        """Write the cases of a file of any shape as a new file in the current one.

        Raises:
            ValueError: a path is empty.
            BadInput: the old file cannot be read, or the new one is there already.
        """
        from proctor_adapters.evalsets.write import create

        if not old_eval_data_file or not new_eval_data_file:
            raise ValueError("One of old_eval_data_file or new_eval_data_file is empty.")
        eval_set = sets.load_eval_set_from_file(old_eval_data_file)
        if initial_session_file:
            eval_set = cases.with_session(eval_set, read_session(initial_session_file))
        create(Path(new_eval_data_file), eval_set)


class _Evaluation(msgspec.Struct, frozen=True):
    """What both ways to evaluate are given; see `AgentEvaluator.evaluate`."""

    agent_module: str
    num_runs: int
    agent_name: str | None
    print_detailed_results: bool
    artifact_service: object
    output_file: str | Path | None
    app_name: str | None
    results_manager: object

    async def run(self, loaded: Loaded, criteria: EvalCriteria, path: Path) -> None:
        """Evaluate the cases of a set.

        Raises:
            AssertionError: a case failed.
        """
        if self.results_manager is not None and not self.app_name:
            raise ValueError("app_name is required when eval_set_results_manager is provided.")
        source = EvalSetSource(path=path, loaded=loaded, chosen=loaded.eval_set.eval_cases, criteria=criteria)
        agent = await _agent(self.agent_module, self.agent_name, self.artifact_service, self.app_name)
        run = await evaluate_async(
            task_from(path.name, [source]),
            agent=agent,
            attempts=self.num_runs,
            order="official",
            concurrency=1,
            max_failed=1.0,
            store=":memory:",
        )
        results = list(outcomes(run.record, run.store))
        failed = [case for case in results if case.status != "passed"]
        if self.print_detailed_results:
            show(failed)
        if self.output_file is not None:
            append_csv(results, Path(self.output_file))
        if self.results_manager is not None:
            _save(run, results, loaded.eval_set.eval_set_id, str(self.app_name), self.results_manager)
        if failed:
            raise AssertionError(_message(self.agent_module, failed, shown=self.print_detailed_results))


async def _agent(module: str, sub_agent: str | None, artifact_service: Any, app_name: str | None) -> Any:
    """Return the agent of a folder or module, or a sub-agent of it."""
    if _is_folder(module):
        root: Any = resolve.agent(f"adk:{module}", {"sub_agent": sub_agent} if sub_agent else {})[0]
        sub_agent = None
    else:
        root = await _root_agent(module)
    if sub_agent is not None:
        root = root.find_agent(sub_agent)
        if root is None:
            raise BadInput("'{name}' has no sub-agent '{sub}'.", name=module, sub=sub_agent)
    if artifact_service is None:
        return root
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService

    return Runner(
        app_name=app_name or "test_app",
        agent=root,
        artifact_service=artifact_service,
        session_service=InMemorySessionService(),
    )


def _is_folder(module: str) -> bool:
    """True if it is a path rather than the name of a module."""
    return not module.replace(".", "").isidentifier() and Path(module).is_dir()


async def _root_agent(module: str) -> object:
    """Return `root_agent` of the module or of its `agent`, else what `get_agent_async` returns."""
    for name in ("agent.root_agent", "root_agent"):
        with suppress(BadInput):
            return registry.load_object(f"{module}:{name}", name)
    try:
        make = registry.load_object(f"{module}:agent.get_agent_async", "")
    except BadInput:
        make = registry.load_object(f"{module}:get_agent_async", "")  # its error says what the module has
    agent = await make()
    return agent[0] if isinstance(agent, tuple) else agent


def _save(run: Run, cases: Sequence[CaseOutcome], set_id: str, app_name: str, manager: Any) -> None:
    """Hand the results to a manager of ADK as its own objects."""
    from google.adk.evaluation.eval_result import EvalCaseResult

    from proctor_adapters.evalsets.results import case_result

    by_id = {case.id: case for case in cases}
    pairs = ((run.store.sample(run.id, trial.sample_id), trial) for trial in run.trials())
    results = [case_result(sample, trial, by_id[sample.id]) for sample, trial in pairs if sample is not None]
    manager.save_eval_set_result(app_name, set_id, [EvalCaseResult.model_validate(result) for result in results])


def _message(module: str, failed: Sequence[CaseOutcome], *, shown: bool) -> str:
    lines = ["Following are all the test failures."]
    if not shown:
        lines.append("Run again with print_detailed_results=True to see more of them.")
    return "\n".join([*lines, *(line for case in failed for line in failures(case, module))])


def _criteria(given: object, *, allow_code: bool) -> EvalCriteria:
    """Return criteria, given as such, as ADK's EvalConfig or as plain data."""
    if isinstance(given, EvalCriteria):
        return given
    value = sets.plain(given)
    if isinstance(value, dict) and "criteria" in value:
        return of_config(value, allow_code=allow_code)
    return criteria_of(value)
