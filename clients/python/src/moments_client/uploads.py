"""Uploads: a file's parts go to the addresses that the service names, then the service hashes it."""

import asyncio
import mimetypes
import os
import time
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx

from .errors import ConflictError, MomentsError
from .generated.api.media import complete_upload
from .generated.models import CreateUploadResponse, StoredMedia, UploadInProgress, UploadPart, UploadType
from .generated.models.upload_type import UPLOAD_TYPE_VALUES
from .generated.operations import AsyncOperations, Operations
from .retries import REPEATABLE

_CHUNK = 256 << 10

#: What can be uploaded: a file by its path, or bytes.
Content = str | os.PathLike[str] | bytes


@dataclass(frozen=True)
class Progress:
    """How far an upload is."""

    #: First the bytes are sent, then the service hashes them.
    step: Literal["sending", "hashing"]
    #: Bytes of this step that are done.
    done: int
    #: Bytes in all.
    size: int


#: Is told how far an upload is.
OnProgress = Callable[[Progress], None]


class Uploading(Operations):
    """Operations, and uploads."""

    def upload(
        self, content: Content, *, content_type: UploadType | None = None, on_progress: OnProgress | None = None
    ) -> StoredMedia:
        """Stores a picture, film, sound, model, PDF or text of up to 2 GiB: `uri` is its name for metadata and moments.

        Unless its type is given, the file's name says it, or the service finds it in the content."""
        file = _File(content, content_type, on_progress)
        begun = self.create_upload(content_type=file.content_type, size=file.size)
        for part in file.parts(begun):
            self._put(part)
        while True:
            try:
                answer = self._send(_completion(begun))
            except ConflictError as error:
                time.sleep(_pause(error))
                continue
            if stored := file.stored(answer):
                return stored
            time.sleep(1)

    @abstractmethod
    def _put(self, part: "Part") -> None:
        """Sends a part of a file."""


class AsyncUploading(AsyncOperations):
    """Operations, and uploads."""

    async def upload(
        self, content: Content, *, content_type: UploadType | None = None, on_progress: OnProgress | None = None
    ) -> StoredMedia:
        """Stores a picture, film, sound, model, PDF or text of up to 2 GiB: `uri` is its name for metadata and moments.

        Unless its type is given, the file's name says it, or the service finds it in the content."""
        file = _File(content, content_type, on_progress)
        begun = await self.create_upload(content_type=file.content_type, size=file.size)
        for part in file.parts(begun):
            await self._put(part)
        while True:
            try:
                answer = await self._send(_completion(begun))
            except ConflictError as error:
                await asyncio.sleep(_pause(error))
                continue
            if stored := file.stored(answer):
                return stored
            await asyncio.sleep(1)

    @abstractmethod
    async def _put(self, part: "Part") -> None:
        """Sends a part of a file."""


class _File:
    """A file to upload, and who is told of it."""

    def __init__(self, content: Content, content_type: UploadType | None, on_progress: OnProgress | None) -> None:
        self.content = content if isinstance(content, bytes) else Path(content)
        self.size = len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size
        self.content_type = content_type or _type_of(self.content)
        self._on_progress = on_progress

    def parts(self, begun: CreateUploadResponse) -> "list[Part]":
        """Its parts, in order."""
        self.tell("sending", 0)
        return [Part(self, part) for part in begun.parts]

    def stored(self, answer: httpx.Response) -> StoredMedia | None:
        """The answer to its completion; none while it is hashed in part."""
        if answer.status_code != 202:
            return StoredMedia.from_dict(answer.json())
        self.tell("hashing", UploadInProgress.from_dict(answer.json()).hashed)
        return None

    def tell(self, step: Literal["sending", "hashing"], done: int) -> None:
        """Tells how far it is."""
        if self._on_progress:
            self._on_progress(Progress(step, done, self.size))


class Part:
    """A part of a file, which can be read again."""

    def __init__(self, file: _File, part: UploadPart) -> None:
        self._file = file
        self._begin, self._end = part.offset, part.offset + part.size
        self._url = part.url

    def request(self, content: "Part | AsyncPart") -> dict[str, Any]:
        """The request that sends it; the address is signed, so that no credential goes along."""
        return {
            "method": "PUT",
            "url": self._url,
            "content": content,
            "auth": None,
            "headers": {"content-length": str(self._end - self._begin)},
            "extensions": REPEATABLE,
        }

    def check(self, response: httpx.Response) -> None:
        """Raises what the storage didn't take."""
        if not response.is_success:
            where = f"bytes {self._begin} to {self._end} with {response.status_code}"
            raise MomentsError(response, f"The storage refused {where}: upload the file again")

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Where its pieces begin and end."""
        return ((begin, min(begin + _CHUNK, self._end)) for begin in range(self._begin, self._end, _CHUNK))

    def piece(self, begin: int, end: int) -> bytes:
        """A piece of the file."""
        if isinstance(self._file.content, bytes):
            return self._file.content[begin:end]
        with self._file.content.open("rb") as file:
            file.seek(begin)
            return file.read(end - begin)

    def sent(self, end: int) -> None:
        """Tells how much has left."""
        self._file.tell("sending", end)

    def __iter__(self) -> Iterator[bytes]:
        for begin, end in self.chunks():
            yield self.piece(begin, end)
            self.sent(end)


class AsyncPart:
    """A part for an async client."""

    def __init__(self, part: Part) -> None:
        self._part = part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for begin, end in self._part.chunks():
            yield await asyncio.to_thread(self._part.piece, begin, end)
            self._part.sent(end)


def _type_of(content: bytes | Path) -> UploadType:
    guessed = None if isinstance(content, bytes) else mimetypes.guess_type(content.name)[0]
    return next((known for known in UPLOAD_TYPE_VALUES if known == guessed), "application/octet-stream")


def _completion(begun: CreateUploadResponse) -> dict[str, Any]:
    return {**complete_upload._get_kwargs(id=begun.upload_id), "extensions": REPEATABLE}


def _pause(error: ConflictError) -> float:
    """Seconds until an earlier request, whose answer was lost, may have hashed it."""
    if error.retry_after is None:
        raise error
    return error.retry_after
