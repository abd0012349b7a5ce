#!/usr/bin/env python3
"""Writes a copy of template.yaml in which each function's code is a folder with its built binary.

usage: lay_out.py <x86_64|arm64> <folder of binaries> <folder to write to>

The binaries are <folder>/<binary>/bootstrap, as cargo-lambda leaves them, or <folder>/<binary>, as cargo does.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
METADATA = re.compile(
    r"    Metadata:\n      BuildMethod: rust-cargolambda\n      BuildProperties: { Binary: ([\w-]+) }\n"
    r"    Properties:\n"
)


def lay_out(processor: str, binaries: Path, target: Path) -> dict[str, str]:
    """Gives the binary of each function's resource."""
    text = (ROOT / "template.yaml").read_text()
    functions = {}
    for name, block in re.findall(r"(?m)^  (\w+Function):\n((?:    .*\n|\n)+)", text):
        found = METADATA.search(block)
        if not found:
            raise SystemExit(f"error: template.yaml: {name} doesn't say how it is built")
        binary = functions[name] = found[1]
        built = binaries / binary
        code = target / "code" / binary
        code.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built / "bootstrap" if built.is_dir() else built, code / "bootstrap")
    text = text.replace("Architectures: [arm64]", f"Architectures: [{processor}]")
    text = METADATA.sub(r"    Properties:\n      CodeUri: code/\1\n", text)
    (target / "template.yaml").write_text(text)
    return functions


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    print(f"{len(lay_out(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))} functions laid out in {sys.argv[3]}")
