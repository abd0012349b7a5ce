"""The Python client against the running service: reads, pages, writes, uploads, errors and retries, sync and async."""

import asyncio
import base64
import datetime
import json
import os
import re
import time
import unittest
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import httpx
import standardwebhooks

from moments_client import (
    NO_END,
    AsyncMoments,
    InvalidInputError,
    InvalidWebhookError,
    Moments,
    MomentsError,
    NotFoundError,
    PaymentRequiredError,
    Progress,
    RateLimitedError,
    Retries,
    ServiceError,
    TransactionPendingError,
    UnauthorizedError,
    format_amount,
    parse_amount,
    sale_end,
    verify_webhook,
)
from moments_client.generated.api.moments import read_moment
from moments_client.models import (
    Error,
    ExistingContract,
    Metadata,
    Moment,
    MomentRef,
    MomentToken,
    NewContract,
    Sale,
    SalesConfig,
)

with open(os.environ["MOMENTS_STACK"]) as file:
    STACK = json.load(file)
API: str = STACK["api"]
# Seconds after which what must come is missing.
PATIENCE = float(os.environ["PATIENCE"])
NOWHERE = "0x" + "1" * 40
PICTURE = Path(__file__).parents[3] / "docs/manage.png"
T = TypeVar("T")


def unused_email() -> str:
    return f"{uuid.uuid4().hex}@example.com"


def code_for(email: str) -> str:
    def read() -> str:
        boxes = httpx.get(STACK["mail"], timeout=PATIENCE).json()["messages"].values()
        mails = [mail["BodyText"] for box in boxes for mail in box if email in mail["To"]]
        codes: list[str] = re.findall(r"sign-in code is (\d{6})", "\n".join(mails))
        assert codes, f"no code was mailed to {email}"
        return codes[-1]

    return until(read)


def new_artist(transport: httpx.BaseTransport | None = None) -> tuple[Moments, str]:
    moments, email = Moments(API, transport=transport), unused_email()
    moments.send_code(email=email)
    account = moments.log_in(email=email, code=code_for(email)).social_wallet
    moments.create_api_key(name="test")
    return moments, account


def until(read: Callable[[], T]) -> T:
    """Asks until the index has it."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return read()
        except (NotFoundError, AssertionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def publish(moments: Moments) -> tuple[MomentRef, Sale]:
    sale = SalesConfig(type_="fixedPrice", price_per_token="0", sale_start=0, sale_end=NO_END)
    created = moments.create_moment(
        contract=NewContract(name="Tides", uri="ar://tides"),
        token=MomentToken(token_metadata_uri="ar://tides/1", sales_config=sale),
    )
    moment = MomentRef(created.contract_address, created.token_id)
    return moment, until(lambda: sale_of(moments, moment))


def sale_of(moments: Moments, moment: MomentRef) -> Sale:
    sale = moments.read_moment(collection_address=moment.collection_address, token_id=moment.token_id).sale
    assert isinstance(sale, Sale)
    return sale


def shown(moments: Moments, moment: MomentRef) -> tuple[Moment, Metadata]:
    """The moment, as soon as its metadata is fetched."""

    def read() -> tuple[Moment, Metadata]:
        found = moments.read_moment(collection_address=moment.collection_address, token_id=moment.token_id)
        assert found.metadata
        return found, found.metadata

    return until(read)


class Losing(httpx.HTTPTransport):
    """Loses the answer to the first write."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        if key := request.headers.get("idempotency-key"):
            self.keys.append(key)
            if len(self.keys) == 1:
                raise httpx.ReadError("connection lost")
        return answer


class Client(unittest.TestCase):
    def test_a_sale_is_read_edited_and_sent_back(self) -> None:
        moments, _ = new_artist()
        moment, sale = publish(moments)
        self.assertEqual((sale.sale_end, sale_end(sale)), (NO_END, None))
        price = str(parse_amount("0.002", 18))
        moments.update_sale(
            moment=moment,
            sale_start=sale.sale_start,
            sale_end=sale.sale_end,
            max_tokens_per_address=3,
            funds_recipient=sale.funds_recipient,
            price_per_token=price,
        )

        def changed() -> Sale:
            found = sale_of(moments, moment)
            assert found.price_per_token == price
            return found

        expected = {**sale.to_dict(), "pricePerToken": price, "maxTokensPerAddress": "3"}
        self.assertEqual(until(changed).to_dict(), expected)
        self.assertEqual(format_amount(price, 18), "0.002")

    def test_a_list_is_read_page_after_page(self) -> None:
        moments, _ = new_artist()
        sale = SalesConfig(type_="timed", price_per_token="0", sale_start=0, sale_end=1)
        tokens = [MomentToken(token_metadata_uri=f"ar://tides-{number}", sales_config=sale) for number in range(5)]
        created = moments.create_moments(contract=NewContract(name="Tides", uri="ar://tides"), tokens=[*tokens])
        collection = created.contract_address

        def found() -> list[str]:
            ids = [moment.token_id for moment in moments.iterate_timeline(collection=collection, limit=2)]
            assert len(ids) == 5
            return ids

        self.assertEqual(sorted(until(found)), sorted(created.token_ids))
        sizes = [len(page.moments) for page in moments.timeline_pages(collection=collection, limit=2, page=2)]
        self.assertEqual(sizes, [2, 1])

    def test_a_lost_answer_is_asked_for_again_and_the_write_is_not_repeated(self) -> None:
        transport = Losing()
        moments, _ = new_artist(transport)
        moments.create_collection(name="Tides", uri="ar://tides")
        self.assertEqual(len(set(transport.keys)), 1)
        self.assertGreaterEqual(len(transport.keys), 2)
        transactions = list(moments.iterate_transactions())
        self.assertEqual(len(transactions), 1)
        self.assertEqual(moments.wait_for_transaction(transactions[0].id).status, "mined")

    def test_errors_say_which_fields_are_wrong_and_what_cannot_be_done(self) -> None:
        moments, _ = new_artist()
        with self.assertRaises(InvalidInputError) as wrong:
            moments.update_sale(moment=MomentRef("0x1", "-1"))
        fields = [error.field for error in wrong.exception.fields]
        self.assertEqual(fields[:2], ["moment.collectionAddress", "moment.tokenId"])
        self.assertTrue(wrong.exception.request_id)
        self.assertIn("moment.tokenId must be", str(wrong.exception))
        with self.assertRaises(UnauthorizedError):
            Moments(API, api_key="moments_x").migrate_moments()
        with self.assertRaises(NotFoundError):
            moments.read_moment(collection_address=NOWHERE, token_id="1")
        moment, _ = publish(moments)
        with self.assertRaises(PaymentRequiredError):
            moments.collect_moment(moment=moment, amount=1)
        answer = read_moment.sync(client=moments.raw, collection_address=NOWHERE, token_id="1")
        self.assertIsInstance(answer, Error)

    def test_a_key_and_a_token_each_do(self) -> None:
        both, _ = new_artist()
        both.create_collection(name="Tides", uri="ar://tides")
        ids = [it.id for it in both.list_transactions().transactions]
        self.assertEqual(len(ids), 1)
        for key, token in ((both.credentials.api_key, None), (None, both.credentials.token)):
            with Moments(API, api_key=key, token=token) as moments:
                self.assertEqual([it.id for it in moments.list_transactions().transactions], ids)
        self.assertNotIn(str(both.credentials.token), repr(both.credentials))
        both.log_out()
        self.assertIsNone(both.credentials.token)

    def test_async(self) -> None:
        credentials = new_artist()[0].credentials

        async def run() -> None:
            async with AsyncMoments(API, api_key=credentials.api_key, token=credentials.token) as moments:
                created = await moments.create_collection(name="Tides", uri="ar://tides")
                sale = SalesConfig(type_="timed", price_per_token="0", sale_start=0, sale_end=1)
                tokens = [MomentToken(token_metadata_uri=f"ar://tides-{number}", sales_config=sale) for number in range(3)]
                await moments.create_moments(contract=ExistingContract(created.contract_address), tokens=[*tokens])
                found: list[Moment] = []
                end = time.monotonic() + PATIENCE
                while len(found) < 3:
                    self.assertLess(time.monotonic(), end, "the moments aren't on the timeline")
                    found = [it async for it in moments.iterate_timeline(collection=created.contract_address, limit=2)]
                    await asyncio.sleep(0.2)
                pages = [len(page.moments) async for page in moments.timeline_pages(collection=created.contract_address, limit=2)]
                self.assertEqual(pages, [2, 1])
                for transaction in (await moments.list_transactions()).transactions:
                    self.assertEqual((await moments.wait_for_transaction(str(transaction.id))).status, "mined")
                with self.assertRaises(NotFoundError):
                    await moments.read_moment(collection_address=NOWHERE, token_id="1")

        asyncio.run(run())


class Files(unittest.TestCase):
    def test_a_picture_is_uploaded_published_and_read(self) -> None:
        moments, _ = new_artist()
        told: list[Progress] = []
        stored = moments.upload(PICTURE, on_progress=told.append)
        self.assertEqual(stored.content_type, "image/png")
        self.assertEqual(httpx.get(stored.url).content, PICTURE.read_bytes())
        size = PICTURE.stat().st_size
        self.assertEqual(told[:2], [Progress("sending", 0, size), Progress("sending", size, size)])
        published = moments.publish(
            str(PICTURE),
            title="High water",
            description="At four",
            alt="A page",
            price="0.01 ETH",
            copies=5,
            new_collection="Tides",
        )
        self.assertRegex(published.hash_, "^0x[0-9a-f]{64}$")
        self.assertEqual(published.uri, stored.uri)
        moment, metadata = shown(moments, published.moment)
        self.assertEqual(published.page, moment.page)
        words = (metadata.name, metadata.description, metadata.alt, metadata.image)
        self.assertEqual(words, ("High water", "At four", "A page", stored.uri))
        sale = moment.sale
        assert sale
        terms = (sale.type_, sale.price_per_token, moment.supply.max_, moment.collection.name)
        self.assertEqual(terms, ("fixedPrice", str(10**16), "5", "Tides"))

    def test_a_text_is_published_for_dollars_once_under_one_key(self) -> None:
        moments, _ = new_artist()
        text, key = b"It came in at four.", str(uuid.uuid4())
        first = moments.publish(text, title="Tides", content_type="text/plain", price="5 USDC", idempotency_key=key)
        again = moments.publish(text, title="Tides", content_type="text/plain", price="5 USDC", idempotency_key=key)
        self.assertEqual(first, again)
        moment, metadata = shown(moments, first.moment)
        self.assertEqual((metadata.animation_url, metadata.image), (first.uri, ""))
        assert moment.sale
        self.assertEqual((moment.sale.type_, moment.sale.price_per_token), ("erc20Mint", "5000000"))
        for price, words in (("5 DAI", "in ETH or USDC: not DAI"), ("5", "such as 0.01 ETH"), ("0.0000001 USDC", "6 decimals")):
            with self.assertRaisesRegex(ValueError, words):
                moments.publish(text, title="Tides", price=price)
        with self.assertRaisesRegex(ValueError, "not both"):
            moments.publish(text, title="Tides", collection="0x1", new_collection="Tides")
        with self.assertRaisesRegex(InvalidInputError, "contract.address must be an address.*; token.metadata.name must be"):
            moments.publish(PICTURE, title="", collection="x")

    def test_async(self) -> None:
        credentials = new_artist()[0].credentials

        async def run() -> None:
            async with AsyncMoments(API, api_key=credentials.api_key) as moments:
                told: list[Progress] = []
                first = await moments.publish(PICTURE, title="Flood", cover=PICTURE, on_progress=told.append)
                second = await moments.publish(
                    PICTURE.read_bytes(), title="Ebb", collection=first.collection_address, price="5 USDC"
                )
                self.assertEqual((first.collection_address, first.uri), (second.collection_address, second.uri))
                self.assertEqual([it.done for it in told][:2], [0, PICTURE.stat().st_size])
                self.assertIn(second.collection_address, str(second.page))

        asyncio.run(run())


class Storing(unittest.TestCase):
    """Uploads without a service: one of two parts."""

    upload_id = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c"
    begun = {
        "uploadId": upload_id,
        "expiresAt": "2026-11-21T09:30:00Z",
        "parts": [
            {"offset": 0, "size": 4, "url": "https://files.example/1"},
            {"offset": 4, "size": 2, "url": "https://files.example/2"},
        ],
    }
    stored = {"uri": "ipfs://baf", "url": "https://files.example/baf", "contentType": "text/plain", "size": 6}
    busy = {"status": "error", "message": "Another request is completing this upload"}

    def setUp(self) -> None:
        self.asked: list[tuple[str, str, str | None, str | None, bytes]] = []
        self.told: list[tuple[str, int]] = []

    def answers(self) -> list[httpx.Response | httpx.TransportError]:
        return [
            httpx.Response(200, json=self.begun),
            httpx.ReadError("connection lost"),
            httpx.Response(503),
            httpx.Response(200),
            httpx.Response(200),
            httpx.Response(202, json={"uploadId": self.upload_id, "hashed": 3, "size": 6}),
            httpx.ReadError("connection lost"),
            httpx.Response(409, headers={"retry-after": "0"}, json=self.busy),
            httpx.Response(200, json=self.stored),
        ]

    def transport(self, answers: list[httpx.Response | httpx.TransportError]) -> httpx.MockTransport:
        def answer(request: httpx.Request) -> httpx.Response:
            key, length = request.headers.get("x-api-key"), request.headers.get("content-length")
            self.asked.append((request.method, request.url.path, key, length, request.content))
            it = answers.pop(0)
            if isinstance(it, httpx.TransportError):
                raise it
            return it

        return httpx.MockTransport(answer)

    def tell(self, progress: Progress) -> None:
        self.told.append((progress.step, progress.done))

    def check(self) -> None:
        one, two = ("PUT", "/1", None, "4", b"abcd"), ("PUT", "/2", None, "2", b"ef")
        self.assertEqual(self.asked[1:5], [one, one, one, two])
        complete = ("POST", f"/api/uploads/{self.upload_id}/complete", "moments_x")
        self.assertEqual([it[:3] for it in self.asked[5:]], [complete] * 4)
        self.assertEqual(sorted(set(self.told)), [("hashing", 3), ("sending", 0), ("sending", 4), ("sending", 6)])

    def test_a_lost_part_is_sent_again_with_nobodys_key_and_hashing_is_waited_for(self) -> None:
        moments = Moments("https://example.com/api", api_key="moments_x", transport=self.transport(self.answers()))
        self.assertEqual(moments.upload(b"abcdef", content_type="text/plain", on_progress=self.tell).to_dict(), self.stored)
        self.check()

    def test_async(self) -> None:
        transport = self.transport(self.answers())

        async def run() -> None:
            async with AsyncMoments("https://example.com/api", api_key="moments_x", transport=transport) as moments:
                stored = await moments.upload(b"abcdef", content_type="text/plain", on_progress=self.tell)
                self.assertEqual(stored.to_dict(), self.stored)

        asyncio.run(run())
        self.check()

    def test_a_part_that_the_storage_refuses_is_said_and_not_sent_again(self) -> None:
        transport = self.transport([httpx.Response(200, json=self.begun), httpx.Response(403, text="<Error>")])
        with self.assertRaises(MomentsError) as refused:
            Moments("https://example.com/api", transport=transport).upload(b"abcdef")
        self.assertEqual(str(refused.exception), "The storage refused bytes 0 to 4 with 403: upload the file again")
        self.assertEqual(len(self.asked), 2)


class Retrying(unittest.TestCase):
    """Answers without a service."""

    def call(self, answers: list[httpx.Response | httpx.TransportError], is_read: bool, retries: Retries = Retries()) -> int:
        """How many requests are sent until the call ends well."""
        sent: list[httpx.Request] = []

        def answer(request: httpx.Request) -> httpx.Response:
            sent.append(request)
            it = answers[len(sent) - 1]
            if isinstance(it, httpx.TransportError):
                raise it
            return it

        moments = Moments("https://example.com/api", transport=httpx.MockTransport(answer), retries=retries)
        try:
            if is_read:
                moments.search_artists(query="ada")
            else:
                moments.send_code(email="ada@example.com")
        finally:
            self.sent = len(sent)
        return len(sent)

    def test_a_request_waits_as_long_as_the_service_asks_and_no_longer_than_it_may(self) -> None:
        found = httpx.Response(200, json={"artists": []})
        soon, late = httpx.Response(429, headers={"retry-after": "0"}), httpx.Response(429, headers={"retry-after": "3600"})
        self.assertEqual(self.call([soon, found], True), 2)
        with self.assertRaises(RateLimitedError) as refused:
            self.call([late], True)
        self.assertEqual(refused.exception.retry_after, 3600)
        with self.assertRaises(RateLimitedError):
            self.call([soon], True, retries=Retries(most=0))

    def test_what_may_have_been_done_is_repeated_only_if_that_is_safe(self) -> None:
        found, sent = httpx.Response(200, json={"artists": []}), httpx.Response(200, json={"success": True})
        lost, fault = httpx.ReadError("lost"), httpx.Response(500, text="<html>")
        by_gateway, by_service = httpx.Response(503), httpx.Response(503, headers={"retry-after": "0"})
        self.assertEqual(self.call([lost, fault, by_gateway, found], True), 4)
        self.assertEqual(self.call([by_service, sent], False), 2)
        for answer, error in ((lost, httpx.ReadError), (fault, ServiceError), (by_gateway, ServiceError)):
            with self.assertRaises(error):
                self.call([answer], False)
            self.assertEqual(self.sent, 1)

    def test_another_place_is_asked_and_another_host_without_the_key(self) -> None:
        asked: list[tuple[str, str | None]] = []
        places = ["there", "https://elsewhere.example/there"]

        def answer(request: httpx.Request) -> httpx.Response:
            asked.append((str(request.url.copy_with(query=None)), request.headers.get("x-api-key")))
            if len(asked) > len(places):
                return httpx.Response(200, json={"artists": []})
            return httpx.Response(307, headers={"location": places[len(asked) - 1]})

        def check() -> None:
            first, second = "https://example.com/api/artists/search", "https://example.com/api/artists/there"
            elsewhere = ("https://elsewhere.example/there", None)
            self.assertEqual(asked, [(first, "moments_x"), (second, "moments_x"), elsewhere])
            asked.clear()

        transport = httpx.MockTransport(answer)
        Moments("https://example.com/api", api_key="moments_x", transport=transport).search_artists(query="ada")
        check()

        async def run() -> None:
            async with AsyncMoments("https://example.com/api", api_key="moments_x", transport=transport) as moments:
                await moments.search_artists(query="ada")

        asyncio.run(run())
        check()

    def test_a_write_that_still_runs_is_waited_for_under_the_same_key(self) -> None:
        pending = {"transactionId": str(uuid.uuid4()), "status": "sent", "chainId": 8453}
        running = httpx.Response(409, headers={"retry-after": "0"}, json={"status": "error", "message": "being answered"})
        accepted = httpx.Response(202, headers={"retry-after": "0"}, json=pending)
        mined = httpx.Response(200, json={"hash": "0x1", "chainId": 8453})
        keys, answers = set(), [running, accepted, mined, accepted]

        def answer(request: httpx.Request) -> httpx.Response:
            keys.add(request.headers["idempotency-key"])
            return answers.pop(0)

        moments = Moments("https://example.com/api", transport=httpx.MockTransport(answer))
        real, time.sleep = time.sleep, lambda seconds: None
        try:
            self.assertEqual(moments.update_sale(moment=MomentRef(NOWHERE, "1")).hash_, "0x1")
            self.assertEqual(len(keys), 1)
            with self.assertRaises(TransactionPendingError):
                moments.update_sale(moment=MomentRef(NOWHERE, "1"), wait=0)
        finally:
            time.sleep = real


class Webhooks(unittest.TestCase):
    """Signatures of webhooks, held against the published library."""

    secret = "whsec_" + base64.b64encode(os.urandom(32)).decode()
    body = '{"type":"moment.collected","text":"Gezeiten — 潮"}'

    def signed(self, **changes: str) -> dict[str, str]:
        now = datetime.datetime.now(datetime.timezone.utc)
        signature = standardwebhooks.Webhook(self.secret).sign("msg_1", now, self.body)
        headers = {
            "webhook-id": "msg_1",
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": f"v1,AAAA {signature}",
        }
        return headers | {name.replace("_", "-"): value for name, value in changes.items()}

    def test_a_message_of_the_published_library_is_taken(self) -> None:
        headers = self.signed()
        self.assertEqual(verify_webhook(self.secret, headers, self.body), json.loads(self.body))
        self.assertEqual(verify_webhook(["whsec_AAAA", self.secret], headers, self.body.encode()), json.loads(self.body))
        upper = {name.title(): value for name, value in headers.items()}
        self.assertEqual(verify_webhook(self.secret, upper, self.body)["type"], "moment.collected")

    def test_what_the_published_library_refuses_is_refused(self) -> None:
        old = str(int(time.time()) - 400)
        for headers, body in [
            (self.signed(), self.body + " "),
            (self.signed(webhook_id="msg_2"), self.body),
            (self.signed(webhook_timestamp=old), self.body),
            (self.signed(webhook_timestamp="now"), self.body),
            (self.signed(webhook_signature="v1,AAAA"), self.body),
            (self.signed(webhook_signature=""), self.body),
            ({}, self.body),
        ]:
            with self.assertRaises(standardwebhooks.WebhookVerificationError):
                standardwebhooks.Webhook(self.secret).verify(body, headers)
            with self.assertRaises(InvalidWebhookError):
                verify_webhook(self.secret, headers, body)
        for secret in ["whsec_", "not base64"]:
            with self.assertRaises(InvalidWebhookError):
                verify_webhook(secret, self.signed(), self.body)


class Amounts(unittest.TestCase):
    def test_amounts_are_exact(self) -> None:
        self.assertEqual(parse_amount("0.000000000000000001", 18), 1)
        self.assertEqual(parse_amount("1.50", 6), 1_500_000)
        for text in ("123456789.123456789012345678", "0", "10", "0.1"):
            self.assertEqual(format_amount(parse_amount(text, 18), 18), text)
        for text in ("", "1e3", "-1", "0.0000001", ".5", "1.", "1_0", "١"):
            with self.assertRaises(ValueError):
                parse_amount(text, 6)


if __name__ == "__main__":
    unittest.main()
