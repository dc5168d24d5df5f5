"""`BFCLEvaluator`: ask an agent the questions, and judge its calls by the official rule.

The agent is asked as the original asks it, with the functions in the text and calls wanted as JSON; every form of the
chapter is read. The verdict is that of the official checker (`benchmarks/bfcl`).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.core.declared import scorer
from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject, Message, Sample, Turn
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.bfcl import tools
from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.declared_types import TYPES, language_of
from proctor_benchmarks.bfcl.replies import FAILED
from proctor_benchmarks.bfcl.scorer import bfcl
from proctor_benchmarks.bfcl.written_calls import as_python, calls_in, expected, said_in, trajectory_of
from proctor_compat.hello_agents._playing import PlayedSample, QuestionEvaluator, name_of, play, write_lines
from proctor_compat.hello_agents._words import percent, tell
from proctor_compat.hello_agents.bfcl_dataset import CATEGORIES, BFCLDataset, category_of
from proctor_compat.hello_agents.bfcl_metrics import BFCLMetrics

RULE = "bfcl-eval 2026.3.23"
PROMPT = """Use the functions below to answer the request.

Functions:
{functions}

Request:
{question}

Reply with a JSON array of the calls and nothing else, or with [] if no function fits:
[{{"name": "function_name", "arguments": {{"parameter": "value"}}}}]"""
PYTHON_TYPES = {"object": "dict", "number": "float", "int": "integer", "bool": "boolean", "list": "array"}


class BFCLEvaluator(QuestionEvaluator):
    """Asks an agent the questions of BFCL; see `evaluate`.

    Args:
        dataset: the questions; if None those of `category` in `local_data_dir`.
        evaluation_mode: `ast`. `execution` is accepted, as nothing can be executed it is `ast` too, and reported as that.
    """

    def __init__(
        self,
        dataset: BFCLDataset | None = None,
        category: str | None = None,
        evaluation_mode: str = "ast",
        local_data_dir: str | Path | None = None,
        *,
        concurrency: int = 1,
    ) -> None:
        if evaluation_mode not in ("ast", "execution"):
            raise BadInput("evaluation_mode is 'ast' or 'execution', not '{mode}'.", mode=evaluation_mode)
        self.dataset = dataset if dataset is not None else BFCLDataset(local_data_dir, category)
        self.category = category_of(category) if category else self.dataset.category
        if evaluation_mode == "execution":
            tell(say("⚠️ BFCL v4 brings no functions to execute: calls are compared (ast), and the results say so."))
        self.evaluation_mode = "ast"
        self.concurrency = concurrency

    def export_to_bfcl_format(
        self, results: JsonObject, output_path: str | Path, include_inference_log: bool = True
    ) -> Path:
        """Write official result lines, which `bfcl evaluate` reads: `id`, `result` in text form, and the messages."""
        rows = results.get("detailed_results", ())
        path = write_lines(output_path, (_line(row, include_inference_log) for row in rows))
        tell(say("✅ Results in the official form: {path}", path=path))
        return path

    def _evaluate_items(self, agent: Any, items: Sequence[JsonObject]) -> dict[str, object]:
        samples = [sample_of(item, self._category(item)) for item in items]
        task = Task(name=f"bfcl/{self._category(items[0])}", version=RULE, samples=samples, scorers=(hello_bfcl,))
        run, played = play(task, agent, concurrency=self.concurrency)
        rows = [_row(sample, played_sample) for sample, played_sample in zip(samples, played, strict=True)]
        metrics = BFCLMetrics().compute_metrics(rows)
        accuracy = next(
            (estimate for estimate in run.estimates if estimate.name == "accuracy" and not estimate.slice), None
        )
        tell(say("📊 Accuracy: {accuracy}", accuracy=percent(metrics["accuracy"])))
        return {
            "benchmark": "BFCL",
            "agent_name": name_of(agent),
            "evaluation_mode": self.evaluation_mode,
            "category": self.category or self._category(items[0]),
            "total_samples": metrics["total_samples"],
            "correct_samples": metrics["success_count"],
            "overall_accuracy": metrics["accuracy"],
            "category_metrics": metrics["category_metrics"],
            "detailed_results": rows,
            "metrics": metrics,
            "accuracy_interval": [accuracy.low, accuracy.high] if accuracy is not None else None,
            "failed_samples": sum(row["success"] is None for row in rows),
            "scorer": RULE,
            "run_id": run.id,
        }

    def _category(self, item: JsonObject) -> str:
        """Return the category of a question: of the evaluator, else as its id says, else by its functions and answers."""
        if self.category:
            return self.category
        named = str(item.get("category") or str(item.get("id", "")).rpartition("_")[0])
        if named in CATEGORIES:
            return named
        truth = item.get("ground_truth")
        if isinstance(truth, list) and len(truth) > 1:
            return "parallel_multiple"
        if truth in (None, []):
            return "irrelevance"
        return "multiple" if len(item.get("function") or ()) > 1 else "simple_python"


@scorer(version=f"{RULE} / 2")
def hello_bfcl(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Return the official verdict on the calls in the last answer."""
    return bfcl(sample, _as_read(sample, trajectory.answer))


def _as_read(sample: Sample, reply: str) -> Trajectory:
    return trajectory_of(reply, sample.meta["functions"], language_of(sample.meta["category"]))


def sample_of(item: JsonObject, category: str) -> Sample:
    """Return a question as a sample; types and answers in the words of the chapter become those of version 4.

    Raises:
        BadInput: an answer that cannot be read.
    """
    question = question_of(item)
    functions = [_document(function) for function in item.get("function") or ()]
    truth = item.get("ground_truth")
    try:
        answers = None if "relevance" in category else expected(truth or [])
    except (Undecodable, TypeError, ValueError) as error:
        raise BadInput("The answer of '{id}' cannot be read: {error}.", id=item.get("id"), error=error) from None
    if answers == []:
        raise BadInput("The question '{id}' of {category} has no answer.", id=item.get("id"), category=category)
    return Sample(
        id=str(item.get("id") or "sample"),
        turns=(Turn(messages=(Message.of("user", prompt_of(question, functions, category)),), reference=answers),),
        target=answers,
        tags={"category": category},
        meta={
            "category": category,
            "functions": functions,
            "names": "dotted",
            "question": question,
            "ground_truth": [] if truth is None else truth,
        },
    )


def question_of(item: JsonObject) -> str:
    """Return the text of a question, plain or as nested messages."""
    question = item.get("question", "")
    if isinstance(question, str):
        return question
    messages = question[0] if question and isinstance(question[0], list) else question
    if len(messages) == 1:
        return str(messages[0]["content"])
    return "\n\n".join(f"{message['role']}: {message['content']}" for message in messages)


def prompt_of(question: str, functions: Sequence[Mapping[str, object]], category: str) -> str:
    """Return what the agent is asked: the functions, the question, and the form of the reply; without functions the question."""
    if not functions:
        return question
    shown = tools.add_hints([dict(function) for function in functions], category)
    lines = "\n".join(json.dumps(function, ensure_ascii=False) for function in shown)
    return PROMPT.format(functions=lines, question=question)


def _document(function: JsonObject) -> dict[str, object]:
    """Return a function document as the official checker reads it."""
    parameters = function.get("parameters") or {}
    properties = {name: _schema(schema) for name, schema in (parameters.get("properties") or {}).items()}
    filled = {**parameters, "properties": properties, "required": parameters.get("required") or []}
    return {**function, "description": function.get("description") or "", "parameters": filled}


def _schema(schema: JsonObject) -> dict[str, object]:
    known = {name for language in TYPES.values() for name in language}
    kind = schema.get("type", "any")
    converted = {**schema, "type": kind if kind in known else PYTHON_TYPES.get(kind, "any")}
    if isinstance(schema.get("items"), Mapping):
        converted["items"] = _schema(schema["items"])
    elif converted["type"] in ("array", "tuple"):
        converted["items"] = {"type": "any"}
    converted.setdefault("description", "")
    return converted


def _row(sample: Sample, played: PlayedSample) -> dict[str, object]:
    trial, score = played.trial, played.scores.get(hello_bfcl.__name__)
    reply = trial.trajectory.answer
    row: dict[str, Any] = {
        "sample_id": sample.id,
        "category": sample.meta["category"],
        "question": sample.meta["question"],
        "expected": sample.meta["ground_truth"],
        "response": reply,
        "execution_time": trial.seconds,
        "success": None,
        "score": None,
        "predicted": None,
    }
    if score is None:
        failed = {"error": played.error or trial.outcome}
        return row | failed | ({"success": False, "score": 0.0} if played.counts else {})
    names = [function["name"] for function in sample.meta["functions"]]
    details = {
        key: score.details[key]
        for key in ("error_type", "parameter_accuracy", "precision", "recall", "f1")
        if key in score.details
    }
    return row | {
        "success": score.value == 1,
        "score": score.value,
        "predicted": calls_in(reply, names).calls or [],
        "reason": str(score.reason),
        **({} if language_of(row["category"]) == "python" else {"result": _as_read(sample, reply).answer}),
        **details,
    }


def _line(row: JsonObject, with_log: bool) -> dict[str, object]:
    reply = row.get("response") or ""
    result = f"{FAILED} {row['error']}" if "error" in row else said_in(reply)
    if row.get("result") is not None:
        result = row["result"]
    elif row.get("predicted") and language_of(row["category"]) == "python":
        result = as_python(row["predicted"])
    line: dict[str, object] = {"id": row["sample_id"], "result": result}
    if with_log:
        asked = {"role": "user", "content": row.get("question", "")}
        line["inference_log"] = [asked, {"role": "assistant", "content": reply}]
    return line
