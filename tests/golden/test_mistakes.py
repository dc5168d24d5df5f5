"""What users get wrong, and what they are told: a list to read, in both languages.

Each line is a command as typed, its exit code, and what came on standard error. After a change of wording, rewrite the
list with `pytest tests/golden --rewrite-golden` and read the difference: what happened, why, what to do.
"""

import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli import app

TYPED = """
proctor nope
proctor rnu
proctor run
proctor run questions.jsonl
proctor run questions.jsonl --agent
proctor run questions.jsonl --agent ./agent.py:answer extra
proctor run questions.jsonl --agent ./agent.py:answer --limt 3
proctor run questions.jsonl --agent ./agent.py:answer --limit two
proctor run questions.jsonl --agent ./agent.py:answer --limit 0
proctor run questions.jsonl --agent ./agent.py:answer --attempts 0
proctor run questions.jsonl --agent ./agent.py:answer --concurrency 0
proctor run questions.jsonl --agent ./agent.py:answer --workers -1
proctor run questions.jsonl --agent ./agent.py:answer --time-limit -1
proctor run questions.jsonl --agent ./agent.py:answer --max-failed 2
proctor run questions.jsonl --agent ./agent.py:answer --seed 99999999999999999999
proctor run questions.jsonl --agent ./agent.py:answer --budget euros=5
proctor run questions.jsonl --agent ./agent.py:answer --budget tokens=0
proctor run questions.jsonl --agent ./agent.py:answer --budget tokens=many
proctor run questions.jsonl --agent ./agent.py:answer --budget tokens
proctor run questions.jsonl --agent ./agent.py:answer --budget money=5
proctor run questions.jsonl --agent ./agent.py:answer --id frr
proctor run questions.jsonl --agent ./agent.py:answer --tag level=1
proctor run questions.jsonl --agent ./agent.py:answer --set level=1
proctor run questions.jsonl --agent ./agent.py:answer --set level
proctor run questions.jsonl --agent ./agent.py:answer --agent-set temperature=0
proctor run questions.jsonl --agent ./agent.py:answer --scorer exat
proctor run questions.jsonl --agent ./agent.py:answer --scorer exact:containing
proctor run questions.jsonl --agent ./agent.py:answer --scorer ./scorers.py:gone
proctor run questions.jsonl --agent ./agent.py:answer --scorer rubric:nope
proctor run questions.jsonl --agent ./agent.py:answer --judge openai:x
proctor run questions.jsonl --agent ./agent.py:answer --map question=nothing
proctor run questions.jsonl --agent ./agent.py:answer --run ../x
proctor run questions.jsonl --agent ./agent.py:answer --min accuracy
proctor run questions.jsonl --agent ./agent.py:answer --min accuracy=high
proctor run questions.jsonl --agent ./agent.py:answer --min f1=0.5 --run r1
proctor run questions.jsonl --agent ./agent.py:anser
proctor run questions.jsonl --agent ./agent.py
proctor run questions.jsonl --agent agent.py
proctor run questions.jsonl --agent ./gone.py:answer
proctor run questions.jsonl --agent ./broken.py:answer
proctor run questions.jsonl --agent ./agent.py:NUMBER
proctor run questions.jsonl --agent ./agent.py:three
proctor run questions.jsonl --agent gone.module:answer
proctor run questions.jsonl --agent gpt-4o
proctor run questions.jsonl --agent openia:gpt-4o
proctor run questions.jsonl --agent openai
proctor run questions.jsonl --agent baseline:nul
proctor run questions.jsonl --agent openai:x --agent-set temperature=hot
proctor run questions.jsonl --agent openai:x --agent-set temprature=0
proctor run questions.jsonl --agent openai:x --agent-set reasoning_effort=hihg
proctor run questions.jsonl --agent anthropic:
proctor run questions.jsonl --agent gemini:x --batch
proctor run questions.jsonl --agent ./agent.py:answer --batch
proctor run questions.jsonl --agent ./agent.py:answer --shard 4/3 --run r9
proctor run questions.jsonl --agent ./agent.py:answer --shard 1/2
proctor run questions.jsonl --agent ./agent.py:answer --on raay
proctor run questions.jsonl --agent ./agent.py:answer --trace-to nonsense
proctor run questions.jsonl --agent openai:x --agent-set api_key=sk-0123456789abcdefghij
proctor run questions.jsonl --agent ./agent.py:raising --run r2
proctor run questions.jsonl --agent ./agent.py:none --run r3
proctor run questions.jsonl --agent ./agent.py:number --run r4
proctor run questions.jsonl --agent ./agent.py:other --run r5
proctor run questions.jsonl --agent ./agent.py:answer --scorer ./scorers.py:broken --run r6
proctor run ./agent.py --agent ./agent.py:answer
proctor run ./agent.py:answer --agent ./agent.py:answer
proctor run bfc --agent ./agent.py:answer
proctor run exact --agent ./agent.py:answer
proctor run gone.jsonl --agent ./agent.py:answer
proctor run empty.jsonl --agent ./agent.py:answer
proctor run torn.jsonl --agent ./agent.py:answer
proctor run twice.jsonl --agent ./agent.py:answer
proctor run header.csv --agent ./agent.py:answer
proctor run ragged.csv --agent ./agent.py:answer
proctor run odd.csv --agent ./agent.py:answer
proctor run bfcl/simple --agent ./agent.py:answer
proctor run questions.jsonl --agent ./agent.py:answer --run r0 --seed 4
proctor run questions.jsonl --agent baseline:null --run r0
proctor run bfcl --agent ./agent.py:answer --run r0
proctor run --run nope
proctor run --run r00
proctor score
proctor score questions.jsonl
proctor score questions.jsonl --replies gone.jsonl
proctor score questions.jsonl --replies stranger.jsonl
proctor score --run nope --scorer exact
proctor score --run r0 --scorer exat
proctor show
proctor show nope
proctor show r0 --min accuracy=0.5=
proctor runs explain r0
proctor runs explain r0 frr
proctor runs explain r0 fr --attempt 3
proctor compare r0
proctor compare r0 nope
proctor compare r0 r0 --fail-if-worse two
proctor compare r0 r0 --out page.docx
proctor runs report nope
proctor runs report r0 --out page.docx
proctor runs export r0 --format excl
proctor runs delete r0
proctor runs delete nope
proctor runs copy r0
proctor runs copy r0 --store gone.db --to x.db
proctor runs --store gone.db
proctor runs merge gone.db --into x.db
proctor runs import gone.eval
proctor runs import .
proctor runs import empty.jsonl
proctor runs import questions.jsonl
proctor runs import questions.jsonl --format lm-evl
proctor runs import questions.jsonl --scale f1=1
proctor ci gate r0 -o page.docx
proctor ci race questions.jsonl --agent ./agent.py:answer --agent baseline:null -o page.docx
proctor ci comment gone.md
proctor completion bsh
proctor list agent
proctor data pull nope
proctor data models pull nope
proctor init gaia
proctor init cii
proctor init environment
proctor data parity nope corpus.jsonl
proctor show r0 --store gone.db
proctor --lang fr list
proctor init traces
proctor init framework
proctor init endpoint
proctor init shop
proctor demo --out page.docx
proctor run openai:gpt-4 --agent ./agent.py:answer
proctor run questions.jsonl --agent ./agent.py:answer --min acuracy=0.5
proctor run questions.jsonl --agent ./agent.py:answer --min accuracy=80
proctor run questions.jsn --agent ./agent.py:answer
proctor run own.csv --agent ./agent.py:answer
proctor run questions.jsonl ./agent.py:answer
proctor run ./agent.py:answer questions.jsonl
proctor run questions.jsonl --agent ./agent.py:answer one two
proctor run --task questions.jsonl --agent ./agent.py:answer
proctor run questions.jsonl --model gpt-4o
proctor run questions.jsonl --agent ./agent.py:answer -n 5
proctor run questions.jsonl --agent ./agent.py:answer --temperature 0
proctor run questions.jsonl --agent ./agent.py:answer --output x.html
proctor run questions.jsonl --agent ./agent.py:answer --scorers exact
proctor run questions.jsonl --agent raising
proctor run questions.jsonl --agent agent.answer
proctor run questions.jsonl --agent './agent.py answer'
proctor run questions.jsonl --agent ./agent.py::answer
proctor run questions.jsonl --agent ./Agent.py:answer
proctor run questions.jsonl --agent claude-sonnet-4
proctor run questions.jsonl --agent openai/gpt-4o
proctor run questions.jsonl --agent openai:gpt-4o --run n1
proctor run questions.jsonl --agent anthropic:claude-sonnet-4 --base-url http://127.0.0.1:9 --run n2
proctor run questions.jsonl --agent ollama:llama3 --run n3
proctor run questions.jsonl --agent http://127.0.0.1:9/ --run n4
proctor run questions.jsonl --agent http:localhost:9
proctor run questions.jsonl --agent openai:x --base-url localhost:8000/v1
proctor run questions.jsonl --agent process:./gone
proctor run questions.jsonl --agent local:gpt2
proctor run questions.jsonl --agent local:./gone.gguf
proctor run questions.jsonl --agent ./keyed.py:answer
proctor run questions.jsonl --agent ./tabs.py:answer
proctor run questions.jsonl --agent ./main.py:answer
proctor run questions.jsonl --agent ./nb.ipynb:answer
proctor run nb.ipynb --agent ./agent.py:answer
proctor run windows.csv --agent ./agent.py:answer
proctor run notes.pdf --agent ./agent.py:answer
proctor run old.xls --agent ./agent.py:answer
proctor run one.json --agent ./agent.py:answer
proctor run single.jsonl --agent ./agent.py:answer
proctor run . --agent ./agent.py:answer
proctor run https://example.invalid/q.jsonl --agent ./agent.py:answer
proctor run hf:openai/gsm8k --agent ./agent.py:answer
proctor evaluate questions.jsonl
proctor serve
proctor results
proctor start
proctor report r0
proctor runs show r0
proctor eval questions.jsonl
proctor web --prt 3
proctor runs export r0 --format csv
proctor ci gate r0
proctor ci trends gone.parquet
"""
FILES = {
    "questions.jsonl": '{"id": "fr", "question": "France?", "target": "Paris"}\n{"id": "no", "question": "Norway?", "target": "Oslo"}\n',
    "empty.jsonl": "",
    "torn.jsonl": '{"id": "fr", "question": "France?"\n',
    "twice.jsonl": '{"id": "a", "question": "x", "target": "y"}\n' * 2,
    "header.csv": "question,target\n",
    "ragged.csv": "question,target\na,b,c,d\n",
    "odd.csv": "foo,bar\n1,2\n",
    "stranger.jsonl": '{"id": "stranger", "answer": "x"}\n',
    "own.csv": "Customer message,Best reply\nhi,hello\n",
    "one.json": '{"question": "France?", "target": "Paris"}',
    "single.jsonl": "{'question': 'France?', 'target': 'Paris'}\n",
    "nb.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "notes.pdf": "%PDF",
    "old.xls": "x",
    "keyed.py": "import os\n\nKEY = os.environ['MY_KEY']\n",
    "tabs.py": "def answer(q):\n\treturn 'x'\n        return 'y'\n",
    "main.py": "import sys\n\nsys.exit(3)\n",
    "agent.py": (
        "NUMBER = 7\n\ndef answer(question):\n    return 'Paris'\n\n"
        "def three(a, b, c):\n    return a\n\n"
        "def raising(question):\n    raise KeyError('city')\n\n"
        "def none(question):\n    return None\n\n"
        "def number(question):\n    return 7\n\n"
        "def other(question):\n    return {'reply': 'Paris'}\n"
    ),
    "broken.py": "import nothing_of_this_name\n",
    "scorers.py": "def broken(sample, trajectory):\n    return sample.meta['gone']\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", "runs.db")
    for name in ("OPENAI_BASE_URL", "OLLAMA_HOST", "VLLM_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")  # where nobody listens
    for name in ("OPENAI_API_KEY", "LLM_API_KEY", "LLM_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "windows.csv").write_bytes("question,target\r\nNorvège ?,Oslo\r\n".encode("cp1252"))
    made = CliRunner().invoke(app, ["run", "questions.jsonl", "--agent", "./agent.py:answer", "--run", "r0", "--quiet"])
    assert made.exit_code == 0, made.output
    return tmp_path


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_said_of_a_mistake(lang: str, folder: Path, golden: object) -> None:
    told: list[str] = []
    wrong: list[str] = []
    for typed in TYPED.split("\n"):
        words = shlex.split(typed)[1:]
        if words:
            quiet = ["--quiet"] if words[0] in ("run", "score") else []
            result = CliRunner().invoke(
                app,
                prog_name="proctor",
                args=["--lang", lang, words[0], *quiet, *words[1:]] if words[0] != "--lang" else words,
            )
            wrong += [typed] if result.exit_code not in (1, 2, 3) else []
            assert "Traceback" not in result.stderr
            said = result.stderr.replace(str(folder), "FOLDER").rstrip()
            told.append(
                "\n".join([f"$ {typed}", *(f"    {line}" for line in said.splitlines()), f"    [{result.exit_code}]"])
            )
    assert not wrong
    assert len(told) >= 160
    golden(f"mistakes.{lang}.txt", "\n".join(told) + "\n")  # type: ignore[operator]  # the fixture of conftest
