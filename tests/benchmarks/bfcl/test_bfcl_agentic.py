"""Memory: written in conversations, asked for in questions; what a run plays, counts, writes and reads."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents.openai import ChatAgent
from proctor.core.errors import BadInput, MissingExtra, ProviderFailed
from proctor.core.sample import Message, Sample, Text, Tool
from proctor.core.trajectory import Step
from proctor_benchmarks import bfcl
from proctor_benchmarks.bfcl import agentic, dataset, environment, replies
from proctor_benchmarks.bfcl.agentic_checker import check_answer

FINANCE = tuple(f"memory_kv_{number}-finance-{number - 55}" for number in (55, 60))


class Writer:
    """A model that writes the last word of what it is told into its core memory once, and answers what it sees there."""

    name = "writer"
    concurrency = 8

    def __init__(self, fails_at: str = "") -> None:
        self.asked: list[Sequence[Message]] = []
        self._fails_at = fails_at

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), *, response_format: object = None
    ) -> Step:
        self.asked.append(list(messages))
        system, last = messages[0].text, messages[-1].text
        if self._fails_at and self._fails_at in last:
            raise ProviderFailed("The endpoint is down.")
        if "'role': 'tool'" in last or "respond in this format" in system:
            text = system.partition("previous interactions:")[2][:400] or "Noted."
        else:
            number = sum(message.role == "user" for message in messages)
            key = "".join(filter(str.isalpha, last.lower()))[:20] or "x"
            text = f"[core_memory_add(key='{key}', value={last[:40]!r})]" if number == 1 else "Noted."
        return Step(message=Message(role="assistant", parts=(Text(text=text),)))


def samples_of(category: str) -> list[Sample]:
    made = bfcl.task(category).samples
    assert isinstance(made, list)
    return made


@pytest.mark.parametrize("category", dataset.MEMORY)
def test_questions_follow_the_last_conversation_of_their_scenario(category: str) -> None:
    samples = {sample.id: sample for sample in samples_of(category)}
    written = [sample for sample in samples.values() if "preparation" in sample.tags]
    assert Counter(map(len, (written, samples))) == Counter([37, 192])
    assert {sample.cluster for sample in samples.values()} == {f"memory_{name}" for name in agentic_scenarios()}
    question = samples[f"{category}_55-finance-0"]
    chain = []
    while question.known.after:
        question = samples[question.known.after]
        chain.append(question.id.rpartition("-")[2])
    assert chain == ["6", "5", "4", "3", "2", "1", "0"]


def agentic_scenarios() -> tuple[str, ...]:
    from proctor_benchmarks.bfcl.dataset_agentic import SCENARIOS

    return SCENARIOS


def test_the_collections_hold_what_upstream_says() -> None:
    assert dataset.expand(["agentic"]) == list(dataset.AGENTIC)
    assert sum(dataset.CATEGORIES[name].size for name in dataset.expand(["all_scoring"])) == 5106
    assert len(dataset.expand(["all"])) == 23


def test_right_answers_are_right_and_write_phases_earn_nothing(tmp_path: Path) -> None:
    run = proctor.evaluate("bfcl/memory_rec_sum", agent="baseline:oracle", limit=20, store=str(tmp_path / "a.db"))
    estimate = run.estimate("accuracy")
    assert (estimate.value, estimate.scored, estimate.planned) == (1, 20, 20)
    assert run.outcomes["scored"] > 20


def test_what_is_written_is_in_the_system_message_of_the_next_conversation_and_of_the_question(tmp_path: Path) -> None:
    model = Writer()
    run = proctor.evaluate(
        bfcl.task("memory_kv", mode="prompt"), agent=ChatAgent(model), ids=FINANCE, store=str(tmp_path / "a.db")
    )
    assert run.outcomes == {"scored": 9}
    assert run.estimate("accuracy").planned == 2
    trials = {trial.sample_id: trial for trial in run.trials()}
    last = trials["memory_kv_prereq_21-finance-6"].trajectory.state
    assert last is not None
    memory = last["MemoryAPI_kv"]["core_memory"]
    assert len(memory) == 7
    assert trials[FINANCE[0]].trajectory.answer.strip() in json.dumps(memory, indent=4)
    begun = [asked for asked in model.asked if sum(message.role == "user" for message in asked) == 1]
    assert sum("There is no content in the core memory at this point." in asked[0].text for asked in begun) == 1


def test_a_write_phase_that_failed_makes_its_questions_failures_of_the_environment(tmp_path: Path) -> None:
    task, store = bfcl.task("memory_kv", mode="prompt"), str(tmp_path / "a.db")
    [third] = [sample for sample in samples_of("memory_kv") if sample.id == "memory_kv_prereq_17-finance-2"]
    broken = Writer(fails_at=third.question[:30] or third.turns[0].messages[0].text[:30])
    run = proctor.evaluate(task, agent=ChatAgent(broken), ids=FINANCE, store=store, run_id="r", max_failed=1)
    assert run.outcomes == {"scored": 2, "provider_failed": 1, "environment_failed": 6}
    whole = Writer()
    run = proctor.evaluate(task, agent=ChatAgent(whole), ids=FINANCE, store=store, run_id="r", retry_failed=True)
    assert run.outcomes == {"scored": 9}
    assert not any(samples_of("memory_kv")[0].turns[0].messages[0].text in asked[-1].text for asked in whole.asked)


def test_results_and_snapshots_are_written_and_read_as_the_official_ones(tmp_path: Path) -> None:
    store = str(tmp_path / "a.db")
    task = bfcl.task("memory_kv", mode="prompt")
    run = proctor.evaluate(task, agent=ChatAgent(Writer()), ids=FINANCE, store=store, run_id="r")
    from proctor_benchmarks.bfcl import export

    stored = {sample.id: sample for sample in samples_of("memory_kv")}
    export.write([(stored[trial.sample_id], trial) for trial in run.trials()], tmp_path, "a/b")
    folder = tmp_path / "result" / "a_b" / "agentic" / "memory" / "kv"
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.json")) == [
        "BFCL_v4_memory_kv_prereq_result.json",
        "BFCL_v4_memory_kv_result.json",
        "memory_snapshot/finance_final.json",
        *(f"memory_snapshot/prereq_checkpoints/memory_kv_prereq_{15 + n}-finance-{n}.json" for n in range(7)),
    ]
    last = json.loads(
        (folder / "memory_snapshot" / "prereq_checkpoints" / "memory_kv_prereq_21-finance-6.json").read_bytes()
    )
    assert json.loads((folder / "memory_snapshot" / "finance_final.json").read_bytes()) == last
    assert last.keys() == {"core_memory", "archival_memory"}
    read = dict(replies.read(tmp_path / "result" / "a_b", {"category": "memory_kv"}))
    assert len(read) == 9
    again = proctor.score("bfcl/memory_kv", replies=tmp_path / "result", store=store, run_id="again")
    assert again.outcomes == {"scored": 9}
    assert again.estimate("accuracy").value == run.estimate("accuracy").value


def test_the_official_code_reads_the_snapshots_it_did_not_write(tmp_path: Path) -> None:
    """The class of the package itself, in an interpreter of its own, goes on from a snapshot that an export wrote."""
    package = dataset.locate().parents[1]
    folder = tmp_path / "agentic" / "memory" / "kv" / "memory_snapshot"
    folder.mkdir(parents=True)
    (folder / "finance_final.json").write_text(json.dumps({"core_memory": {"a": "b"}, "archival_memory": {}}))
    code = f"""
import sys; sys.path.insert(0, {str(package)!r})
from pathlib import Path
from bfcl_eval.eval_checker.multi_turn_eval.func_source_code.memory_kv import MemoryAPI_kv
memory = MemoryAPI_kv()
memory._load_scenario({{"model_result_dir": Path({str(tmp_path)!r}), "scenario": "finance", "test_id": "memory_kv_55-finance-0"}})
print(memory._dump_core_memory_to_context())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"BFCL_PROJECT_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    question = next(one for one in samples_of("memory_kv") if one.id == FINANCE[0])
    start = {"MemoryAPI_kv": {"core_memory": {"a": "b"}, "archival_memory": {}}}
    sample = Sample(
        **{
            **{key: getattr(question, key) for key in question.__struct_fields__},
            "meta": {**question.meta, "start": start},
        }
    )
    system = agentic.present(sample, dataset.locate(), "native").turns[0].messages[0].text
    assert done.stdout.strip() in system


@pytest.mark.parametrize(
    ("output", "error_type"),
    [
        ([["{'answer': '1234'}"]], None),
        ([["1234", "[f()]"]], None),
        ([["12345"]], "agentic:answer_not_found"),
        ([["1234", ""]], "agentic:no_last_message"),
        ([["[f()]"]], "agentic:no_last_message"),
        ([], "agentic:inference_error"),
        ("Error during inference: x", "agentic:inference_error"),
        ([None], "crash:TypeError"),
        ([["1,2-3/4"]], None),
    ],
)
def test_the_last_message_counts(output: Any, error_type: str | None) -> None:
    result = check_answer(output, ["1234"], "prompt")
    assert result.error_type == error_type
    assert bool(str(result.reason)) == (error_type is not None)


def test_what_an_official_class_lacks_is_said_before_a_model_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = {"rank_bm25"}
    monkeypatch.setattr(environment, "is_installed", lambda name: name not in absent)
    model = Writer()
    with pytest.raises(MissingExtra, match="bfcl"):
        proctor.evaluate(bfcl.task("memory_kv"), agent=ChatAgent(model), limit=1, store=str(tmp_path / "a.db"))
    absent = {"faiss", "sentence_transformers"}
    with pytest.raises(BadInput, match="sentence-transformers faiss-cpu"):
        proctor.evaluate(bfcl.task("memory_vector"), agent=ChatAgent(model), limit=1, store=str(tmp_path / "a.db"))
    assert not model.asked


ENCODER = """
import numpy

class SentenceTransformer:
    def __init__(self, name, device=None):
        assert name == "all-MiniLM-L6-v2"
    def get_sentence_embedding_dimension(self):
        return 26
    def encode(self, texts, normalize_embeddings):
        found = [[1 + text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        vectors = numpy.array(found, dtype=float)
        return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
"""
INDEX = """
import numpy

class IndexFlatIP:
    def __init__(self, size):
        pass

class IndexIDMap:
    def __init__(self, index):
        self.vectors = {}
    def reset(self):
        self.vectors = {}
    def add_with_ids(self, vectors, ids):
        self.vectors.update(zip(map(int, ids), vectors))
    def remove_ids(self, ids):
        for id in ids:
            del self.vectors[int(id)]
    def search(self, queries, count):
        scores = sorted(((float(queries[0] @ vector), id) for id, vector in self.vectors.items()), reverse=True)[:count]
        return numpy.array([[score for score, _ in scores]]), numpy.array([[id for _, id in scores]])
"""


class Embedding(Writer):
    """A model that adds what it is asked first to its core memory, and answers what it sees there."""

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), *, response_format: object = None
    ) -> Step:
        step = await super().complete(messages, tools)
        text = step.message.text
        if text.startswith("[core_memory_add("):
            text = f"[core_memory_add(text={messages[-1].text[:40]!r})]"
        return Step(message=Message(role="assistant", parts=(Text(text=text),)))


def test_memory_by_meaning_is_the_official_class_with_the_packages_that_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The encoder and the index are small ones of the test, in place of gigabytes; the class is the official one."""
    (tmp_path / "sentence_transformers.py").write_text(ENCODER)
    (tmp_path / "faiss.py").write_text(INDEX)
    monkeypatch.syspath_prepend(str(tmp_path))
    task = bfcl.task("memory_vector", mode="prompt")
    run = proctor.evaluate(
        task, agent=ChatAgent(Embedding()), ids=["memory_vector_55-finance-0"], store=str(tmp_path / "a.db")
    )
    assert run.outcomes == {"scored": 8}
    trials = {trial.sample_id: trial for trial in run.trials()}
    last = trials["memory_vector_prereq_21-finance-6"].trajectory.state
    assert last is not None
    assert last["MemoryAPI_vector"]["core_memory"]["next_id"] == 7
    assert '"6":' in trials["memory_vector_55-finance-0"].trajectory.answer
    (tmp_path / "faiss.py").write_text("raise OSError('no model')")
    with pytest.raises(BadInput, match="cannot be loaded: OSError: no model"):
        proctor.evaluate(task, agent=ChatAgent(Embedding()), limit=1, store=str(tmp_path / "a.db"))
