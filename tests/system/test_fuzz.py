"""The API under calls made from its own description, fitting ones and others: each refusal a problem document, none a 5xx."""

import os
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

from local.openapi import description
from tests.system.running import Service

schema = schemathesis.openapi.from_dict(description())
schema.config.generation.update(modes=list(GenerationMode))

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
REFUSED = "application/problem+json"


@schema.parametrize()
@settings(max_examples=30 if os.environ.get("CI") else 10, suppress_health_check=list(HealthCheck), deadline=None)
def test_no_call_breaks_the_service(case: Case[Any], sqlite_service: Service) -> None:
    headers = {"authorization": f"Bearer {sqlite_service.issuer.issue('fuzz')}"}
    response = case.call_and_validate(base_url=sqlite_service.url, headers=headers, checks=CHECKS)
    assert response.status_code < 400 or response.headers["content-type"][0] == REFUSED
