"""README and docs: commands run as they stand there, and whatever is cited is in the repository."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from runpy import run_path

import pytest
from tests.serving import make_servable

from wayword.cli.parser import build_parser

ROOT = Path(__file__).parents[1]
MAKE = ROOT / "docs" / "reference" / "make.py"
PAGES = (
    *("README.md", "docs/tutorial.md", "docs/train.md", "docs/experiment.md", "docs/moses.md"),
    *("docs/preorder.md", "docs/corpus.md", "docs/normalise.md", "docs/neural.md"),
    *("docs/unseen.md", "docs/profile.md", "docs/report.md"),
    *("docs/stability.md", "docs/install.md", "docs/new-to-translation.md", "docs/teaching.md"),
    *("docs/low-resource.md", "docs/other-output.md", "docs/stages.md", "docs/align.md"),
    *("docs/doctor.md", "docs/lm.md", "docs/oracle.md", "docs/toy.md", "docs/annotate.md"),
    *("docs/decode.md", "docs/extract.md"),
    *("docs/audit.md", "docs/evaluate.md", "docs/tune.md", "docs/waw.md", "docs/architecture.md"),
)
SERVER = "docs/serve.md"
#: Its commands name machines: they are parsed, and `tests/test_cluster.py` trains on a cluster.
CLUSTER = "docs/cluster.md"

#: Files that a reader has and we have not.
FILES = {
    "raw.de": "Das Haus ist klein.\n",
    "output.en": "the house is small\n",
    "reference.en": "the house is little\n",
    "input.txt": "Das Haus ist klein .\n",
    "marked.txt": "Das <n translation='house'>Haus</n> ist klein .\n",
    "terms.tsv": "Quarkstrudel\tcurd strudel\n",
}
#: Further text of a reader, as good as this of the corpus.
COPIES = {
    **{"new.de": "test.de", "new.en": "test.en", "talks.en": "train.en", "news.en": "dev.en"},
    **{
        "mine.en": "test.en",
        "mine.links": "test.links",
        "other.en": "test.en",
        "dev2.en": "dev.en",
    },
    **{f"part1.{kind}": f"dev.{kind}" for kind in ("de", "en", "links")},
    **{f"part2.{kind}": f"test.{kind}" for kind in ("de", "en", "links")},
}
#: Pages whose reader has a system already.
WITH_SYSTEM = ("docs/decode.md", "docs/oracle.md", "docs/audit.md", "docs/tune.md")
#: What no reader of the repository has.
OUTSIDE = re.compile(r"\bSPEC\b|PEERS|[Pp]eers page|\.\./shared")
#: A section of docs/definitions.md, and a citation of one or several.
SECTION = r"(?:[0a-z](?:\.\d+)?|Q-\d+)"
CITATION = re.compile(rf"\b[Dd]efinitions ({SECTION}(?:(?:,| and|, and) {SECTION})*)\b")
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^    ((?:wayword|head(?= -)|echo) (?:.*\\\n)*.*)", re.MULTILINE)


def commands(page: str) -> list[str]:
    """What a page tells its reader to type."""
    return COMMAND.findall((ROOT / page).read_text(encoding="utf-8"))


def experiment_file(page: str) -> str:
    """Return the experiment that a page shows."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return text.split("```toml\n")[1].split("```")[0]


def corpus(folder: Path) -> None:
    """A small corpus under the names that pages use."""
    from wayword.corpus import toy
    from wayword.corpus.annotate import read_factored, write_conllu
    from wayword.corpus.files import open_text

    toy.write("de-en", 300, folder / "text", seed=1)
    for path in (folder / "text").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for name, part in (("de", "train"), ("dev", "dev")):
        write_conllu(folder / f"{name}.conllu", read_factored(folder / f"{part}.factored.de"))
    turned = [" ".join(line.split()[::-1]) for line in open_text(folder / "test.en")]
    (folder / "theirs.en").write_text("".join(f"{line}\n" for line in turned))
    sides = [(folder / f"train.{lang}").read_text().splitlines() for lang in ("de", "en")]
    (folder / "web.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in zip(*sides, strict=True)))


def prepare(folder: Path, page: str, toy_folder: Path) -> None:
    """All that the reader of a page has."""
    corpus(folder)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for name, text in COPIES.items():
        (folder / name).write_bytes((folder / text).read_bytes())
    (folder / "limits.toml").write_text(experiment_file("docs/experiment.md"))
    (folder / "one.toml").write_text(experiment_file("docs/evaluate.md"))
    shutil.copy(ROOT / "tests" / "nearness.py", folder)
    if page in WITH_SYSTEM:
        shutil.copytree(toy_folder / "system", folder / "system")
        make_servable(folder / "system", toy_folder / "corpus")
    if page == "docs/moses.md":
        golden = ROOT / "tests" / "golden" / "translate"
        for name in ("moses.ini", "phrase-table", "reordering-table", "lm.arpa"):
            (folder / name).write_bytes((golden / name).read_bytes())


def environment(folder: Path) -> dict[str, str]:
    """Nothing of the machine's own cache."""
    return {**os.environ, "WAYWORD_CACHE": str(folder / "cache")}


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path, toy_folder: Path) -> None:
    shell_lines = commands(page)
    assert len(shell_lines) >= 1
    prepare(tmp_path, page, toy_folder)
    head = f'wayword() {{ "{sys.executable}" -m wayword "$@"; }}'
    script = "\n".join([head, "set -e -o pipefail", *shell_lines])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=environment(tmp_path),
    )
    assert done.returncode == 0, done.stderr


def test_the_commands_of_the_page_on_clusters_are_understood() -> None:
    for line in commands(CLUSTER):
        args = build_parser("train").parse_args(shlex.split(line)[1:])
        assert args.runner.startswith("ray:"), line


def test_no_page_has_commands_that_are_not_run() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    with_commands = {name for page in pages if commands(name := page.relative_to(ROOT).as_posix())}
    assert with_commands == {*PAGES, SERVER, CLUSTER}
    for page in pages:
        fenced = re.findall(r"^wayword .*", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(fenced) <= {"wayword demo"}, page.name  # which has tests of its own


@contextmanager
def answering(command: str, folder: Path) -> Iterator[str]:
    """A server as a page starts it, but on a port that is free; it has to stop well."""
    words = shlex.split(command, comments=True)[1:]
    child = subprocess.Popen(
        [sys.executable, "-m", "wayword", *words, "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(folder),
    )
    assert child.stdout is not None
    try:
        lines = iter(child.stdout.readline, "")
        yield next(line.split()[3] for line in lines if "http://" in line)
    finally:
        child.terminate()
        assert child.wait(30) == 0
        child.stdout.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes without a signal")
def test_the_commands_of_the_server_run(tmp_path: Path, toy_folder: Path) -> None:
    pytest.importorskip("uvicorn", reason="no server: pip install 'wayword[serve]'")
    for name in ("system", "other"):
        shutil.copytree(toy_folder / "system", tmp_path / name)
    page = (ROOT / SERVER).read_text(encoding="utf-8")
    question = re.search(r"^    (curl (?:.*\\\n)*.*)", page, re.MULTILINE)
    assert question is not None
    first, pack, second = commands(SERVER)
    with answering(first, tmp_path) as address:
        asked = question.group(1).replace("http://127.0.0.1:5000", address.rstrip("/"))
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["translatedText"]
    packing = [sys.executable, "-m", "wayword", *shlex.split(pack)[1:]]
    subprocess.run(packing, cwd=tmp_path, check=True, capture_output=True)
    with (
        answering(second, tmp_path) as address,
        urllib.request.urlopen(f"{address.rstrip('/')}/languages", timeout=20) as answer,
    ):
        codes = {language["code"] for language in json.load(answer)}
    assert codes == {"de", "en", "xx"}


def fence(page: str, kind: str) -> str:
    """The first block of a kind in a page."""
    return page.split(f"```{kind}\n")[1].split("```", maxsplit=1)[0]


def test_the_unit_and_the_container_start_the_server() -> None:
    page = (ROOT / SERVER).read_text(encoding="utf-8")
    unit, container = fence(page, "ini"), fence(page, "dockerfile")
    started = shlex.split(unit.split("ExecStart=")[1].splitlines()[0])
    for words in (started, json.loads(container.split("CMD ")[1])):
        assert Path(words[0]).name == "wayword"
        asked = build_parser("serve").parse_args(words[1:])
        assert [Path(system).name for system in asked.systems] == ["de-en"]


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze: not installed"
)
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = fence((ROOT / SERVER).read_text(encoding="utf-8"), "ini")
    started = shlex.split(unit.split("ExecStart=")[1].splitlines()[0])
    path = tmp_path / "wayword.service"
    path.write_text(unit.replace(started[0], sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "wayword.service" not in done.stderr, done.stderr


def test_every_page_is_in_the_index_of_the_site() -> None:
    index = re.findall(r"([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    made = {f"reference/{name}" for name in run_path(str(MAKE))["pages"]()}
    kept = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert len(index) == len(set(index))
    assert set(index) == kept | made


def files_of(*kinds: str) -> list[Path]:
    """Pages, modules and crate files, by how their names end."""
    places = [ROOT / name for name in ("docs", "python", "crates")]
    paths = [ROOT / "README.md", *(path for place in places for path in place.rglob("*"))]
    return sorted(path for path in paths if path.suffix in kinds and "target" not in path.parts)


def test_nothing_points_outside_the_repository() -> None:
    for path in files_of(".md", ".py", ".pyi", ".rs", ".toml"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not OUTSIDE.search(line), f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


def sections() -> set[str]:
    """The sections of the definitions: each has an anchor, and a heading or a row of its own."""
    page = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    anchors = re.findall(rf'<a id="({SECTION})"></a>\n?(?:#+ )?\1\b', page)
    assert len(anchors) == len(set(anchors)) == page.count('<a id="')
    return set(anchors)


def test_every_definition_that_code_cites_is_there() -> None:
    known, cited = sections(), 0
    for path in files_of(".py", ".pyi", ".rs"):
        text = re.sub(r"\s*\n\s*(?://[/!]?|#)?\s*", " ", path.read_text(encoding="utf-8"))
        for citation in CITATION.findall(text):
            for section in re.findall(rf"\b{SECTION}\b", citation):
                assert section in known, f"{path.relative_to(ROOT)} cites definitions {section}"
                cited += 1
    assert cited > 20


def anchors_of(page: str) -> set[str]:
    """What a link may point to in a page: headings as GitHub spells them, and anchors."""
    headings = re.findall(r"^#+ (.*)", page, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', page))


def test_links_between_pages_lead_somewhere() -> None:
    made = {MAKE.with_name(name) for name in run_path(str(MAKE))["pages"]()}  # kept nowhere
    for path in [*files_of(".md"), ROOT / "CONTRIBUTING.md"]:
        for link in LINK.findall(path.read_text(encoding="utf-8")):
            if "://" in link:
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.exists() or target in made, f"{path.relative_to(ROOT)} links to {link}"
            if anchor and target.exists():
                assert anchor in anchors_of(target.read_text(encoding="utf-8")), link
