"""Builds what is released and tries it out: `python release/wheel.py build`, then `... try`.

In: the last commit. Out: `dist/` with one abi3 wheel for this platform and an sdist, both checked;
`try` installs the wheel into an empty environment without a Rust toolchain and works with it.
How: `git archive` gives the sources as they are committed and writes the commit into
`cli/commit.txt`; maturin builds, without symbols. The checks read the archives: names, size,
licences, the recorded commit, nothing that does not belong there.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
LARGEST = 15_000_000
#: What a wheel must hold besides the compiled core.
NEEDED = (
    *("wayword/default.toml", "wayword/py.typed", "wayword/_core.pyi", "wayword/cli/commit.txt"),
    *("wayword/cli/topics/start.txt", "wayword/corpus/moses.txt", "wayword/picture/page.css"),
)
#: What must never be in an archive.
FOREIGN = ("__pycache__", ".pyc", ".git/", "target/", ".venv", "shared/", ".orig")
LINE = "Ich habe gestern den Tee getrunken."


def run(*command: str | Path, **options: object) -> str:
    """Run a command to its end; what it printed."""
    done = subprocess.run(
        list(map(str, command)), text=True, check=True, stdout=subprocess.PIPE, **options
    )  # type: ignore[call-overload]
    return str(done.stdout)


@contextmanager
def committed(commit: str) -> Iterator[Path]:
    """The sources of a commit in a folder of their own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "wayword"
        archive = Path(name) / "sources.tar"
        run("git", "archive", "--format=tar", "-o", archive, commit, cwd=ROOT)
        with tarfile.open(archive) as tar:
            tar.extractall(folder)  # our own commit
        yield folder


def build() -> None:
    """Build wheel and sdist from the last commit, and check them."""
    shutil.rmtree(DIST, ignore_errors=True)
    commit = head()
    environment = {**os.environ}
    environment.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
    maturin = (sys.executable, "-m", "maturin")
    with committed(commit) as folder:
        options = {"cwd": folder, "env": environment}
        run(*maturin, "sdist", "-o", DIST, **options)
        run(*maturin, "build", "--profile", "wheel", "--locked", "--strip", "-o", DIST, **options)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()))
    check(commit)


def head() -> str:
    """The last commit, as short as `git archive` writes it."""
    return run("git", "rev-parse", "--short", "HEAD", cwd=ROOT).strip()


def check(wanted: str) -> None:
    """Read both archives and stop at what is wrong with them."""
    [wheel], [sdist] = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    if "-cp310-abi3-" not in wheel.name:
        raise SystemExit(f"wheel: {wheel.name}; expected one for Python 3.10 and newer (abi3)")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        commit = archive.read("wayword/cli/commit.txt").decode().strip()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        check_home(archive.read(metadata).decode())
    with tarfile.open(sdist) as archive_of_sources:
        sources = archive_of_sources.getnames()
    if commit != wanted:
        raise SystemExit(f"wheel: made from commit `{commit}`; expected `{wanted}`")
    missing = [name for name in NEEDED if name not in names]
    for end in ("licenses/LICENSE", "licenses/crates/python/LICENCES.txt"):
        missing += [] if any(name.endswith(end) for name in names) else [end]
    missing += [] if any(name.startswith("wayword/_core.") for name in names) else ["the core"]
    for end in ("/Cargo.lock", "/pyproject.toml", "/crates/core/src/lib.rs", "/LICENSE"):
        missing += [] if any(name.endswith(end) for name in sources) else [f"sdist: {end}"]
    if missing:
        raise SystemExit(f"wheel: {', '.join(missing)} is missing in {wheel.name}")
    foreign = [name for name in [*names, *sources] if any(part in name for part in FOREIGN)]
    if foreign:
        raise SystemExit(f"wheel: {foreign[0]} and {len(foreign) - 1} more do not belong there")
    size = wheel.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"wheel: {size:,} bytes; expected at most {LARGEST:,}")
    print(f"{wheel.name}: {size / 1e6:.1f} MB, {len(names)} files, commit {commit}")
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, {len(sources)} files")


def check_home(metadata: str) -> None:
    """On a hosted runner, the project's address must be that of the repository it is built in."""
    repository = os.environ.get("GITHUB_REPOSITORY")
    if repository and f"Project-URL: Homepage, https://github.com/{repository}\n" not in metadata:
        raise SystemExit(f"wheel: the homepage in pyproject.toml is not that of {repository}")


def without_rust(scripts: Path) -> dict[str, str]:
    """The environment of somebody who has Python and nothing of ours."""
    path = [part for part in os.environ["PATH"].split(os.pathsep) if not _has_rust(Path(part))]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    kept.pop("VIRTUAL_ENV", None)
    return {**kept, "PATH": os.pathsep.join([str(scripts), *path])}


def _has_rust(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("cargo", "rustc", "cargo.exe", "rustc.exe"))


def try_out() -> None:
    """Install the wheel into an empty environment and walk the README's path, with the clock on."""
    [wheel] = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.monotonic()
        venv.create(folder / "env", with_pip=True)
        scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        environment = without_rust(scripts)
        assert shutil.which("cargo", path=environment["PATH"]) is None
        walk = _Walk(folder, environment, started)
        print(f"# Python {platform.python_version()}, {platform.system()} {platform.machine()}")
        walk.step(f"pip install {wheel.name}", program=["pip", "install", "--quiet", str(wheel)])
        walk.step("wayword --version")
        walk.step("wayword demo", shows=4)
        walk.step("wayword toy de-en -n 1000 -o toy")
        walk.step("wayword train toy/train.de toy/train.en -o system", shows=3)
        (folder / "line.txt").write_text(f"{LINE}\n", encoding="utf-8")
        said = walk.step("wayword translate system line.txt")
        if said != "I drank the tea yesterday.\n":
            raise SystemExit(f"wheel: found `{said}`; expected the translation of the README")
        output = walk.step("wayword translate system toy/test.de", shows=1)
        (folder / "out.txt").write_text(output, encoding="utf-8", newline="\n")
        walk.step("wayword evaluate out.txt toy/test.en --metrics bleu,chrf")


class _Walk:
    """Commands one after the other, each with the seconds since the start."""

    def __init__(self, folder: Path, environment: dict[str, str], started: float) -> None:
        self._folder, self._environment, self._started = folder, environment, started

    def step(self, shown: str, *, program: list[str] | None = None, shows: int = 99) -> str:
        """Run a command in the folder and print it with the end of its output."""
        name, *words = program or shown.split()
        path = shutil.which(name, path=self._environment["PATH"])
        assert path is not None, name
        done = subprocess.run(
            [path, *words],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        seconds = time.monotonic() - self._started
        print(f"[{seconds:5.1f} s] $ {shown}")
        for line in done.stdout.splitlines()[-shows:]:
            print(f"          {line}")
        if done.returncode:
            raise SystemExit(f"wheel: `{shown}` left with {done.returncode}: {done.stderr}")
        return done.stdout


if __name__ == "__main__":
    {"build": build, "try": try_out}[sys.argv[1]]()
