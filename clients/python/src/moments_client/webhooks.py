"""Signatures of webhooks, as the specification Standard Webhooks says."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any


class InvalidWebhookError(Exception):
    """A webhook's signature is wrong, missing or too old."""


def verify_webhook(
    secret: str | Sequence[str], headers: Mapping[str, str], body: str | bytes, *, tolerance: float = 300
) -> Any:
    """Checks a webhook's signature, and answers its parsed body.

    `secret` is the endpoint's, `whsec_…`, or both of them while one is being replaced. `body` is the request's as it was
    received, not as it was parsed. The message may be `tolerance` seconds old, or ahead of the clock."""
    named = {name.lower(): value for name, value in headers.items()}
    wanted = ("webhook-id", "webhook-timestamp", "webhook-signature")
    missing = [name for name in wanted if name not in named]
    if missing:
        raise InvalidWebhookError(f"The header {missing[0]} is missing")
    id, timestamp, signatures = (named[name] for name in wanted)
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > tolerance:
        raise InvalidWebhookError("The message is too old or too new")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{id}.{timestamp}.".encode() + content
    offered = [signature[3:].encode() for signature in signatures.split(" ") if signature.startswith("v1,")]
    for text in [secret] if isinstance(secret, str) else secret:
        expected = base64.b64encode(hmac.digest(_key(text), signed, hashlib.sha256))
        # Each is compared, so that the time says nothing.
        if any([hmac.compare_digest(expected, signature) for signature in offered]):
            return json.loads(content)
    raise InvalidWebhookError("The signature is wrong")


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise InvalidWebhookError("The secret isn't one of a webhook")
    return key
