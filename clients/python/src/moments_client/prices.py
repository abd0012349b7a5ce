"""Prices as people write them."""

import re

from .amounts import parse_amount
from .generated.models import ListChainsResponse, SalesConfig


def is_free(price: str) -> bool:
    """Whether it is nothing, which needs no currency."""
    return price.strip().lower() == "free"


def sale_at(price: str, served: ListChainsResponse, chain_id: int | None) -> SalesConfig:
    """The sale for a price such as `0.01 ETH` or `5 USDC`, in a currency of the chain."""
    match = re.fullmatch(r"\s*([0-9.]+)\s+([A-Za-z0-9]+)\s*", price)
    if not match:
        raise ValueError(f"price must be a sum such as 0.01 ETH or 5 USDC, or free: not {price!r}")
    wanted = served.default_chain_id if chain_id is None else chain_id
    currencies = [currency for chain in served.chains if chain.chain_id == wanted for currency in chain.currencies]
    for place, currency in enumerate(currencies):
        if currency.symbol.upper() == match[2].upper():
            units = str(parse_amount(match[1], currency.decimals))
            # The chain's own currency is the first.
            if place == 0:
                return SalesConfig(price_per_token=units)
            return SalesConfig(type_="erc20Mint", price_per_token=units, currency=currency.address)
    known = " or ".join(currency.symbol for currency in currencies) or "one that the chain has"
    raise ValueError(f"price must be in {known}: not {match[2]}")
