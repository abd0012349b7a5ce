"""Publishing: a file is uploaded, and a moment is made of it."""

import asyncio
import time
from dataclasses import dataclass

import httpx

from .errors import MomentsError
from .generated.models import (
    CreateMomentResponse,
    ExistingContract,
    MetadataAttribute,
    MetadataRequest,
    MomentRef,
    NewContract,
    SalesConfig,
    StoredMedia,
    TokenWithMetadata,
    UploadType,
)
from .generated.types import UNSET
from .prices import is_free, sale_at
from .uploads import AsyncUploading, Content, OnProgress, Uploading

# The index follows the chain by a second or two.
_TRIES = 20
_PAUSE = 0.5


@dataclass(frozen=True)
class Published:
    """A published moment."""

    #: Its collection's contract.
    collection_address: str
    #: Its token there.
    token_id: str
    #: The chain of both.
    chain_id: int
    #: The transaction that made it.
    hash_: str
    #: URI of the file.
    uri: str
    #: Its page for people; none if it couldn't be read some seconds after it was mined.
    page: str | None

    @property
    def moment(self) -> MomentRef:
        """The moment, as other methods take it."""
        return MomentRef(self.collection_address, self.token_id, self.chain_id)


class Publishing(Uploading):
    """Operations, uploads and publishing."""

    def publish(
        self,
        content: Content,
        *,
        title: str,
        description: str | None = None,
        alt: str | None = None,
        price: str = "free",
        copies: int | str | None = None,
        collection: str | None = None,
        new_collection: str | None = None,
        cover: Content | None = None,
        royalty_bps: int | None = None,
        chain_id: int | None = None,
        content_type: UploadType | None = None,
        on_progress: OnProgress | None = None,
        idempotency_key: str | None = None,
        wait: float | None = None,
    ) -> Published:
        """Uploads a file and publishes it as a moment; returns once that is mined.

        `alt` says what it shows, for people who can't see it. `price` is what a copy costs: `0.01 ETH`, `5 USDC` or `free`.
        `copies` are the most that there can be. `collection` is the address of one of yours, `new_collection` the name of
        one to make; without both it is your own one. `cover` is the picture of a film, a sound or a model. `royalty_bps`
        are hundredths of a percent. The same `idempotency_key` publishes once. `wait` is as for other writes."""
        # What is wrong is said before anything is sent.
        _only_one(collection, new_collection)
        sale = SalesConfig() if is_free(price) else sale_at(price, self.list_chains(), chain_id)
        file = self.upload(content, content_type=content_type, on_progress=on_progress)
        picture = self.upload(cover).uri if cover is not None else None
        metadata = _metadata(title, description, alt, file, picture)
        contract: ExistingContract | NewContract | None = None if collection is None else ExistingContract(collection)
        if new_collection is not None:
            stored = self.create_metadata(name=new_collection, image=metadata.image)
            contract = NewContract(new_collection, stored.uri)
        created = self.create_moment(
            token=_token(metadata, sale, copies, royalty_bps),
            contract=contract,
            chain_id=chain_id,
            idempotency_key=idempotency_key,
            wait=wait,
        )
        return _published(created, file, self._page(created))

    def _page(self, created: CreateMomentResponse) -> str | None:
        """The moment's page. It is published in any case, so nothing is raised."""
        for _ in range(_TRIES):
            try:
                return self.read_moment(
                    collection_address=created.contract_address, token_id=created.token_id, chain_id=created.chain_id
                ).page
            except (MomentsError, httpx.TransportError):
                time.sleep(_PAUSE)
        return None


class AsyncPublishing(AsyncUploading):
    """Operations, uploads and publishing."""

    async def publish(
        self,
        content: Content,
        *,
        title: str,
        description: str | None = None,
        alt: str | None = None,
        price: str = "free",
        copies: int | str | None = None,
        collection: str | None = None,
        new_collection: str | None = None,
        cover: Content | None = None,
        royalty_bps: int | None = None,
        chain_id: int | None = None,
        content_type: UploadType | None = None,
        on_progress: OnProgress | None = None,
        idempotency_key: str | None = None,
        wait: float | None = None,
    ) -> Published:
        """As `Moments.publish`."""
        _only_one(collection, new_collection)
        sale = SalesConfig() if is_free(price) else sale_at(price, await self.list_chains(), chain_id)
        file = await self.upload(content, content_type=content_type, on_progress=on_progress)
        picture = (await self.upload(cover)).uri if cover is not None else None
        metadata = _metadata(title, description, alt, file, picture)
        contract: ExistingContract | NewContract | None = None if collection is None else ExistingContract(collection)
        if new_collection is not None:
            stored = await self.create_metadata(name=new_collection, image=metadata.image)
            contract = NewContract(new_collection, stored.uri)
        created = await self.create_moment(
            token=_token(metadata, sale, copies, royalty_bps),
            contract=contract,
            chain_id=chain_id,
            idempotency_key=idempotency_key,
            wait=wait,
        )
        return _published(created, file, await self._page(created))

    async def _page(self, created: CreateMomentResponse) -> str | None:
        for _ in range(_TRIES):
            try:
                return (await self.read_moment(
                    collection_address=created.contract_address, token_id=created.token_id, chain_id=created.chain_id
                )).page
            except (MomentsError, httpx.TransportError):
                await asyncio.sleep(_PAUSE)
        return None


def _only_one(collection: str | None, new_collection: str | None) -> None:
    if collection is not None and new_collection is not None:
        raise ValueError("Give collection or new_collection, not both")


def _metadata(title: str, description: str | None, alt: str | None, file: StoredMedia, cover: str | None) -> MetadataRequest:
    is_picture = file.content_type.startswith("image/")
    image = file.uri if is_picture else cover
    return MetadataRequest(
        name=title,
        description=description or UNSET,
        image=image or UNSET,
        animation_url=UNSET if is_picture else file.uri,
        attributes=[MetadataAttribute("Alt text", alt)] if alt else UNSET,
    )


def _token(
    metadata: MetadataRequest, sale: SalesConfig, copies: int | str | None, royalty_bps: int | None
) -> TokenWithMetadata:
    # None is what isn't given.
    return TokenWithMetadata(metadata=metadata, sales_config=sale, max_supply=copies, royalty_bps=royalty_bps)


def _published(created: CreateMomentResponse, file: StoredMedia, page: str | None) -> Published:
    return Published(created.contract_address, created.token_id, created.chain_id, created.hash_, file.uri, page)
