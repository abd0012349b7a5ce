"""Copies of the tables in another region's vault (`CopyRegion`)."""

import datetime

from botocore.exceptions import ClientError

# Nobody deletes a copy before, unless he takes away the lock first.
LEAST_DAYS = 30
# A copy is made each day.
OLDEST = datetime.timedelta(days=2)


def make_vault(account):
    """Makes the other region's vault and locks it, if copies are wanted."""
    if not (region := account.parameter("CopyRegion")):
        return
    backup = account.aws("backup", region)
    try:
        backup.create_backup_vault(BackupVaultName=account.name, BackupVaultTags={"service": "moments"})
    except ClientError as error:
        if error.response["Error"]["Code"] != "AlreadyExistsException":
            raise
    backup.put_backup_vault_lock_configuration(BackupVaultName=account.name, MinRetentionDays=LEAST_DAYS)


def check_copies(stage):
    """What is wrong with a deployed stage's copies."""
    region = stage.parameters.get("CopyRegion")
    if not region:
        if stage.parameters["Stage"] == "production":
            yield "no copy of the tables leaves the region: set CopyRegion in samconfig.toml"
        return
    backup, place = stage.account.aws("backup", region), f"the vault {stage.name} in {region}"
    try:
        vault = backup.describe_backup_vault(BackupVaultName=stage.name)
    except ClientError as error:
        # AWS answers the same to whoever may not look.
        if error.response["Error"]["Code"] not in ("AccessDeniedException", "ResourceNotFoundException"):
            raise
        yield f"{place} isn't there, or you may not see it: run make deploy"
        return
    if not vault.get("Locked"):
        yield f"{place} isn't locked, so that whoever has the account can delete the copies: run make deploy"
    pages = backup.get_paginator("list_recovery_points_by_backup_vault").paginate(BackupVaultName=stage.name)
    copies = [each for page in pages for each in page["RecoveryPoints"] if each["Status"] == "COMPLETED"]
    for table in ("artists", "secrets"):
        dates = [each["CreationDate"] for each in copies if each["ResourceArn"].endswith(f"/{stage.name}-{table}")]
        if not dates or datetime.datetime.now(datetime.timezone.utc) - max(dates) > OLDEST:
            newest = max(dates).date() if dates else "none"
            yield (f"{place} has no copy of {stage.name}-{table} of the last two days (newest: {newest}): see the copy jobs of "
                   "AWS Backup, whose advanced features for DynamoDB must be on")
