"""Licences of all that wayword uses: `python release/licences.py` writes, `--check` compares.

In: `cargo metadata`, the sources of crates as cargo keeps them, and pyproject.toml with packages
that are installed. Out: `crates/python/LICENCES.txt`, the texts that a wheel has to carry because
the crates are compiled into it, and `docs/licences.md`, the table.
How: from the border crate along normal dependencies, whatever the platform; macros run at build
time and are not shipped. Equal texts stand once, with all the crates they belong to. A licence
that is not in PERMISSIVE stops the run.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
TEXTS = ROOT / "crates" / "python" / "LICENCES.txt"
TABLE = ROOT / "docs" / "licences.md"
NAMES = ("LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
PERMISSIVE = {
    *("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "ISC", "Zlib"),
    *("Unicode-3.0", "0BSD", "PSF-2.0", "Python-2.0", "CC0-1.0"),
}
#: Extras for those who work on wayword itself: nothing of them is shipped.
TOOLS = ("browser", "dev", "docs", "release")
#: What packages say that say it in a way of their own.
SPELLINGS = {
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache Software License 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Apache-2.0 AND CC0-1.0": "Apache-2.0",
}
HEAD = """# licences: what wayword is made of

After this page you know which licences come with wayword, and where their texts are. All of them
are permissive. wayword itself is under Apache-2.0.

The crates are compiled into the wheel; their texts are in it as `LICENCES.txt`. Python packages
are installed beside wayword by pip and bring their own texts. What each dependency saves is said in
[decisions/dependencies](decisions/dependencies.md). `make licences` writes this page.

| what | version | licence | used |
|---|---|---|---|
"""


def crates() -> list[dict[str, Any]]:
    """The crates that are compiled into the extension, by name."""
    printed = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    metadata = json.loads(printed)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [name for name, package in packages.items() if package["name"] == "wayword-python"]
    shipped: set[str] = set()
    while waiting:
        name = waiting.pop()
        kinds = {kind for target in packages[name]["targets"] for kind in target["kind"]}
        if name in shipped or "proc-macro" in kinds:
            continue
        shipped.add(name)
        waiting += [
            dependency["pkg"]
            for dependency in nodes[name]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
    foreign = [packages[name] for name in shipped if packages[name]["source"] is not None]
    return sorted(foreign, key=lambda package: str(package["name"]))


def texts(shipped: list[dict[str, Any]]) -> str:
    """All licence texts, equal ones once."""
    owners: dict[str, list[str]] = {}
    bodies: dict[str, str] = {}
    for package in shipped:
        folder = Path(package["manifest_path"]).parent
        paths = sorted(path for path in folder.iterdir() if path.name.upper().startswith(NAMES))
        if not paths:
            raise SystemExit(
                f"licences: {package['name']} brings no text; expected one in {folder}"
            )
        for path in paths:
            body = path.read_text(encoding="utf-8").strip()
            key = " ".join(body.split())
            bodies.setdefault(key, body)
            owners.setdefault(key, []).append(f"{package['name']} {package['version']}")
    line = "=" * 80
    parts = [
        f"{line}\n{', '.join(dict.fromkeys(owners[key]))}\n{line}\n\n{bodies[key]}"
        for key in bodies
    ]
    head = "Licences of the crates that are compiled into wayword._core.\n\n"
    return head + "\n\n".join(parts) + "\n"


def packages() -> list[tuple[str, str, str, str]]:
    """The Python packages that users install: name, version, licence, use."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [(text, "always") for text in project["dependencies"]]
    for extra, names in project["optional-dependencies"].items():
        if extra not in TOOLS:
            wanted += [(text, f"extra `{extra}`") for text in names]
    rows = []
    for text, use in wanted:
        requirement = re.match(r"[\w.-]+", text)
        assert requirement is not None
        name = requirement[0]
        try:
            found = distribution(name)
        except PackageNotFoundError:
            if "python_version" in text:  # needed by older Pythons only
                continue
            raise SystemExit(f"licences: {name} is not installed; run `make dev`") from None
        rows.append((name, "any", _licence(found.metadata), use))
    return sorted(rows)


def _licence(metadata: Any) -> str:
    """The licence that a package declares, in SPDX's spelling."""
    told = metadata.get("License-Expression") or ""
    if not told:
        classifiers = metadata.get_all("Classifier") or []
        names = [name.split(" :: ")[-1] for name in classifiers if name.startswith("License ::")]
        told = names[-1] if names else str(metadata.get("License", ""))
    return SPELLINGS.get(told, told)


def check_permissive(name: str, licence: str) -> None:
    """Stop at a licence that nobody looked at."""
    for part in re.split(r"\s+(?:AND|OR|WITH)\s+|/", licence.replace("(", "").replace(")", "")):
        if part.strip() not in PERMISSIVE:
            raise SystemExit(f"licences: {name} is under `{licence}`; expected a permissive one")


def table(shipped: list[dict[str, Any]]) -> str:
    """The page for readers."""
    rows = [
        (package["name"], package["version"], package["license"], "compiled in")
        for package in shipped
    ]
    rows += packages()
    for name, _, licence, _ in rows:
        check_permissive(name, licence)
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    """Write both files, or compare them."""
    shipped = crates()
    wanted = {TEXTS: texts(shipped), TABLE: table(shipped)}
    for path, text in wanted.items():
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{path.relative_to(ROOT)} is out of date; run `make licences`")


if __name__ == "__main__":
    main()
