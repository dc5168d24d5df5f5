"""The flags of `adk eval` that are for google-adk itself: logging, experimental features, where results are kept."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import click

from proctor.cli import output
from proctor.cli.words import t
from proctor.core.errors import BadInput

F = TypeVar("F", bound=Callable[..., object])
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def adk_flags(command: F) -> F:
    """Add the flags to a command."""
    for option in (
        click.option("--eval-storage-uri", metavar="URI", help=t("Not supported: results go to --results.")),
        click.option("--disable-features", metavar="NAME,...", multiple=True, help=t("Features of google-adk to switch off.")),
        click.option("--enable-features", metavar="NAME,...", multiple=True, help=t("Features of google-adk to switch on.")),
        click.option("--log-level", type=click.Choice(LEVELS, case_sensitive=False), help=t("Show the log of google-adk from this level on.")),
    ):  # fmt: skip
        command = option(command)
    return command


def follow(given: Mapping[str, Any]) -> None:
    """Do what the flags say, before an agent is loaded.

    Raises:
        BadInput: results are to be kept in a bucket, or google-adk has no such feature.
    """
    if given["eval_storage_uri"]:
        raise BadInput(
            "--eval-storage-uri is not supported: results are written to a folder, --results DIR, and copied from there."
        )
    if given["log_level"]:
        _log(given["log_level"].upper())
    for word, option in (("ENABLE", "enable_features"), ("DISABLE", "disable_features")):
        for name in _names(given[option], f"--{option.replace('_', '-')}"):
            os.environ[f"ADK_{word}_{name}"] = "1"
            other = "DISABLE" if word == "ENABLE" else "ENABLE"
            os.environ.pop(f"ADK_{other}_{name}", None)


def _names(values: tuple[str, ...], option: str) -> Iterator[str]:
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if not names:
        return
    try:
        from google.adk.features import FeatureName
    except ImportError:  # an older google-adk, or none
        output.message(t("{option} is not used: this google-adk has no features to choose.", option=option))
        return
    known = sorted(str(feature_name.value) for feature_name in FeatureName)
    for name in names:
        if name not in known:
            raise BadInput(
                "{option}: google-adk has no feature '{name}'. Known: {known}.",
                option=option,
                name=name,
                known=", ".join(known),
            )
        yield name


def _log(level: str) -> None:
    logger = logging.getLogger("google_adk")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s - %(levelname)s - %(name)s - %(message)s"))
    logger.handlers[:] = [handler]
    logger.setLevel(level)
