"""Reads the functions from template.yaml."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def functions() -> dict[str, str]:
    """The text of each function's resource, by logical id."""
    text = (ROOT / "template.yaml").read_text()
    return dict(re.findall(r"(?m)^  (\w+Function):\n((?:    .*\n|\n)+)", text))


def binary(resource: str) -> str:
    """The binary of a function's resource."""
    return re.search(r"Binary: ([\w-]+)", resource)[1]
