"""What the generated operations are sent with."""

import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import parse_qsl

import httpx

from .credentials import Credentials


class Sender(ABC):
    """Sends the requests of operations."""

    #: Who it acts for.
    credentials: Credentials

    @abstractmethod
    def _send(self, request: dict[str, Any]) -> httpx.Response:
        """Sends a request, and raises what isn't a success."""

    @abstractmethod
    def _write(self, request: dict[str, Any], wait: float | None) -> httpx.Response:
        """Sends a request until its transactions are mined."""

    def _pages(self, request: dict[str, Any]) -> Iterator[httpx.Response]:
        following: dict[str, Any] | None = request
        while following:
            response = self._send(following)
            yield response
            following = _next(following, response)


class AsyncSender(ABC):
    """Sends the requests of operations."""

    #: Who it acts for.
    credentials: Credentials

    @abstractmethod
    async def _send(self, request: dict[str, Any]) -> httpx.Response:
        """Sends a request, and raises what isn't a success."""

    @abstractmethod
    async def _write(self, request: dict[str, Any], wait: float | None) -> httpx.Response:
        """Sends a request until its transactions are mined."""

    async def _pages(self, request: dict[str, Any]) -> AsyncIterator[httpx.Response]:
        following: dict[str, Any] | None = request
        while following:
            response = await self._send(following)
            yield response
            following = _next(following, response)


def new_key() -> str:
    """An `Idempotency-Key` that nobody used."""
    return str(uuid.uuid4())


def _next(request: dict[str, Any], response: httpx.Response) -> dict[str, Any] | None:
    """The request for the next page, which an answer's `Link` names."""
    link = re.search(r'<[^>?]*\?([^>]*)>;\s*rel="next"', response.headers.get("link", ""))
    return {**request, "params": parse_qsl(link[1], keep_blank_values=True)} if link else None
