"""Deploys the stage staging to AWS_ENDPOINT_URL as far as local/sam/keys looks at it, with the token keys of the arguments, the
signing one first. Prints the parameters that it finds, and the keys' ids by name.

usage: deploy.py [--data-alone] <name of a token key>…
"""

import json
import sys

import botocore.session

NAME = "moments-staging"
is_data_alone = "--data-alone" in sys.argv
token_keys = [each for each in sys.argv[1:] if each != "--data-alone"]
cloudformation = botocore.session.get_session().create_client("cloudformation", region_name="us-east-1")


def key(spec: str) -> dict:
    return {"Type": "AWS::KMS::Key", "DeletionPolicy": "Retain", "Properties": {"KeySpec": spec, "KeyUsage": "SIGN_VERIFY"}}


# An alias names the signing key, as in data.yaml.
alias = {"AliasName": "alias/moments-staging-token", "TargetKeyId": {"Ref": token_keys[0]}}
DATA = {
    "Resources": {
        "Lane": key("ECC_SECG_P256K1"),
        "Alias": {"Type": "AWS::KMS::Alias", "Properties": alias},
        **{name: key("ECC_NIST_P256") for name in token_keys},
    },
    "Outputs": {
        "OperatorLaneKeys": {"Value": {"Ref": "Lane"}},
        "TokenKey": {"Value": {"Ref": token_keys[0]}},
        "TokenKeys": {"Value": {"Fn::Join": [",", [{"Ref": name} for name in token_keys]]}},
    },
}
names = ["OperatorLanes", "OperatorLaneKeys", "TokenKey", "TokenSigningKey", "TokenPublicKeys", "TokenIssuer", "FilesAddress"]
CODE = {
    "Parameters": {name: {"Type": "String", "Default": ""} for name in names},
    "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {"BaseUrl": {"Value": "https://moments.example/api"}},
}


def find(name: str) -> dict:
    try:
        return cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    except cloudformation.exceptions.ClientError:
        return {}


def deploy(name: str, template: dict, handed_over: dict[str, str]) -> None:
    text, is_there = json.dumps(template), bool(find(name))
    kept = [{"ParameterKey": each["ParameterKey"], "UsePreviousValue": True} for each in find(name).get("Parameters", [])
            if each["ParameterKey"] not in handed_over]
    given = kept + [{"ParameterKey": name, "ParameterValue": value} for name, value in handed_over.items()]
    try:
        call = cloudformation.update_stack if is_there else cloudformation.create_stack
        call(StackName=name, TemplateBody=text, Parameters=given)
    except cloudformation.exceptions.ClientError as error:
        if "No updates" not in str(error):
            raise
        return
    done = "stack_update_complete" if is_there else "stack_create_complete"
    cloudformation.get_waiter(done).wait(StackName=name, WaiterConfig={"Delay": 1})


before = {each["ParameterKey"]: each["ParameterValue"] for each in find(NAME).get("Parameters", [])}
deploy(f"{NAME}-data", DATA, {})
outputs = {each["OutputKey"]: each["OutputValue"] for each in find(f"{NAME}-data")["Outputs"]}
if not is_data_alone:
    deploy(NAME, CODE, {name: value for name, value in outputs.items() if name in names})
made = cloudformation.describe_stack_resources(StackName=f"{NAME}-data")["StackResources"]
print(json.dumps({"before": before, "ids": {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in made}}))
