"""Run llama.cpp's server in a process of its own, which prints its address and ends when standard input closes.

`python -m proctor_adapters.models._llama` reads its settings as one line of JSON. A process, because a native abort must not
take the evaluation down.
"""

import json
import os
import sys
from typing import Any


def main(settings: dict[str, Any]) -> None:
    """Serve one GGUF file on the loopback address until standard input closes."""
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the library prints goes to the log, never between us and our reader
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["key"]]
    params.ui = False
    params.cors_origins = ""
    params.offline = True
    params.n_ctx = settings["context_tokens"] * settings["slots"]  # the server divides it among its slots
    params.n_parallel = settings["slots"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.cache_ram_mib = 0  # memory must not grow with the run
    params.verbosity = 1
    try:
        server = xllamacpp.Server(params)
    except RuntimeError:  # the log says why
        sys.exit(1)
    print(server.listening_address, file=said, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(json.loads(sys.stdin.readline()))
