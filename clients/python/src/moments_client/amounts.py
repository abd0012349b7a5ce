"""Amounts: whole numbers of the smallest unit, or decimal text; never floats."""

import re
from datetime import UTC, datetime

from .generated.models import Sale

#: The largest 64-bit number: no end of a sale, an open edition.
NO_END = "18446744073709551615"

#: Decimals of ether.
ETHER_DECIMALS = 18

#: Decimals of USDC.
USDC_DECIMALS = 6


def parse_amount(text: str, decimals: int) -> int:
    """A decimal amount in the smallest unit: `parse_amount("0.01", 18)` is 10^16."""
    match = re.fullmatch(r"([0-9]+)(?:\.([0-9]+))?", text)
    fraction = (match[2] or "").rstrip("0") if match else ""
    if not match or len(fraction) > decimals:
        raise ValueError(f"{text!r} is no amount with at most {decimals} decimals")
    return int(match[1] + fraction.ljust(decimals, "0"))


def format_amount(amount: int | str, decimals: int) -> str:
    """An amount in the smallest unit as a decimal one, without trailing zeros."""
    whole, fraction = divmod(int(amount), 10**decimals)
    return f"{whole}.{fraction:0{decimals}}".rstrip("0").rstrip(".") if fraction else str(whole)


def sale_end(sale: Sale) -> datetime | None:
    """When a sale ends; none if it never does, or later than a `datetime` can say."""
    try:
        return None if sale.sale_end == NO_END else datetime.fromtimestamp(int(sale.sale_end), UTC)
    except (OverflowError, ValueError, OSError):
        return None
