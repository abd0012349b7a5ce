"""Errors, as classes."""

import httpx

from .generated.models import FieldError, Transaction


class MomentsError(Exception):
    """An answer that isn't a success."""

    def __init__(self, response: httpx.Response, message: str | None = None) -> None:
        body = _object_of(response)
        errors = body.get("errors")
        #: The wrong fields, each with its dotted path.
        self.fields = [FieldError.from_dict(error) for error in errors] if isinstance(errors, list) else []
        # The service's message names the first of several wrong fields.
        wrong = "; ".join(f"{error.field} {error.message}" for error in self.fields)
        super().__init__(message or wrong or body.get("message") or f"The service answered {response.status_code}")
        #: The answer's status.
        self.status = response.status_code
        #: Id of the request in the service's logs: quote it when you ask for help.
        self.request_id = response.headers.get("x-request-id")
        #: Seconds until a retry makes sense.
        self.retry_after = retry_after(response)
        #: Ids of the request's transactions.
        self.transaction_ids = [it.strip() for it in response.headers.get("transaction-id", "").split(",") if it.strip()]


class InvalidInputError(MomentsError):
    """400: `fields` names each wrong field."""


class UnauthorizedError(MomentsError):
    """401: no credential, or one that is wrong, expired or revoked."""


class PaymentRequiredError(MomentsError):
    """402: the artist's account can't pay for this."""


class ForbiddenError(MomentsError):
    """403: the artist may not do this."""


class NotFoundError(MomentsError):
    """404: it doesn't exist."""


class ConflictError(MomentsError):
    """409: the current state doesn't allow it."""


class UnprocessableError(MomentsError):
    """422: valid, and the chain refuses it; the message has the contract's reason."""


class RateLimitedError(MomentsError):
    """429: a limit is used up."""


class ServiceError(MomentsError):
    """5xx: a fault of the service, or of one that it needs."""


class TransactionPendingError(TimeoutError):
    """Not mined within the time that was given, and may still be: the same call with the same key waits on."""


class TransactionFailedError(Exception):
    """A transaction ended without doing what was asked."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction.reason or f"The transaction {transaction.id} {transaction.status}")
        self.transaction = transaction


_CLASSES: dict[int, type[MomentsError]] = {
    400: InvalidInputError,
    401: UnauthorizedError,
    402: PaymentRequiredError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    422: UnprocessableError,
    429: RateLimitedError,
}


def check(response: httpx.Response) -> httpx.Response:
    """The answer, if it is a success."""
    if response.is_success:
        return response
    raise _CLASSES.get(response.status_code, ServiceError if response.is_server_error else MomentsError)(response)


def retry_after(response: httpx.Response) -> float | None:
    """Seconds until a retry makes sense, if the answer says so."""
    value = response.headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() else None


def _object_of(response: httpx.Response) -> dict[str, object]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
