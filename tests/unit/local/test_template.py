from pathlib import Path

import pytest

from keepsake.ports.item_store import INDEXES, SCHEMAS
from local.template import Feed, Route, Schedule, TemplateError, load_template, read_template

HEAD = """
Parameters:
  Minutes: {Type: Number, Default: 20}
Resources:
"""

FUNCTION = """
  Sum:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/sum/
      Events:
        Nightly:
          Type: ScheduleV2
          Properties:
            ScheduleExpression: EXPRESSION
            Input: '{"depth": 2, "id": "<aws.scheduler.execution-id>"}'
        Ask:
          Type: HttpApi
          Properties: {Method: get, Path: "/v1/sums/{id}", Auth: {Authorizer: NONE}}
"""

TABLE = """
  SessionTurns:
    Type: AWS::DynamoDB::Table
    Properties:
      AttributeDefinitions: [{AttributeName: a, AttributeType: TYPE}, {AttributeName: b, AttributeType: S}]
      KeySchema: [{AttributeName: a, KeyType: HASH}, {AttributeName: b, KeyType: RANGE}]
"""

QUEUES = """
  Work:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
      VisibilityTimeout: 1800
      MessageRetentionPeriod: 345600
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}
  Failed:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true, MessageRetentionPeriod: 1209600}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/worker/
      Timeout: 300
      Events:
        Work:
          Type: SQS
          Properties: {Queue: !GetAtt Work.Arn, BatchSize: 2, FunctionResponseTypes: [ReportBatchItemFailures]}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "template.yaml"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def test_short_tags_are_read_in_their_long_form(tmp_path: Path) -> None:
    path = written(tmp_path, "  A: {Type: T, One: !Ref X, Two: !GetAtt X.Arn.Part, Three: !If [C, !Sub 's', {k: !Condition D}]}")
    assert read_template(path)["Resources"]["A"] == {
        "Type": "T",
        "One": {"Ref": "X"},
        "Two": {"Fn::GetAtt": ["X", "Arn.Part"]},
        "Three": {"Fn::If": ["C", {"Fn::Sub": "s"}, {"k": {"Condition": "D"}}]},
    }


def test_a_tag_that_would_make_an_object_makes_none(tmp_path: Path) -> None:
    path = written(tmp_path, "  A: {Type: T, One: !!python/name:os.system ''}")
    with pytest.raises(Exception, match="could not determine a constructor"):
        read_template(path)


@pytest.mark.parametrize(
    ("expression", "minutes"),
    [("rate(1 minute)", 1), ("rate(90 minutes)", 90), ("rate(2 hours)", 120), ("!Sub 'rate(${Minutes} minutes)'", 20)],
)
def test_routes_and_schedules_are_read_with_the_parameters_defaults(tmp_path: Path, expression: str, minutes: int) -> None:
    template = load_template(written(tmp_path, FUNCTION.replace("EXPRESSION", expression)))
    assert template.schedules == (Schedule("nightly", "Sum", "functions.sum.app", minutes, {"depth": 2, "id": "local"}),)
    assert template.routes == (Route("GET", "/v1/sums/{id}", "Sum", "functions.sum.app", authorised=False),)


@pytest.mark.parametrize("expression", ["cron(0 3 * * ? *)", "!Sub 'rate(${Absent} minutes)'", "rate(2 weeks)"])
def test_a_schedule_that_cannot_be_run_here_is_refused(tmp_path: Path, expression: str) -> None:
    with pytest.raises(TemplateError):
        load_template(written(tmp_path, FUNCTION.replace("EXPRESSION", expression)))


def test_a_queue_is_read_with_the_function_that_it_feeds(tmp_path: Path) -> None:
    assert load_template(written(tmp_path, QUEUES)).feeds == (
        Feed(
            queue="Work",
            function="Worker",
            module="functions.worker.app",
            batch_size=2,
            timeout_s=300,
            visibility_s=1800,
            max_receives=5,
            retention_s=345600,
            dead_retention_s=1209600,
        ),
    )


@pytest.mark.parametrize("missing", ["      FifoQueue: true\n", ", FunctionResponseTypes: [ReportBatchItemFailures]"])
def test_a_queue_that_cannot_be_run_here_is_refused(tmp_path: Path, missing: str) -> None:
    assert missing in QUEUES
    with pytest.raises(TemplateError):
        load_template(written(tmp_path, QUEUES.replace(missing, "")))


def test_a_table_with_a_numeric_partition_is_refused(tmp_path: Path) -> None:
    assert load_template(written(tmp_path, TABLE.replace("TYPE", "S"))).tables[0].ttl is None
    with pytest.raises(TemplateError):
        load_template(written(tmp_path, TABLE.replace("TYPE", "N")))


def test_the_products_own_template_has_every_table_and_index_of_the_port() -> None:
    tables = load_template().tables
    assert {each.table: each.key for each in tables} == SCHEMAS
    assert {sparse.index: sparse.schema for each in tables for sparse in each.indexes} == INDEXES


def test_the_products_own_template_lets_nobody_in_without_a_token_but_for_health() -> None:
    assert [route.path for route in load_template().routes if not route.authorised] == ["/v1/health"]
