"""Templates of other people make no text of gigabytes, and what is wrong with them is a sentence."""

import time

import pytest

from proctor.core.errors import BadInput
from proctor_judging.generation.generator import rendered


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'x' * 10**10 }}",
        "{{ 10**10 * 'x' }}",
        "{{ ([1] * 10**9)|length }}",
        "{{ 10 ** (10 ** 10) }}",
        "{% for n in range(10**8) %}x{% endfor %}",
        "{{ '%1000000000d' % 1 }}",
        "{{ 'x'|center(10**10) }}",
        "{{ 'x'|indent(10**10) }}",
        "{{ 'x'.ljust(10**10) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ 1 / 0 }}",
        "{{ 1 + 'a' }}",
        "{{ ''.__class__.__mro__ }}",
        "{% if %}",
    ],
)
def test_a_template_that_would_make_too_much_is_a_sentence(template: str) -> None:
    started = time.process_time()
    with pytest.raises(BadInput, match="no valid template"):
        rendered(template)
    assert time.process_time() - started < 5


def test_ordinary_arithmetic_works() -> None:
    template = "{{ '-' * 3 }} {{ 2 * 3 }} {{ 2 ** 10 }} {{ 7 % 4 }} {{ 'a'|center(3) }} {% for n in range(3) %}{{ n }}{% endfor %}"
    assert rendered(template) == "--- 6 1024 3  a  012"
