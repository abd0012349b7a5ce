"""Deploys the versions of the arguments to the stage staging of AWS_ENDPOINT_URL, one after another, as local/sam/deploy
does: each has a parameter of its own. Prints the stack's parameters.

usage: deploy.py <base URL> <version>…, or deploy.py --show; deploy.py --settle <version> <former version>, which first lets an
alarm go off after the deployment and another have been on before it; deploy.py --bill <version>, which prints what is kept
"""

import json
import sys
import tempfile
from pathlib import Path

import botocore.session

sys.path.insert(0, "local/sam")
import versions
from account import Account

session = botocore.session.get_session()
cloudformation = session.create_client("cloudformation", region_name="us-east-1")


def create(name, template):
    cloudformation.create_stack(StackName=name, TemplateBody=json.dumps(template))
    cloudformation.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 1})


def template(base, version):
    names = ["Version", "Stage", f"Only{version.title()}"]
    return {
        "Parameters": {name: {"Type": "String", "Default": "default"} for name in names},
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": version}}},
        "Outputs": {"BaseUrl": {"Value": base}},
    }


def deploy(base, *names):
    session.create_client("s3", region_name="us-east-1").create_bucket(Bucket="packages")
    bucket = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}, "Outputs": {"SourceBucket": {"Value": "packages"}}}
    create(versions.PACKAGES, bucket)
    for version in names:
        # Two deployments may run at once.
        packaged = Path(tempfile.mkdtemp()) / "packaged.json"
        packaged.write_text(json.dumps(template(base, version)))
        account = Account("staging")
        versions.keep(account, version, packaged)
        if account.stack is None:
            create(account.stack_name, template(base, version))
        versions.roll_back(Account("staging"), version)


def settle(version, former):
    account, watch = Account("staging"), session.create_client("cloudwatch", region_name="us-east-1")

    def let_go_off(name):
        alarm = {"AlarmName": f"moments-staging-{name}", "Namespace": "x", "MetricName": "x", "Period": 60, "Statistic": "Sum",
                 "EvaluationPeriods": 1, "Threshold": 1, "ComparisonOperator": "GreaterThanThreshold"}
        watch.put_metric_alarm(**alarm)
        watch.set_alarm_state(AlarmName=alarm["AlarmName"], StateValue="ALARM", StateReason="a test")

    let_go_off("failed-writes")
    before = versions.alarms(account)
    print(versions.settle(account, version, former, before, 0))
    let_go_off("server-errors")
    print(versions.settle(account, version, former, before, 600))


def bill(version):
    found = session.create_client("s3", region_name="us-east-1").get_object(
        Bucket="packages", Key=versions.bill_key(Account("staging"), version))
    print(found["Body"].read().decode())


if sys.argv[1] == "--bill":
    sys.exit(bill(sys.argv[2]))
if sys.argv[1] == "--settle":
    settle(*sys.argv[2:])
elif sys.argv[1] != "--show":
    deploy(*sys.argv[1:])
print(json.dumps(Account("staging").known))
