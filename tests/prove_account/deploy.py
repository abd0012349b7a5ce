"""Makes the data's stacks of the stages proof and staging at AWS_ENDPOINT_URL, with a protected table, a file and a key each.
With --show it prints what is there.

usage: deploy.py [--show]
"""

import json
import sys

import botocore.session

session = botocore.session.get_session()
cloudformation, dynamodb, kms, s3 = (session.create_client(name, region_name="us-east-1")
                                     for name in ("cloudformation", "dynamodb", "kms", "s3"))


def make(stage):
    name = f"moments-{stage}"
    kept = {"DeletionPolicy": "Retain"}
    key = [{"AttributeName": "pk", "KeyType": "HASH"}]
    table = {"TableName": f"{name}-artists", "BillingMode": "PAY_PER_REQUEST", "DeletionProtectionEnabled": True, "KeySchema": key,
             "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]}
    bucket = {"BucketName": f"{name}-media", "VersioningConfiguration": {"Status": "Enabled"}}
    template = {"Resources": {
        "ArtistTable": {"Type": "AWS::DynamoDB::Table", **kept, "Properties": table},
        "MediaBucket": {"Type": "AWS::S3::Bucket", **kept, "Properties": bucket},
        "CodeKeyA": {"Type": "AWS::KMS::Key", **kept, "Properties": {"KeySpec": "HMAC_256", "KeyUsage": "GENERATE_VERIFY_MAC"}},
    }}
    cloudformation.create_stack(StackName=f"{name}-data", TemplateBody=json.dumps(template), EnableTerminationProtection=True)
    cloudformation.get_waiter("stack_create_complete").wait(StackName=f"{name}-data", WaiterConfig={"Delay": 1})
    dynamodb.put_item(TableName=table["TableName"], Item={"pk": {"S": "ARTIST#1"}})
    for body in (b"first", b"second"):
        s3.put_object(Bucket=bucket["BucketName"], Key="a file", Body=body)


if sys.argv[1:] != ["--show"]:
    make("proof")
    make("staging")
stacks = cloudformation.describe_stacks()["Stacks"]
keys = [kms.describe_key(KeyId=each["KeyId"])["KeyMetadata"]["KeyState"] for each in kms.list_keys()["Keys"]]
print(json.dumps({
    "stacks": [each["StackName"] for each in stacks if each["StackStatus"] != "DELETE_COMPLETE"],
    "tables": dynamodb.list_tables()["TableNames"],
    "buckets": [each["Name"] for each in s3.list_buckets()["Buckets"]],
    "keys": sorted(keys),
}))
