from pathlib import Path

from openapi_spec_validator import validate

from local.openapi import DESCRIPTION, description, routes, written
from local.template import load_template

TEMPLATE = Path(__file__).parent.parent.parent / "template.yaml"


def test_the_committed_description_is_the_one_that_the_code_gives() -> None:
    assert DESCRIPTION.read_text() == written(), "run: make openapi"


def test_the_description_is_valid() -> None:
    validate(description())


def test_every_route_of_the_template_is_answered_by_the_function_it_names_and_described() -> None:
    deployed = {(f"{route.method} {route.path}", route.authorised) for route in load_template(TEMPLATE).routes}
    assert deployed == {(route.key, not route.is_open) for route in routes()}


def test_every_call_says_in_a_line_what_it_does() -> None:
    for operations in description()["paths"].values():
        for operation in operations.values():
            assert operation["summary"].endswith(".")
