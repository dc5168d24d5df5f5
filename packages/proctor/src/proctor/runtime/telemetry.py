"""Keep libraries from telling their makers who uses them, and from fetching tables when they are imported."""

import os

SWITCHES = {
    "ANONYMIZED_TELEMETRY": "False",  # chromadb, browser-use
    "CREWAI_DISABLE_TELEMETRY": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # or its import asks a code host for prices, and waits where there is no network
    "MEM0_TELEMETRY": "False",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "RAY_USAGE_STATS_ENABLED": "0",
    "SCARF_NO_ANALYTICS": "true",
}


def switch_off() -> None:
    """Set the variables by which libraries are told so, before one is imported; those that are set stay."""
    for name, value in SWITCHES.items():
        os.environ.setdefault(name, value)
