"""Packs a wheel from files that are already built: the extension, the command line and the table of embeddings.

    python3 pack_wheel.py --extension lib_foreword.so --program foreword --table static.bin --out DIR

`cargo xtask dist` builds the programs of all packages in one go and calls this. `pip install .` from source goes
through maturin instead. The platform tag is what the programs need: the newest version of glibc they mention.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import platform
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Fixed, so that the same files give the same wheel.
DATE = (2020, 1, 1, 0, 0, 0)


def manifest_value(name: str) -> str:
    """A string of the workspace's Cargo.toml, which has the version."""
    text = (HERE.parents[1] / "Cargo.toml").read_text()
    found = re.search(rf'(?m)^{name} = "([^"]+)"', text)
    if found is None:
        raise SystemExit(f"Cargo.toml has no {name}")
    return found[1]


def platform_tag(programs: list[bytes]) -> str:
    """manylinux with the glibc that the programs need; elsewhere what Python says."""
    if sys.platform != "linux":
        return re.sub(r"[-.]", "_", sysconfig.get_platform())
    versions = [int(found) for code in programs for found in re.findall(rb"GLIBC_2\.(\d+)", code)]
    return f"manylinux_2_{max(versions, default=17)}_{platform.machine()}"


def metadata(version: str) -> str:
    project = (HERE / "pyproject.toml").read_text()
    description = re.search(r'(?m)^description = "([^"]+)"', project)
    classifiers = re.findall(r'(?m)^    "([^"]+ :: [^"]+)",$', project)
    lines = [
        "Metadata-Version: 2.4",
        "Name: foreword",
        f"Version: {version}",
        f"Summary: {description[1] if description else ''}",
        "License-Expression: Apache-2.0 OR MIT",
        "Requires-Python: >=3.10",
        *(f"Classifier: {classifier}" for classifier in classifiers),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("--extension", "--program", "--table", "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--license", type=Path, action="append", default=[], help="one more file to put beside the licences")
    given = parser.parse_args()
    version = manifest_value("version")
    extension, program = given.extension.read_bytes(), given.program.read_bytes()
    tag = f"cp310-abi3-{platform_tag([extension, program])}"
    info = f"foreword-{version}.dist-info"
    source = HERE / "python"
    files: dict[str, tuple[bytes, bool]] = {}
    for path in sorted((source / "foreword").rglob("*")):
        inside = path.relative_to(source)
        is_own = path.is_file() and "_packaged" not in inside.parts and "__pycache__" not in inside.parts
        if is_own and path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed":
            files[inside.as_posix()] = (path.read_bytes(), False)
    files["foreword/_foreword.abi3.so"] = (extension, True)
    files["foreword/_packaged/foreword"] = (program, True)
    files["foreword/_packaged/static.bin"] = (given.table.read_bytes(), False)
    files[f"{info}/METADATA"] = (metadata(version).encode(), False)
    wheel = f"Wheel-Version: 1.0\nGenerator: foreword\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files[f"{info}/WHEEL"] = (wheel.encode(), False)
    scripts = "[console_scripts]\nforeword = foreword._command_line:main\n"
    files[f"{info}/entry_points.txt"] = (scripts.encode(), False)
    for path in (HERE.parents[1] / "LICENSE-APACHE", HERE.parents[1] / "LICENSE-MIT", *given.license):
        files[f"{info}/licenses/{path.name}"] = (path.read_bytes(), False)
    record = ""
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    record += f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = (record.encode(), False)
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"foreword-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, executable) in files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    print(path)


if __name__ == "__main__":
    main()
