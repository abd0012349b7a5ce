"""The clients: one that blocks, one that doesn't."""

import asyncio
import math
import time
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import httpx

from .generated.client import Client
from .generated.models import Transaction
from .credentials import Credentials
from .errors import TransactionFailedError, TransactionPendingError, check, retry_after
from .publishing import AsyncPublishing, Publishing
from .retries import AsyncRetryingTransport, Retries, RetryingTransport
from .uploads import AsyncPart, Part

# The service answers within 30 seconds.
_TIMEOUT = 35.0


class Moments(Publishing):
    """A client of one service, for one artist or for none: a method for each operation."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        token: str | None = None,
        retries: Retries = Retries(),
        timeout: float = _TIMEOUT,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.credentials = Credentials(api_key, token)
        #: The generated client under this one, for `moments_client.api`; its functions answer errors instead of raising them.
        self.raw = Client(base_url=base_url)
        transport = RetryingTransport(transport or httpx.HTTPTransport(), retries)
        self._http = httpx.Client(
            base_url=base_url,
            auth=self.credentials,
            timeout=timeout,
            transport=transport,
            follow_redirects=True,
            event_hooks={"request": [self._keep_key]},
        )
        self.raw.set_httpx_client(self._http)

    def wait_for_transaction(self, id: UUID | str, *, wait: float | None = None) -> Transaction:
        """Waits until a transaction is mined; TransactionFailedError if it failed."""
        id = UUID(str(id))
        waiting = _Waiting(wait)
        while not _is_mined(transaction := self.read_transaction(id=id)):
            time.sleep(waiting.pause())
        return transaction

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _keep_key(self, request: httpx.Request) -> None:
        _keep_key(request, self._http.base_url)

    def _send(self, request: dict[str, Any]) -> httpx.Response:
        return check(self._http.request(**request))

    def _write(self, request: dict[str, Any], wait: float | None) -> httpx.Response:
        waiting = _Waiting(wait)
        while _is_unfinished(response := self._http.request(**request)):
            time.sleep(waiting.pause(retry_after(response)))
        return check(response)

    def _put(self, part: Part) -> None:
        part.check(self._http.request(**part.request(part)))


class AsyncMoments(AsyncPublishing):
    """As `Moments`, with methods to await."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        token: str | None = None,
        retries: Retries = Retries(),
        timeout: float = _TIMEOUT,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.credentials = Credentials(api_key, token)
        #: The generated client under this one, for `moments_client.api`; its functions answer errors instead of raising them.
        self.raw = Client(base_url=base_url)
        transport = AsyncRetryingTransport(transport or httpx.AsyncHTTPTransport(), retries)
        self._http = httpx.AsyncClient(
            base_url=base_url,
            auth=self.credentials,
            timeout=timeout,
            transport=transport,
            follow_redirects=True,
            event_hooks={"request": [self._keep_key]},
        )
        self.raw.set_async_httpx_client(self._http)

    async def wait_for_transaction(self, id: UUID | str, *, wait: float | None = None) -> Transaction:
        """Waits until a transaction is mined; TransactionFailedError if it failed."""
        id = UUID(str(id))
        waiting = _Waiting(wait)
        while not _is_mined(transaction := await self.read_transaction(id=id)):
            await asyncio.sleep(waiting.pause())
        return transaction

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _keep_key(self, request: httpx.Request) -> None:
        _keep_key(request, self._http.base_url)

    async def _send(self, request: dict[str, Any]) -> httpx.Response:
        return check(await self._http.request(**request))

    async def _write(self, request: dict[str, Any], wait: float | None) -> httpx.Response:
        waiting = _Waiting(wait)
        while _is_unfinished(response := await self._http.request(**request)):
            await asyncio.sleep(waiting.pause(retry_after(response)))
        return check(response)

    async def _put(self, part: Part) -> None:
        part.check(await self._http.request(**part.request(AsyncPart(part))))


class _Waiting:
    """The time that a transaction has to be mined."""

    def __init__(self, most: float | None) -> None:
        self._most = math.inf if most is None else most
        self._end = time.monotonic() + self._most

    def pause(self, asked: float | None = None) -> float:
        """Seconds until the next look."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TransactionPendingError(f"Not mined within {self._most:g} seconds")
        return min(asked or 2.0, left)


def _keep_key(request: httpx.Request, service: httpx.URL) -> None:
    """Another host, to which an answer leads, doesn't get the key."""
    url = request.url
    if (url.scheme, url.host, url.port) != (service.scheme, service.host, service.port):
        request.headers.pop("x-api-key", None)


def _is_unfinished(response: httpx.Response) -> bool:
    """Whether the same request under the same key is still to be answered with what became of it."""
    return response.status_code == 202 or (response.status_code == 409 and retry_after(response) is not None)


def _is_mined(transaction: Transaction) -> bool:
    if transaction.status in ("reverted", "failed"):
        raise TransactionFailedError(transaction)
    return transaction.status == "mined"
