"""Knowledge that the contract doesn't have: existing addresses and ids, and rules between fields.

Valid cases are adapted to it, so that most of them get past validation. Invalid cases are sent unchanged.
"""

import atexit
import collections
import json
import os
import random
import re

import schemathesis

COLLECTION = os.environ["CONTRACT_COLLECTION"]
WALLET = os.environ["CONTRACT_WALLET"]
PAYOUT = os.environ["CONTRACT_PAYOUT"]
CHAIN = 8453
GOVERNANCE_CHAIN = 1
# Values that work once: a code, proofs of wallets, a key to revoke, wallets to disconnect. Operation → part of the request, remaining values.
ONCE = {
    ("POST", "/oauth/login"): ("body", [{"email": os.environ["CONTRACT_EMAIL"], "code": os.environ["CONTRACT_CODE"]}]),
    ("POST", "/oauth/wallet"): ("body", json.loads(os.environ["CONTRACT_SIGN_INS"])),
    ("POST", "/artists/wallets"): ("body", json.loads(os.environ["CONTRACT_PROOFS"])),
    ("DELETE", "/artists/api-keys"): ("query", [{"keyId": os.environ["CONTRACT_KEY_ID"]}]),
    ("DELETE", "/artists/wallets"): ("query", [{"address": wallet} for wallet in os.environ["CONTRACT_OWN_WALLETS"].split()]),
}
# Deterministic, since the seed also determines the order of calls.
CHANCE = random.Random(int(os.environ["CONTRACT_SEED"]))

# Endings of the service's messages for requests that are valid by the schema: rules between fields or parameters, and
# between a field and the existing or configured values.
RULES = (
    "is not a chain that this service serves",
    "is not a chain that this service writes to",
    "is not a chain that this service is configured for: see GET /chains",
    "is not a chain that this service builds proposals for",
    "is a chain that this service has no nodes of",
    "needs an artist, and no collection",
    'must be an address or a username, which has 3 to 32 letters, digits, "_", "." and "-"',
    "must be UTF-8, percent-encoded",
    "must not be a contract of the protocol: it would keep the money",
    "has a wrong EIP-55 checksum: check the address, or write it in lower case",
    "must be one of your own wallets",
    "must have one of moment, collection, artist, cid and comment",
    "must have at least 2 recipients",
    "must be somebody else's",
    "is not the username of an artist",
    "may be somebody else's name in ENS: give the address",
    "or one of saleStart, saleEnd, maxTokensPerAddress and fundsRecipient must be given",
    "must not name a recipient twice",
    "must add up to exactly 100 percent",
    "must not be before saleStart",
    "must not mix letters of different alphabets",
    "must not look like a name in Latin letters: write it in them",
    "must not begin with 0x, as addresses do",
    "is kept for the service: choose another",
    'must be 3 to 32 letters, digits, "_", "." and "-"',
    *(f"over this message; a contract wallet must be deployed on chain {chain}, or bring its deployment along (ERC-6492)" for chain in (1, CHAIN)),
    "is none that you were given, has expired or was used: get a new one from POST /artists/wallets/challenge",
    "was not given to you, has expired or was used: begin with POST /artists/passkeys/challenge",
    "must be what navigator.credentials gave, as its toJSON() writes it",
    "must be ETH, USDC, or the contract of one of them on this chain",
    "is required, or token.tokenContent in its place",
    "is required, or collection in its place",
    "is required, or sender in its place",
    "is required: a wallet's proof is a message and its signature",
    "must be to come, within a year: a time in Unix seconds",
    "must be to come, within 15 months: Unix time in seconds",
    "must be within a year: Unix time in seconds",
    "must be a comment on this moment",
    "must not be after the sale's end",
    "must not be your own account",
    "must be more than 0",
    "must not be given together with artist",
    "needs a collection",
    "is of another list: begin without it",
    "or is by a way in that doesn't count: begin with POST /artists/proofs",
    "was given, or was tried too often: ask for one with POST /artists/proofs",
    "must be a wallet that you began with, or connected with a proof at least a day ago",
    "is required with the way wallet",
    "must be email for newEmail",
    "must be wallet or passkey for this act",
    *(f", for {act}" for act in ("addPasskey", "removePasskey", "keepPasskey", "connectWallet", "disconnectWallet", "changeEmail", "keepEmail", "newEmail")),
    "must not be there with everywhere: that ends all tokens",
    "needs everywhere: true, or it would do nothing",
    "must be a whole number unless unit is main",
    "must not have more decimals than the currency: ETH has 18, USDC has 6",
    "must be less than 2^256 in the smallest unit",
    "give unit main if you mean that one, or unit wei if not",
    "is required for a sale in an ERC-20 currency",
    "must not be more than maxSupply",
    "must be a percentage over 0 and up to 100, with at most 4 decimals",
    "must be less than 2^96 wei",
    "must be at least 10000 for a sale in an ERC-20 currency; use fixedPrice for free",
    "must not be 0: the contract takes it for a sale that is over; give 18446744073709551615 for no end",
    "must be in the future: a sale that has ended sells nothing",
    "is after the year 3000: give Unix time in seconds, not in milliseconds",
    "belongs to the type erc20Mint: leave it out to sell for the chain's own currency",
    "must be 0: a timed sale has no limit; use fixedPrice",
    "must be left out beside metadata, which gets a URI itself",
    "belongs to a new collection: leave it out beside the address of one that is there",
    "is the collection that the moment is in",
)
# The document doesn't forbid further fields: generated clients would refuse what a later version adds.
NOT_A_FIELD = re.compile(r"is not a field here(; did you mean \w+\?)?$")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Adapts nine of ten valid cases to existing values, and to the rules between fields."""
    # What is waited for doesn't come; this path waits unless it is told not to.
    if case.path == "/events/wait" and not case.query:
        case.query = {"wait": "0"}
    if isinstance(case.query, dict):
        wait = case.query.get("wait", "20" if case.path == "/events/wait" else None)
        if str(wait) in map(str, range(1, 21)):
            case.query["wait"] = "0"
    if not is_positive(case):
        return
    if isinstance(case.body, dict):
        case.body = tidied(case.body)
    place, left = ONCE.get((case.method.upper(), case.path), ("body", []))
    if left and isinstance(getattr(case, place), dict):
        getattr(case, place).update(left.pop())
        # The code was asked for without a nonce, and no proof of an old way in was given.
        if isinstance(case.body, dict):
            case.body.pop("nonce", None)
            case.body.pop("proof", None)
        return
    # Money goes to own wallets and to addresses that were added a day ago.
    if case.path == "/smartwallet/withdraw" and isinstance(case.body, dict):
        case.body["to"] = PAYOUT
    # Either the body or the query has all of these, which the document can't say.
    if (case.method.upper(), case.path) == ("DELETE", "/moment/permission") and not isinstance(case.body, dict):
        case.query = {"collectionAddress": COLLECTION, "tokenId": "1", "adminAddress": WALLET}
    # A time to come, which the document can't say.
    if "Valid-Until" in (case.headers or {}):
        case.headers["Valid-Until"] = "4102444800"
    if CHANCE.random() < 0.1:
        return
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = f"{CHANCE.getrandbits(128):032x}"
    path = case.path_parameters or {}
    if {"network", "contract"} <= path.keys():
        path.update(network=f"eip155:{CHAIN}", contract=f"erc1155:{COLLECTION}")
    if "address" in path:
        path["address"] = WALLET
    if isinstance(case.query, dict):
        fit(case.query, as_text=True)
        fit_query(case.path, case.query)
    if isinstance(case.body, dict):
        fit(case.body)
        fit_operation(case.path, case.body)


def tidied(value):
    """Without most of the fields that nobody declared: their names are random."""
    if isinstance(value, dict):
        return {name: tidied(part) for name, part in value.items() if re.fullmatch(r"[A-Za-z_]{3,}", name)}
    return [tidied(part) for part in value] if isinstance(value, list) else value


# How often each rule, of each operation, was the reason of a refusal.
PASSED_OVER = collections.Counter()


@atexit.register
def print_passed_over():
    for (operation, reason), count in PASSED_OVER.most_common():
        print(f"passed over {count:4}  {operation}  {reason}")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Ignores only refusals by the rules above, and answers of a route that the checked operation's path also fits."""
    reasons = passed_over(failure, case, response)
    PASSED_OVER.update((f"{case.method} {case.path}", reason) for reason in reasons)
    return not reasons


def passed_over(failure, case, response):
    """Why a failure is none; empty if it is one."""
    if type(failure).__name__ == "UnsupportedMethodResponse" and is_routed_elsewhere(case):
        return ["another path declares the method"]
    # Generators of clients know no image/webp, so that files are documented as bytes.
    if "ContentType" in type(failure).__name__ and case.path.startswith("/previews/"):
        return ["a preview is WebP"]
    if "PositiveData" in type(failure).__name__ and response.status_code == 410:
        return ["a cursor of another log"]
    # Proxies and browsers add headers.
    if "NegativeData" in type(failure).__name__ and "x-schemathesis-unknown-property" in (case.headers or {}):
        return ["a header that nobody declared"]
    if "NegativeData" in type(failure).__name__ and is_left_out(case.query):
        return ["an empty parameter is left out"]
    if "PositiveData" not in type(failure).__name__ or response.status_code != 400:
        return []
    answer = response.json()
    if answer["message"].startswith("Give at least one of "):
        return [answer["message"]]
    errors = [(error["field"], error["message"]) for error in answer.get("errors", [])]
    return [f"{field} {message}" for field, message in errors] if all(is_rule(it) for _, it in errors) else []


def is_left_out(query):
    """Whether a parameter is empty: itself, or as a list of nothing or of one empty text."""
    return any(value in ("", [], [""]) for value in dict(query or {}).values())


def is_rule(message):
    return message.endswith(RULES) or NOT_A_FIELD.search(message) is not None


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def is_routed_elsewhere(case):
    """Whether another path declares the method: GET /artists/me is GET /artists/{address}."""
    for path, operations in case.operation.schema.raw_schema["paths"].items():
        fits = re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), case.path)
        if fits and path != case.path and case.method.lower() in operations:
            return True
    return False


def fit_operation(path, body):
    """Keeps the rules between fields that one operation has."""
    if path == "/governance":
        body["chainId"] = GOVERNANCE_CHAIN
    elif path == "/sale":
        body.update(saleStart=0, saleEnd=str(2**64 - 1))
    elif path == "/moment/allow-list":
        # Each account once, in a sale to come.
        body["entries"] = body.get("entries", [])[:1]
        body.update(saleStart=0, saleEnd=None)
    elif path == "/artists/me" and all(value is None for value in body.values()):
        body["bio"] = "Tides"
    elif path == "/webhooks/{id}" and all(value is None for value in body.values()):
        body["description"] = "Tides"
    elif path == "/smartwallet/withdraw" and body.get("amount") != "max":
        # More than 0, with no more decimals than any currency has.
        whole, _, decimals = str(body.get("amount", "")).partition(".")
        body.update(unit="main", amount=f"{whole[:3] or 0}.{decimals[:5]}1")
    elif path == "/moment/create/writing":
        body["text"] = body.get("text") or "Tides"


def fit_query(path, query):
    """Keeps the rules between parameters that one operation has."""
    if path == "/timeline" and "type" in query:
        query.pop("collection", None)
        query["artist"] = WALLET
    elif path == "/transfers":
        if "artist" in query:
            query.pop("collector", None)
        if "tokenId" in query:
            query["collection"] = COLLECTION


def fit(values, as_text=False):
    """Puts existing values into `values` and the objects inside."""
    for name, value in list(values.items()):
        if isinstance(value, str) and re.fullmatch("0x[0-9a-fA-F]{40}", value):
            # In mixed case it would need its checksum.
            values[name] = value = value.lower()
        if name == "address" and as_text:
            values[name] = WALLET
        elif name == "collectionAddress" or (name == "address" and {"name", "uri"} & values.keys()):
            values[name] = COLLECTION
        elif name == "tokenId":
            values[name] = "1"
        elif name == "after" and re.match(r"[0-9]+\.[0-9a-f]{16}\.", str(value)):
            values[name] = "latest"
        elif name in ("chainId", "chain_id") and value is not None:
            values[name] = str(CHAIN) if as_text else CHAIN
        elif name in ("account", "fundsRecipient", "payoutRecipient", "createReferral") and value is not None:
            values[name] = WALLET
        elif name == "splits" and value:
            values[name] = [
                {"address": "0x" + digit * 40, "percentAllocation": percent} for digit, percent in (("a", 33.25), ("b", 66.75))
            ]
        elif name == "salesConfig" and isinstance(value, dict):
            fit_sale(value)
        elif name == "token" and isinstance(value, dict):
            fit(value)
        elif name == "tokens" and isinstance(value, list):
            for token in value:
                if isinstance(token, dict):
                    fit(token)
        elif name in ("moment", "contract") and isinstance(value, dict):
            fit(value)
    if "mintToCreatorCount" in values:
        values["mintToCreatorCount"] = 1


def fit_sale(sale):
    """Makes a sale valid for every strategy."""
    sale["saleStart"], sale["saleEnd"] = 0, str(2**64 - 1)
    sale["maxTokensPerAddress"] = 0
    sale.pop("currency", None)
    if sale.get("type") == "erc20Mint":
        sale["currency"] = WALLET
    sale["pricePerToken"] = str(int(str(sale.get("pricePerToken") or 0)[:20] or 0) + 10_000)
