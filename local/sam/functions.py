"""What template.yaml says of the functions."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def functions() -> dict[str, str]:
    """The text of each function's resource, by its name."""
    text = (ROOT / "template.yaml").read_text()
    return dict(re.findall(r"(?m)^  (\w+Function):\n((?:    .*\n|\n)+)", text))


def binary(resource: str) -> str:
    """The program that a function's resource is built from."""
    return re.search(r"Binary: ([\w-]+)", resource)[1]
