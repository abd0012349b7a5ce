"""Copies the log of events to a file. Its place in both is one file, replaced in one step: it may be killed at any moment.

Arguments: the URL of GET /events, and a folder.
"""

import json
import os
import sys
import time
import urllib.request
from pathlib import Path

url, folder = sys.argv[1], Path(sys.argv[2])
log, place = folder / "log.jsonl", folder / "place.json"


def store(path: Path, text: str) -> None:
    """Replaces a file, so that it is there wholly or as it was."""
    new = path.with_suffix(".new")
    with new.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)


known = json.loads(place.read_text()) if place.exists() else {"after": None, "length": 0}
with log.open("ab") as file:
    # What was written after the place was stored is asked for again.
    file.truncate(known["length"])
    while True:
        after = f"&after={known['after']}" if known["after"] else ""
        with urllib.request.urlopen(f"{url}?limit=7{after}") as response:
            page = json.load(response)
        file.write(b"".join(json.dumps(event).encode() + b"\n" for event in page["events"]))
        file.flush()
        os.fsync(file.fileno())
        known = {"after": page["next"], "length": file.tell()}
        store(place, json.dumps(known))
        if not page["events"]:
            time.sleep(0.2)
