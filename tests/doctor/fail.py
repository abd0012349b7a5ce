"""Leaves at AWS_ENDPOINT_URL what a failed first deployment of the stage staging leaves: a stack that was rolled back, and the
tables and the bucket of its template. With an argument, the table of artists has that row.
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


resources = {
    "ArtistTable": kept("AWS::DynamoDB::Table", TableName=f"{NAME}-artists", DeletionProtectionEnabled=True, **keys),
    "SecretTable": kept("AWS::DynamoDB::Table", TableName=f"{NAME}-secrets", DeletionProtectionEnabled=True, **keys),
    "MediaBucket": kept("AWS::S3::Bucket", BucketName=f"{NAME}-media-{sts.get_caller_identity()['Account']}"),
    # It needs a secret that isn't there.
    "Refused": {"Type": "AWS::SNS::Topic", "DependsOn": ["ArtistTable", "SecretTable", "MediaBucket"],
                "Properties": {"TopicName": "{{resolve:secretsmanager:none}}"}},
}
cloudformation.create_stack(StackName=NAME, TemplateBody=json.dumps({"Resources": resources}))
try:
    cloudformation.get_waiter("stack_create_complete").wait(StackName=NAME, WaiterConfig={"Delay": 1})
except WaiterError:
    pass
assert cloudformation.describe_stacks(StackName=NAME)["Stacks"][0]["StackStatus"] == "ROLLBACK_COMPLETE"
for row in sys.argv[1:]:
    dynamodb.put_item(TableName=f"{NAME}-artists", Item={"pk": {"S": row}})
