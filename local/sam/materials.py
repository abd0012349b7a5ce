"""The bill of materials of a version, in CycloneDX: the crates that its functions may be compiled from, by Cargo.lock."""

import json
import tomllib
from urllib.parse import quote

from account import ROOT


def of_checkout(version):
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    # Those of the workspace have no source.
    components = [component(each) for each in packages if "source" in each]
    application = {"type": "application", "name": "moments", "version": version}
    document = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": application},
                "components": components}
    return json.dumps(document).encode()


def component(package):
    name, version = package["name"], package["version"]
    return {"type": "library", "name": name, "version": version, "purl": f"pkg:cargo/{name}@{quote(version)}",
            "hashes": [{"alg": "SHA-256", "content": package["checksum"]}]}
