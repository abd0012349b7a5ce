"""An account before a stage's deployment: what would make it fail, and what a new account still has to be allowed."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import botocore.session
from botocore.exceptions import ClientError

ROOT = Path(__file__).resolve().parents[2]
# The templates of its two stacks, in the order of deployment: what outlives the code, and the code.
DATA, CODE = ROOT / "data.yaml", ROOT / "template.yaml"
# Lambda keeps as many for functions without a reservation.
UNRESERVED = 100
FEWEST_EXECUTIONS = 1000
# Only a first deployment ends like this, and no deployment can follow.
DEAD = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED")


def built(program):
    """A program of the last build."""
    folder = subprocess.run([ROOT / "local/target-dir"], check=True, capture_output=True, text=True).stdout.rstrip("\n")
    return Path(folder, "debug", program)


class Account:
    """The account of a stage of samconfig.toml, with the parameters that a deployment sets and its two stacks, if they are
    there: of the data and of the code."""

    def __init__(self, stage):
        settings = tomllib.loads((ROOT / "samconfig.toml").read_text())[stage]["deploy"]["parameters"]
        self.session, self.settings = botocore.session.get_session(), settings
        self.stage, self.region, self.stack_name = stage, settings["region"], settings["stack_name"]
        self.data_name = f"{self.stack_name}-data"
        self.data, self.stack = self.find_stack(self.data_name), self.find_stack(self.stack_name)
        self.known = parameters(self.stack)
        overrides = (each.split("=", 1) for each in settings["parameter_overrides"])
        self.overrides = {name: value.strip("'") for name, value in overrides}
        self.wanted = parameters(self.data) | self.known | self.overrides
        # What the data's stack hands over are parameters of the code's, where it has them.
        self.handed_over = outputs(self.data)
        self.outputs = self.handed_over | outputs(self.stack)
        self.name = f"moments-{self.wanted['Stage']}"

    def aws(self, service, region=None):
        return self.session.create_client(service, region_name=region or self.region)

    def find_stack(self, name):
        try:
            return self.aws("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
        except ClientError as error:
            if "does not exist" in error.response["Error"]["Message"]:
                return None
            raise

    def stacks(self):
        """Those that are there, by name: the code first, which needs the data."""
        return {each["StackName"]: each for each in (self.stack, self.data) if each}

    def has_data(self):
        return is_deployed(self.data)

    def is_deployed(self):
        return is_deployed(self.stack)

    def parameter(self, name):
        """What a deployment sets, or the template's default."""
        text = DATA.read_text() + CODE.read_text()
        # A folded one goes on in the next lines.
        default = re.search(rf"^  {name}:\n(?:    .*\n)*?    Default: (.*(?:\n      .*)*)$", text, re.MULTILINE)
        folded = " ".join(default[1].removeprefix(">-").split()) if default else ""
        return self.wanted.get(name, folded.strip('"'))

    def has_distribution(self):
        wanted = self.parameter("Distribution")
        return wanted == "always" or (wanted == "production" and self.wanted["Stage"] == "production")

    def kept_tables(self):
        """The tables that CloudFormation keeps, of those that are there."""
        wanted = {f"{self.name}-{table}" for table in ("artists", "documents", "secrets")}
        pages = self.aws("dynamodb").get_paginator("list_tables").paginate()
        return sorted(name for page in pages for name in page["TableNames"] if name in wanted)

    def bucket_name(self):
        return f"{self.name}-media-{self.aws('sts').get_caller_identity()['Account']}"

    def bucket(self):
        """The bucket's name, if it is there."""
        name = self.bucket_name()
        return name if name in {each["Name"] for each in self.aws("s3").list_buckets()["Buckets"]} else None


def parameters(stack):
    return {each["ParameterKey"]: each["ParameterValue"] for each in (stack or {}).get("Parameters", [])}


def outputs(stack):
    return {each["OutputKey"]: each["OutputValue"] for each in (stack or {}).get("Outputs", [])}


def is_deployed(stack):
    return stack is not None and stack["StackStatus"] not in (*DEAD, "REVIEW_IN_PROGRESS")


def reservations():
    """What the template reserves for each function, by logical id."""
    functions = re.split(r"^  (?=\w+:\n)", CODE.read_text(), flags=re.MULTILINE)
    found = ((each.split(":")[0], re.search(r"^      ReservedConcurrentExecutions: !If \[\w+, (\d+),", each, re.MULTILINE))
             for each in functions)
    return {name: int(match[1]) for name, match in found if match}


def room(account):
    """How many executions a deployment may reserve: what the stage's functions have reserved already is its own."""
    client, held, reserving = account.aws("lambda"), 0, reservations()
    if account.is_deployed():
        pages = account.aws("cloudformation").get_paginator("list_stack_resources").paginate(StackName=account.stack_name)
        functions = [each["PhysicalResourceId"] for page in pages for each in page["StackResourceSummaries"]
                     if each["LogicalResourceId"] in reserving and each.get("PhysicalResourceId")]
        held = sum(client.get_function_concurrency(FunctionName=each).get("ReservedConcurrentExecutions", 0)
                   for each in functions)
    return client.get_account_settings()["AccountLimit"]["UnreservedConcurrentExecutions"] + held - UNRESERVED


def lacking(account):
    """What to do if the account can't keep what is reserved, otherwise `None`."""
    needed, left = sum(reservations().values()), room(account)
    if left < needed:
        return (f"{needed} executions are to be reserved, and Lambda can reserve {max(left, 0)} in this account: have its quota "
                f"of concurrent executions raised by {needed - left}")
    return None


def is_left_to_production(account):
    """Whether a deployment decides about reserved concurrency, by what the account can keep."""
    return account.wanted["Stage"] == "production" and account.overrides.get("ReserveConcurrency") not in ("yes", "no")


def check_stack(account):
    for name, stack in account.stacks().items():
        if stack["StackStatus"] in DEAD:
            yield f"{name} is {stack['StackStatus']}, which no deployment can follow: run {clean(account)}"


def check_names(account):
    if account.has_data():
        return
    taken = [f"the table {name}" for name in account.kept_tables()]
    taken += [f"the bucket {name}" for name in [account.bucket()] if name]
    yield from (f"{each} is there already: run {clean(account)} if a failed deployment left it" for each in taken)
    sender = account.parameter("MailSender")
    if not account.parameter("MailIdentity"):
        try:
            account.aws("sesv2").get_email_identity(EmailIdentity=sender)
            yield f"SES knows the sender {sender} already: set MailIdentity={sender} in samconfig.toml"
        except ClientError as error:
            if error.response["Error"]["Code"] != "NotFoundException":
                raise


def check_reservations(account):
    is_reserved = account.parameter("ReserveConcurrency") == "yes" and not is_left_to_production(account)
    if is_reserved and (what := lacking(account)):
        yield f"{what}, or set ReserveConcurrency=no"


def check_nodes(account):
    given = account.parameter("RpcSecret") or account.parameter("RpcUrls")
    # The account hides RpcUrls: what isn't set anew stays as it was.
    if not given.startswith("*"):
        yield from unnamed(json.loads(account.parameter("Chains").strip("'")), node_urls(account, given))


def node_urls(account, given):
    """The URLs of each chain's nodes, from `RPC_URLS`."""
    if given.startswith("arn:"):
        given = account.aws("secretsmanager").get_secret_value(SecretId=given)["SecretString"]
    return json.loads(given)


def unnamed(chains, urls):
    """A chain is served for reading alone if that is said, and not by a slip."""
    for chain in (str(each["id"]) for each in chains):
        if chain not in urls:
            yield (f"RpcUrls doesn't name chain {chain}: add its nodes, or an empty list if it is to be served for reading "
                   "alone")


def notes(account):
    """What a new account isn't allowed yet; a deployment succeeds nevertheless, or tells by itself."""
    if not account.aws("sesv2").get_account().get("ProductionAccessEnabled"):
        yield "SES is in the sandbox, where only verified addresses get codes: request production access"
    if (most := executions(account)) < FEWEST_EXECUTIONS:
        yield few_executions(most)
    if is_left_to_production(account) and (what := lacking(account)):
        yield what
    if account.has_distribution() and not account.aws("cloudfront").list_distributions()["DistributionList"]["Quantity"]:
        yield ("this account has no CloudFront distribution yet: if AWS refuses one until the account is verified, ask its "
               "support, and set Distribution=never in samconfig.toml until then")


def executions(account):
    return account.aws("lambda").get_account_settings()["AccountLimit"]["ConcurrentExecutions"]


def few_executions(most):
    return f"Lambda runs at most {most} functions at once in this account: have the quota raised to {FEWEST_EXECUTIONS}"


def clean(account):
    return f".tools/sam/bin/python local/sam/clean {account.stage}"


# What makes a deployment fail.
CHECKS = [check_stack, check_names, check_reservations, check_nodes]
