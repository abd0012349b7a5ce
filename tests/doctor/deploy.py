"""Makes the stack of the stage staging at AWS_ENDPOINT_URL, as far as local/sam/doctor looks at it."""

import json
import sys

import botocore.session

REGION, NAME = "us-east-1", "moments-staging"
given = json.loads(sys.argv[1])
session = botocore.session.get_session()
cloudformation, ses = (session.create_client(each, region_name=REGION) for each in ("cloudformation", "sesv2"))
parameters = given["parameters"]
nodes = json.dumps(given["nodes"])
if given["is_finished"]:
    secrets = session.create_client("secretsmanager", region_name=REGION)
    nodes = secrets.create_secret(Name="nodes", SecretString=nodes)["ARN"]
if given.get("has_vault"):
    session.create_client("backup", region_name=parameters["CopyRegion"]).create_backup_vault(BackupVaultName=NAME)
relay = {
    "FunctionName": f"{NAME}-relay",
    "Runtime": "provided.al2023",
    "Handler": "bootstrap",
    "Role": "arn:aws:iam::000000000000:role/relay",
    "Code": {"ZipFile": "-"},
    "Environment": {"Variables": {"RPC_URLS": nodes}},
}
subscription = {"TopicArn": {"Ref": "AlarmTopic"}, "Protocol": "email", "Endpoint": {"Ref": "AlarmAddress"}}
template = {
    "Parameters": {name: {"Type": "String", "Default": ""} for name in parameters},
    "Resources": {
        "AlarmTopic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": f"{NAME}-alarms"}},
        "RelayFunction": {"Type": "AWS::Lambda::Function", "Properties": relay},
    },
    "Outputs": {"BaseUrl": {"Value": given["base"]}, "AlarmTopic": {"Value": {"Ref": "AlarmTopic"}}},
}
if given["is_finished"]:
    template["Resources"]["AlarmSubscription"] = {"Type": "AWS::SNS::Subscription", "Properties": subscription}
    ses.create_email_identity(EmailIdentity=parameters["MailSender"])
listed = [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()]
data = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
for stack, template, listed in [(f"{NAME}-data", data, []), (NAME, template, listed)]:
    cloudformation.create_stack(StackName=stack, TemplateBody=json.dumps(template), Parameters=listed)
    cloudformation.get_waiter("stack_create_complete").wait(StackName=stack, WaiterConfig={"Delay": 1})
