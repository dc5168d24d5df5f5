"""Push results to Prometheus by the names of VeADK.

Source: volcengine/veadk-python, veadk/evaluation/utils/prometheus.py, release 1.1.19.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from proctor_adapters.exports import prometheus
from proctor_adapters.exports.prometheus import PASSWORD_VARIABLE, URL_VARIABLE, USERNAME_VARIABLE, Figures, Gateway
from proctor_compat.veadk.types import EvalResultCaseData, EvalResultMetadata


@dataclass
class PrometheusPushgatewayConfig:
    """The address and credentials of a push gateway; fields left out are read from the environment when the object is made.

    >>> PrometheusPushgatewayConfig(url="http://gateway:9091", username="u", password="p").url
    'http://gateway:9091'
    """

    url: str = field(default_factory=lambda: os.environ.get(URL_VARIABLE, ""))
    username: str = field(default_factory=lambda: os.environ.get(USERNAME_VARIABLE, ""))
    password: str = field(default_factory=lambda: os.environ.get(PASSWORD_VARIABLE, ""), repr=False)


def push_to_prometheus(
    test_name: str,
    test_cases_total: int,
    test_cases_failure: int,
    test_cases_pass: int,
    test_data_list: Sequence[EvalResultCaseData],
    eval_data: EvalResultMetadata,
    case_threshold: float = 0.5,
    diff_threshold: float = 0.2,
    url: str = "",
    username: str = "",
    password: str = "",
) -> None:
    """Push the gauges of an evaluation, replacing those pushed under the same test name.

    Raises:
        BadInput: no address, or the gateway cannot be reached or refuses.
    """
    gateway = Gateway(url=url, username=username, password=password) if url else prometheus.from_environment()
    figures = Figures(
        test_name=test_name,
        total=test_cases_total,
        passed=test_cases_pass,
        failed=test_cases_failure,
        cases=[asdict(data) for data in test_data_list],
        models=asdict(eval_data),
        threshold=case_threshold,
        diff_threshold=diff_threshold,
    )
    prometheus.push(figures, gateway)
