"""Inspect plays a task by itself, with a model that adds, and leaves its log: `python in_inspect_log.py FOLDER`."""

import re
import sys
from pathlib import Path
from typing import Any


def main(folder: str) -> None:
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def adds(messages: Any, *_: Any) -> ModelOutput:
        x, y = map(int, re.findall(r"(\d+) \+ (\d+)", messages[-1].text)[-1])
        output = ModelOutput.from_content("mockllm/model", str(0 if x == 2 else x + y))
        output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
        return output

    task = f"{Path(__file__).with_name('inspect_tasks.py')}@sums"
    model = get_model("mockllm/model", custom_outputs=adds)
    (log,) = evaluate(task, model=model, task_args={"count": 4}, log_dir=folder, display="none")
    assert log.status == "success", log.error


if __name__ == "__main__":
    main(sys.argv[1])
