"""Leaves at AWS_ENDPOINT_URL what a failed first deployment of the stage staging leaves. If its data fails, that is a stack that
was rolled back, and the tables and the bucket of its template; with a row, the table of artists has it. If its code fails, the
data is there.

usage: fail.py data [row], or fail.py code
"""

import json
import sys

import botocore.session
from botocore.exceptions import WaiterError

REGION, NAME = "us-east-1", "moments-staging"
session = botocore.session.get_session()
cloudformation, dynamodb, sts = (
    session.create_client(each, region_name=REGION) for each in ("cloudformation", "dynamodb", "sts"))
keys = {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}


def kept(kind, **properties):
    return {"Type": kind, "DeletionPolicy": "Retain", "Properties": properties}


DATA = {
    "ArtistTable": kept("AWS::DynamoDB::Table", TableName=f"{NAME}-artists", DeletionProtectionEnabled=True, **keys),
    "SecretTable": kept("AWS::DynamoDB::Table", TableName=f"{NAME}-secrets", DeletionProtectionEnabled=True, **keys),
    "DocumentTable": kept(
        "AWS::DynamoDB::Table", TableName=f"{NAME}-documents", DeletionProtectionEnabled=True, **keys),
    "MediaBucket": kept("AWS::S3::Bucket", BucketName=f"{NAME}-media-{sts.get_caller_identity()['Account']}"),
}
# It needs a secret that isn't there.
REFUSED = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "{{resolve:secretsmanager:none}}"}}


def create(name, resources):
    """The status that the stack ends with."""
    cloudformation.create_stack(StackName=name, TemplateBody=json.dumps({"Resources": resources}))
    try:
        cloudformation.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 1})
    except WaiterError:
        pass
    return cloudformation.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]


what, *rows = sys.argv[1:]
if what == "data":
    assert create(f"{NAME}-data", DATA | {"Refused": REFUSED | {"DependsOn": list(DATA)}}) == "ROLLBACK_COMPLETE"
else:
    assert create(f"{NAME}-data", DATA) == "CREATE_COMPLETE"
    assert create(NAME, {"Refused": REFUSED}) == "ROLLBACK_COMPLETE"
for row in rows:
    dynamodb.put_item(TableName=f"{NAME}-artists", Item={"pk": {"S": row}})
