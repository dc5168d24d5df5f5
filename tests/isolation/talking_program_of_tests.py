"""A program for a worker that talks: it sends back what it is told, and does what it is asked for."""

import json
import os
from typing import Any


def talk(requests: Any, replies: Any) -> None:
    for line in requests:
        said = json.loads(line)
        if said.get("do") == "die":
            os.kill(os.getpid(), 9)
        if said.get("do") == "garbage":
            replies.write(b"no json\n")
        elif said.get("do") == "environment":
            replies.write(json.dumps(sorted(os.environ)).encode() + b"\n")
        else:
            replies.write(json.dumps({"back": said}).encode() + b"\n")
            replies.write(json.dumps({"more": said}).encode() + b"\n")
        replies.flush()
