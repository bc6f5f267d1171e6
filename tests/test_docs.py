"""README and docs: commands run as they stand there, and whatever is cited is in the repository."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest

ROOT = Path(__file__).parents[1]
MAKE = ROOT / "docs" / "reference" / "make.py"
PAGES = (
    *("README.md", "docs/tutorial.md", "docs/train.md", "docs/experiment.md", "docs/moses.md"),
    *("docs/preorder.md", "docs/corpus.md", "docs/normalise.md", "docs/neural.md"),
    *("docs/unseen.md", "docs/profile.md", "docs/report.md"),
    *("docs/stability.md", "docs/install.md", "docs/new-to-translation.md", "docs/teaching.md"),
    *("docs/low-resource.md", "docs/other-output.md", "docs/stages.md", "docs/align.md"),
    *("docs/doctor.md", "docs/lm.md", "docs/oracle.md", "docs/toy.md"),
)

#: Files that a reader has and we have not.
FILES = {
    "raw.de": "Das Haus ist klein.\n",
    "output.en": "the house is small\n",
    "reference.en": "the house is little\n",
    "input.txt": "Das Haus ist klein .\n",
    "terms.tsv": "Quarkstrudel\tcurd strudel\n",
}
#: Further text of a reader, as good as this of the corpus.
COPIES = {"new.de": "test.de", "new.en": "test.en", "talks.en": "train.en", "news.en": "dev.en"}
#: What no reader of the repository has.
OUTSIDE = re.compile(r"\bSPEC\b|PEERS|[Pp]eers page|\.\./shared")
#: A section of docs/definitions.md, and a citation of one or several.
SECTION = r"(?:[0a-z](?:\.\d+)?|Q-\d+)"
CITATION = re.compile(rf"\b[Dd]efinitions ({SECTION}(?:(?:,| and|, and) {SECTION})*)\b")
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^    ((?:wayword|head|echo) (?:.*\\\n)*.*)", re.MULTILINE)


def commands(page: str) -> list[str]:
    """What a page tells its reader to type."""
    return COMMAND.findall((ROOT / page).read_text(encoding="utf-8"))


def experiment_file() -> str:
    """The example of the page on experiments."""
    page = (ROOT / "docs" / "experiment.md").read_text(encoding="utf-8")
    return page.split("```toml\n")[1].split("```")[0]


def corpus(folder: Path) -> None:
    """A small corpus under the names that pages use."""
    from wayword.corpus import toy

    toy.write("de-en", 300, folder / "text", seed=1)
    for path in (folder / "text").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    sides = [(folder / f"train.{lang}").read_text().splitlines() for lang in ("de", "en")]
    (folder / "web.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in zip(*sides, strict=True)))


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path, toy_folder: Path) -> None:
    shell_lines = commands(page)
    assert len(shell_lines) >= 1
    corpus(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name, text in COPIES.items():
        (tmp_path / name).write_bytes((tmp_path / text).read_bytes())
    (tmp_path / "limits.toml").write_text(experiment_file())
    if page == "docs/oracle.md":
        shutil.copytree(toy_folder / "system", tmp_path / "system")
    if page == "docs/moses.md":
        golden = ROOT / "tests" / "golden" / "translate"
        for name in ("moses.ini", "phrase-table", "reordering-table", "lm.arpa"):
            (tmp_path / name).write_bytes((golden / name).read_bytes())
    head = f'wayword() {{ "{sys.executable}" -m wayword "$@"; }}'
    script = "\n".join([head, "set -e -o pipefail", *shell_lines])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "WAYWORD_CACHE": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr


def test_the_first_screen_of_the_readme_says_what_it_is_and_for_whom() -> None:
    screen = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:48]
    wanted = (
        *("machine translation that gets word order right", "**It is for you**", "order.svg"),
        *("**It is not for you**", "pip install", "wayword demo", "wayword translate", "BLEU"),
    )
    for words in wanted:
        assert any(words in line for line in screen), words


def test_every_page_starts_with_what_its_reader_can_do() -> None:
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path.name not in {"index.md", "reliability.md"}:
            second = path.read_text(encoding="utf-8").split("\n\n")[1]
            assert second.startswith("After this page you "), path.name


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
