"""Deploys the stage staging to AWS_ENDPOINT_URL as far as local/sam/keys looks at it, with the token keys of the arguments, the
signing one first. Prints the parameters that it finds, and the keys' ids by name."""

import json
import sys

import botocore.session

NAME = "moments-staging"
token_keys = sys.argv[1:]
cloudformation = botocore.session.get_session().create_client("cloudformation", region_name="us-east-1")


def key(spec: str) -> dict:
    return {"Type": "AWS::KMS::Key", "DeletionPolicy": "Retain", "Properties": {"KeySpec": spec, "KeyUsage": "SIGN_VERIFY"}}


# An alias names the signing key, as in template.yaml.
alias = {"AliasName": "alias/moments-staging-token", "TargetKeyId": {"Ref": token_keys[0]}}
names = ["OperatorLanes", "TokenSigningKey", "TokenPublicKeys", "TokenIssuer"]
template = {
    "Parameters": {name: {"Type": "String", "Default": ""} for name in names},
    "Resources": {
        "Lane": key("ECC_SECG_P256K1"),
        "Alias": {"Type": "AWS::KMS::Alias", "Properties": alias},
        **{name: key("ECC_NIST_P256") for name in token_keys},
    },
    "Outputs": {
        "BaseUrl": {"Value": "https://moments.example/api"},
        "OperatorLaneKeys": {"Value": {"Ref": "Lane"}},
        "TokenKeys": {"Value": {"Fn::Join": [",", [{"Ref": name} for name in token_keys]]}},
    },
}
text = json.dumps(template)
try:
    before = cloudformation.describe_stacks(StackName=NAME)["Stacks"][0]["Parameters"]
    kept = [{"ParameterKey": each["ParameterKey"], "UsePreviousValue": True} for each in before]
    cloudformation.update_stack(StackName=NAME, TemplateBody=text, Parameters=kept)
    done = "stack_update_complete"
except cloudformation.exceptions.ClientError as error:
    if "does not exist" not in str(error):
        raise
    before = []
    cloudformation.create_stack(StackName=NAME, TemplateBody=text)
    done = "stack_create_complete"
cloudformation.get_waiter(done).wait(StackName=NAME, WaiterConfig={"Delay": 1})
made = cloudformation.describe_stack_resources(StackName=NAME)["StackResources"]
print(json.dumps({
    "before": {each["ParameterKey"]: each["ParameterValue"] for each in before},
    "ids": {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in made},
}))
