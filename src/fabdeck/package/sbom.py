#!/usr/bin/env python3
"""Lists the crates that are linked into fabdeck: as a CycloneDX bill of materials, and with the texts of their licenses.

It asks cargo alone, offline, and prints no time but SOURCE_DATE_EPOCH, so that the same sources give the same bytes.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tomllib
import uuid

PROGRAM = "fabdeck"
LICENSE_FILES = re.compile(r"(licen[cs]e|copying|notice|unlicense)", re.IGNORECASE)


def cargo(*words):
    return subprocess.run(["cargo", *words, "--locked"], check=True, capture_output=True, text=True).stdout


def linked_crates():
    """The crates in the program, and which of them each one needs, as {(name, version): set of the same}."""
    needs, path = {}, []
    tree = cargo("tree", "--package", PROGRAM, "--edges", "normal,no-proc-macro", "--prefix", "depth")
    for line in tree.splitlines():
        found = re.match(r"(\d+)(\S+) v(\S+)", line)
        if not found:
            continue
        depth, crate = int(found[1]), (found[2], found[3])
        needs.setdefault(crate, set())
        del path[depth:]
        if path:
            needs[path[-1]].add(crate)
        path.append(crate)
    return needs


def packages():
    metadata = json.loads(cargo("metadata", "--format-version", "1"))
    return {(package["name"], package["version"]): package for package in metadata["packages"]}


def checksums():
    lock = tomllib.loads(pathlib.Path("Cargo.lock").read_text())
    return {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock["package"]}


def purl(crate):
    return f"pkg:cargo/{crate[0]}@{crate[1]}"


def component(crate, package, checksum):
    entry = {"type": "library", "bom-ref": purl(crate), "name": crate[0], "version": crate[1]}
    if package["description"]:
        entry["description"] = " ".join(package["description"].split())
    entry["scope"] = "required"
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["license"]:
        # An older way to write "or", which SPDX does not know.
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    entry["purl"] = purl(crate)
    if package["repository"]:
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def bill(needs, known, sums):
    root = next(crate for crate in needs if crate[0] == PROGRAM)
    program = component(root, known[root], None) | {"type": "application"}
    others = sorted(crate for crate in needs if crate != root)
    time = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": program},
        "components": [component(crate, known[crate], sums.get(crate)) for crate in others],
        "dependencies": [
            {"ref": purl(crate), "dependsOn": sorted(purl(need) for need in needs[crate])} for crate in [root, *others]
        ],
    }
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    serial = {"serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}"}
    return {key: document.get(key, serial.get(key)) for key in ["bomFormat", "specVersion", "serialNumber", *document]}


def license_texts(needs, known):
    """Each text once, with the crates that have it."""
    crates_of = {}
    for crate in sorted(needs):
        package = known[crate]
        if package["source"] is None:
            continue
        folder = pathlib.Path(package["manifest_path"]).parent
        files = sorted(file for file in folder.iterdir() if file.is_file() and LICENSE_FILES.match(file.name))
        for text in [file.read_text(errors="replace").strip() for file in files] or [""]:
            crates_of.setdefault(text, []).append(f"{crate[0]} {crate[1]} ({package['license'] or 'license in its file'})")
    lines = ["Crates of others in fabdeck, and their licenses.", ""]
    for text, crates in sorted(crates_of.items(), key=lambda entry: entry[1]):
        lines += ["=" * 80, *crates, "", text or "Their packages have no file with the text of the license.", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sbom", type=pathlib.Path, required=True)
    parser.add_argument("--licenses", type=pathlib.Path)
    options = parser.parse_args()
    needs, known = linked_crates(), packages()
    options.sbom.write_text(json.dumps(bill(needs, known, checksums()), indent=1, ensure_ascii=False) + "\n")
    if options.licenses:
        options.licenses.write_text(license_texts(needs, known))


main()
