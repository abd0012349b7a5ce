"""Who a client acts for."""

from collections.abc import Generator
from dataclasses import dataclass

import httpx


@dataclass
class Credentials(httpx.Auth):
    """An artist's key and token, either or both; a change holds from the next request on."""

    api_key: str | None = None
    token: str | None = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds them to a request."""
        if self.api_key:
            request.headers["x-api-key"] = self.api_key
        if self.token:
            request.headers["authorization"] = f"Bearer {self.token}"
        yield request

    def __repr__(self) -> str:
        return "Credentials(…)"
