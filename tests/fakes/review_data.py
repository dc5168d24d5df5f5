"""Generated problems to review, and scores to give them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCORES = {"correctness": 5, "clarity": 4, "difficulty_match": 4, "completeness": 5}
HOSTILE = """<script>document.title = 'owned'</script> <img src=x onerror="document.title='owned'">
![picture](https://evil.example/x.png) [click](javascript:document.title='owned') <svg onload="document.title='owned'"></svg>
<iframe srcdoc="<script>parent.document.title='owned'</script>"></iframe> <a href="https://evil.example/">away</a>
<https://evil.example/auto> https://evil.example/bare <style>@import 'https://evil.example/x.css'</style>
[r]: https://evil.example/r "onmouseover=alert(1)"
$\\text{<img src=x onerror=alert(1)>}$ $\\href{javascript:alert(1)}{x}$ $\\includegraphics{https://evil.example/y.png}$"""


def problem(number: int, **other: Any) -> dict[str, Any]:
    """One item in the form of the source."""
    return {
        "id": f"gen_aime_{number}",
        "problem": f"Find $m+n$ where $\\frac{{m}}{{n}} = {number}$.",
        "answer": number + 1,
        "solution": f"\\[ m = {number}, \\quad n = 1 \\]",
        "topic": "Algebra",
        **other,
    }


def write(folder: Path, count: int = 3, *more: Mapping[str, Any], name: str = "aime_generated.json") -> Path:
    """A data file with so many problems, and others behind them."""
    path = folder / name
    path.write_text(json.dumps([*(problem(n + 1) for n in range(count)), *more]), encoding="utf-8")
    return path
