"""Repetition of requests that failed for a while."""

import asyncio
import itertools
import random
import time
from dataclasses import dataclass

import httpx

from .errors import retry_after

#: The extension of a request that does the same however often it is sent.
REPEATABLE = {"moments.repeatable": True}


@dataclass(frozen=True)
class Retries:
    """How often and how long a request is repeated."""

    #: Repetitions at most; 0 for none.
    most: int = 3
    #: Longest pause before one, in seconds; what asks for more is not repeated.
    longest_pause: float = 30

    def pause(self, request: httpx.Request, tried: int, response: httpx.Response | None) -> float | None:
        """Seconds until the next try; none if there is to be none."""
        # The service answers an Idempotency-Key that it knows with what became of the first request.
        is_safe = request.method in ("GET", "HEAD") or "idempotency-key" in request.headers or _is_repeatable(request)
        asked = retry_after(response) if response else None
        if tried >= self.most or not self._may_repeat(response, is_safe, asked) or (asked or 0) > self.longest_pause:
            return None
        return min(max(asked or 0, 0.25 * 2.0**tried * random.uniform(0.5, 1.5)), self.longest_pause)

    @staticmethod
    def _may_repeat(response: httpx.Response | None, is_safe: bool, asked: float | None) -> bool:
        if response is None:
            return is_safe
        # Nothing was done. The gateway's own 503, which may come after the deed, names no time.
        if response.status_code == 429 or (response.status_code == 503 and asked is not None):
            return True
        return is_safe and response.status_code in (500, 502, 503, 504)


def _is_repeatable(request: httpx.Request) -> bool:
    """Whether the request does the same however often it is sent."""
    return REPEATABLE.keys() <= request.extensions.keys()


class RetryingTransport(httpx.BaseTransport):
    """Repeats what failed for a while, over another transport."""

    def __init__(self, inner: httpx.BaseTransport, retries: Retries) -> None:
        self._inner = inner
        self._retries = retries

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends the request until it is answered, or not worth another try."""
        for tried in itertools.count():
            response = None
            try:
                response = self._inner.handle_request(request)
                # An answer that breaks off is asked for again, too.
                response.read()
            except httpx.TransportError:
                pause = self._retries.pause(request, tried, None)
                if pause is None:
                    raise
            else:
                pause = self._retries.pause(request, tried, response)
                if pause is None:
                    return response
            finally:
                if response is not None:
                    response.close()
            time.sleep(pause)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Closes its connections."""
        self._inner.close()


class AsyncRetryingTransport(httpx.AsyncBaseTransport):
    """Repeats what failed for a while, over another transport."""

    def __init__(self, inner: httpx.AsyncBaseTransport, retries: Retries) -> None:
        self._inner = inner
        self._retries = retries

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends the request until it is answered, or not worth another try."""
        for tried in itertools.count():
            response = None
            try:
                response = await self._inner.handle_async_request(request)
                await response.aread()
            except httpx.TransportError:
                pause = self._retries.pause(request, tried, None)
                if pause is None:
                    raise
            else:
                pause = self._retries.pause(request, tried, response)
                if pause is None:
                    return response
            finally:
                if response is not None:
                    await response.aclose()
            await asyncio.sleep(pause)
        raise AssertionError("unreachable")

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._inner.aclose()
