"""What type-checks, and what must not: an unused `ignore` is an error, too."""

from moments_client import AsyncMoments, Moments
from moments_client.models import Moment, MomentRef, Sale, SalesConfig

moments = Moments("https://example.com/api")
moment = MomentRef("0x1", "1")


def reads() -> str | None:
    page = moments.list_timeline(period="week")
    moments.list_timeline(period="year")  # type: ignore[arg-type]
    moments.read_moment(token_id="1")  # type: ignore[call-arg]
    moments.read_nothing()  # type: ignore[attr-defined]
    rows: list[Moment] = list(moments.iterate_timeline(limit=5))
    sale: Sale | None = (page.moments + rows)[0].sale
    end: str = sale.sale_end  # type: ignore[union-attr]
    return end


def writes() -> str:
    moments.update_sale(moment=moment, sale_end=1)
    moments.update_sale(moment=moment, sale_end="1", wait=60)
    moments.update_sale(moment=moment, price_per_token=0.1)  # type: ignore[arg-type]
    moments.update_sale(sale_end=1)  # type: ignore[call-arg]
    SalesConfig(type_="auction", price_per_token="0", sale_start=0, sale_end=1)  # type: ignore[arg-type]
    return moments.create_collection(name="Tides", uri="ar://tides").contract_address


async def waits(client: AsyncMoments) -> None:
    rows: list[Moment] = [it async for it in client.iterate_timeline()]
    hash_: str | None = (await client.update_sale(moment=moment, sale_end=1)).hash_
    del rows, hash_


def files() -> str:
    uri: str = moments.upload("tides.png").uri
    moments.upload(b"", content_type="image/tiff")  # type: ignore[arg-type]
    moments.publish("tides.png")  # type: ignore[call-arg]
    moments.publish("tides.png", title=uri, price=0.01)  # type: ignore[arg-type]
    published = moments.publish("tides.png", title=uri, price="0.01 ETH")
    moments.collect_moment(moment=published.moment, amount=1)
    return published.page  # type: ignore[return-value]
