"""The versions of a stage: each deployment keeps its packaged template beside its functions in SAM's bucket, so that an
earlier one comes back without a build; and its bill of materials."""

import json
import subprocess
import sys
import time
import urllib.request

from botocore.exceptions import ClientError

import materials
from account import ROOT, outputs

# The stack of `resolve_s3`, which owns the bucket of packages.
PACKAGES = "aws-sam-cli-managed-default"
CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
# Alarms of what a new version may break, and how often they are looked at, in seconds.
WATCHED = ("server-errors", "failed-writes")
PAUSE = 15
# Amazon's own mailbox, which takes mails from the sandbox too.
MAILBOX = "success@simulator.amazonses.com"


def of_checkout():
    command = ["git", "describe", "--always", "--dirty", "--tags"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def bucket(account):
    stack = account.aws("cloudformation").describe_stacks(StackName=PACKAGES)["Stacks"][0]
    return next(each["OutputValue"] for each in stack["Outputs"] if each["OutputKey"] == "SourceBucket")


def key(account, version):
    return f"{account.settings['s3_prefix']}/versions/{version}.yaml"


def bill_key(account, version):
    return f"{account.settings['s3_prefix']}/materials/{version}.cdx.json"


def keep(account, version, template):
    store = account.aws("s3")
    store.put_object(Bucket=bucket(account), Key=bill_key(account, version), Body=materials.of_checkout(version))
    store.put_object(Bucket=bucket(account), Key=key(account, version), Body=template.read_bytes())


def kept(account):
    """The kept versions, the newest first."""
    pages = account.aws("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket(account), Prefix=key(account, "")[:-5])
    found = sorted((each["LastModified"], each["Key"]) for page in pages for each in page.get("Contents", []))
    return [name.rsplit("/", 1)[1].removesuffix(".yaml") for _, name in reversed(found)]


def roll_back(account, version):
    """Updates the code's stack to a kept version. Parameters keep their values; those that it doesn't have are left out."""
    cloudformation = account.aws("cloudformation")
    source = f"{account.aws('s3').meta.endpoint_url}/{bucket(account)}/{key(account, version)}"
    named = {each["ParameterKey"] for each in cloudformation.get_template_summary(TemplateURL=source)["Parameters"]}
    parameters = [{"ParameterKey": each, "UsePreviousValue": True} for each in account.known if each in named - {"Version"}]
    # What only the earlier one is handed over.
    wanted = {name: value for name, value in account.handed_over.items() if name in named - account.known.keys()}
    wanted["Version"] = version
    parameters += [{"ParameterKey": name, "ParameterValue": value} for name, value in wanted.items()]
    cloudformation.update_stack(StackName=account.stack_name, TemplateURL=source, Parameters=parameters,
                                Capabilities=CAPABILITIES)
    cloudformation.get_waiter("stack_update_complete").wait(StackName=account.stack_name,
                                                            WaiterConfig={"Delay": 5, "MaxAttempts": 360})


def failures(account):
    """What a deployed stage answers otherwise than it should: to reads, a simulation, and a sign-in up to the code."""
    base = outputs(account.find_stack(account.stack_name))["BaseUrl"]
    for method, path, body, expected in [
        ("GET", "/.well-known/jwks.json", None, 200),
        ("GET", "/chains", None, 200),
        ("GET", "/timeline", None, 200),
        ("POST", "/moment/create/simulate", {}, 401),
        ("POST", "/oauth/code", {"email": MAILBOX}, 200),
        ("POST", "/oauth/login", {"email": MAILBOX, "code": "000000"}, 401),
    ]:
        if (status := answer(method, base + path, body)) != expected:
            yield f"{method} {path} answers {status or 'nothing'}, not {expected}"


def alarms(account):
    """Those of the watched alarms that are on."""
    names = [f"{account.name}-{each}" for each in WATCHED]
    found = account.aws("cloudwatch").describe_alarms(AlarmNames=names, StateValue="ALARM")["MetricAlarms"]
    return {each["AlarmName"] for each in found}


def watch(account, before, seconds):
    """The first alarms that go off within the time and weren't on before."""
    until = time.monotonic() + seconds
    while not (found := alarms(account) - before) and (left := until - time.monotonic()) > 0:
        time.sleep(min(PAUSE, left))
    return sorted(found)


def settle(account, version, former, before, seconds):
    """Asks the deployed version a few requests and watches the alarms for a time. If it fails, the former version comes back.
    Returns whether it stays."""
    found = list(failures(account)) or [f"the alarm {each} went off" for each in watch(account, before, seconds)]
    if not found:
        print(f"{account.stack_name}: version {version}")
        return True
    print(f"error: {account.stack_name} fails at version {version}:", *found, sep="\n  - ", file=sys.stderr)
    if former in kept(account) and former != version:
        roll_back(account, former)
        print(f"{account.stack_name}: back at version {former}", file=sys.stderr)
    return False


def answer(method, url, body):
    headers = {"content-type": "application/json", "user-agent": "moments-smoke"}
    data = None if body is None else json.dumps(body).encode()
    try:
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=35) as found:
            return found.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def explain(error):
    return error.response["Error"]["Message"] if isinstance(error, ClientError) else str(error)
