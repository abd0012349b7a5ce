"""A typed client of the Moments API, sync and async."""

from . import models
from .generated.types import UNSET, Unset
from .amounts import ETHER_DECIMALS, NO_END, USDC_DECIMALS, format_amount, parse_amount, sale_end
from .client import AsyncMoments, Moments
from .credentials import Credentials
from .errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    MomentsError,
    NotFoundError,
    PaymentRequiredError,
    RateLimitedError,
    ServiceError,
    TransactionFailedError,
    TransactionPendingError,
    UnauthorizedError,
    UnprocessableError,
)
from .publishing import Published
from .retries import Retries
from .uploads import Progress
from .webhooks import InvalidWebhookError, verify_webhook

__all__ = [
    "ETHER_DECIMALS",
    "NO_END",
    "UNSET",
    "USDC_DECIMALS",
    "AsyncMoments",
    "ConflictError",
    "Credentials",
    "ForbiddenError",
    "InvalidInputError",
    "InvalidWebhookError",
    "Moments",
    "MomentsError",
    "NotFoundError",
    "PaymentRequiredError",
    "Progress",
    "Published",
    "RateLimitedError",
    "Retries",
    "ServiceError",
    "TransactionFailedError",
    "TransactionPendingError",
    "UnauthorizedError",
    "UnprocessableError",
    "Unset",
    "format_amount",
    "models",
    "parse_amount",
    "sale_end",
    "verify_webhook",
]
