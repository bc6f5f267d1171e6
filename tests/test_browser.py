"""Pages in a real browser: they ask nothing of anybody, nothing is cut or overlaps, clicks work."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from wayword.align import Links
from wayword.corpus import Bitext, toy
from wayword.evaluate import Gold, Output, compare
from wayword.evaluate.raw import Judged
from wayword.overview import report
from wayword.pipeline import train
from wayword.profile import profile
from wayword.profile.many import compare as compare_profiles
from wayword.report import side_by_side
from wayword.report.experiment import Result, Row
from wayword.report.experiment_page import Texts
from wayword.report.experiment_page import page_of as experiment_page

#: One worker trains the systems of the pages.
pytestmark = pytest.mark.xdist_group("browser")

SIZES = {"desktop": (1200, 900), "phone": (390, 844)}
QUICK: dict[str, Any] = {
    "lm": {"order": 3},
    "model": {"features": ["waw"]},
    "waw": {"min_count": 5},
    "tune": {"runs": 2, "rounds": 2, "nbest": 20},
    "search": {"pop_limit": 50},
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "profile": cards()[0].to_html(),
        "many": compare_profiles(cards(), resamples=20).to_html(),
        "report": system_page(folder),
        "experiment": experiment_of_two(),
        "side by side": side_by_side.draw(judged()),
    }
    paths = {}
    for name, text in made.items():
        paths[name] = folder / f"{name.replace(' ', '-')}.html"
        paths[name].write_text(text, encoding="utf-8")
    return paths


def cards() -> list[Any]:
    made = []
    for name in ("de-en", "ja-en", "ar-en"):
        pairs = list(toy.generate(name, 200, seed=1))
        bitext = Bitext.from_pairs((" ".join(pair.src), " ".join(pair.tgt)) for pair in pairs)
        links = Links.from_lists(pair.links for pair in pairs)
        made.append(profile(bitext, links, name=name, tags=[pair.pos for pair in pairs]))
    return made


def system_page(folder: Path) -> str:
    toy.write("de-en", 200, folder, seed=1)
    dev, test = ([folder / f"{name}.{lang}" for lang in ("de", "en")] for name in ("dev", "test"))
    text = folder / "train.de", folder / "train.en"
    for name, space in (("one", "dl:2"), ("two", "auto")):
        config = {**QUICK, "search": {**QUICK["search"], "space": space}}
        train(*text, folder / name, dev=dev, config=config)
    return report(folder / "one", folder / "two", test=test, oracle=3).to_html()


def experiment_of_two() -> str:
    rows = tuple(
        Row("toy", name, {"bleu": (score, 1.5, p, mark)}, ms, 30.0, 0.2, (30.0,))
        for name, score, p, mark, ms in (
            ("dl 6", 30.0, None, "", 0.3),
            ("dl 12, with a long name that has to be cut somewhere", 32.0, 0.01, "▲", 0.9),
        )
    )
    result = Result("limits", "dl 6", ("bleu",), rows, {"bleu": "BLEU|…"}, "seed:1")
    names = [row.variant for row in rows]
    texts = Texts(
        "toy",
        2,
        (1, 2),
        ("er trinkt Tee", "sie liest"),
        ("he drinks tea", "she reads"),
        dict.fromkeys(names, ("he drinks tea", "reads she")),
        {names[0]: (90.0, 20.0), names[1]: (80.0, 60.0)},
    )
    return experiment_page(result, [texts])


def judged() -> Judged:
    links = [[(0, 0), (1, 1)]]
    gold = Gold(refs=[["he drinks"]], src=["er trinkt"], ref_links=[links])
    outputs = (Output("one", ["drinks he"], [[(0, 1), (1, 0)]]),)
    return Judged(compare(gold, outputs, ["bleu"], resamples=10), gold, outputs)


@dataclass
class Seen:
    """What a page said and asked for while it was open."""

    page: Any
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def open_page(browser: Any, path: Path, size: str = "desktop", scheme: str = "light") -> Seen:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
    )
    seen = Seen(context.new_page())
    seen.page.on("console", lambda message: seen.messages.append(message.text))
    seen.page.on("pageerror", lambda error: seen.messages.append(str(error)))
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.goto(path.as_uri())
    return seen


#: Texts of pictures that leave their picture, or lie over another text.
FLAWS = """() => {
  const flaws = [];
  for (const svg of document.querySelectorAll("svg")) {
    const box = svg.getBoundingClientRect();
    if (!box.width) continue;
    const texts = [...svg.querySelectorAll("text")].map((text) =>
      [text.textContent, text.getBoundingClientRect()]);
    texts.forEach(([name, one], at) => {
      const isCut = one.left < box.left - 2 || one.right > box.right + 2 ||
        one.top < box.top - 3 || one.bottom > box.bottom + 3;
      if (isCut) flaws.push(`cut: ${name} in ${svg.getAttribute("aria-label")}`);
      for (const [other, two] of texts.slice(at + 1)) {
        const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        if (wide > 2 && high > 4) flaws.push(`over each other: ${name} and ${other}`);
      }
    });
  }
  return flaws;
}"""


@pytest.mark.parametrize("kind", ["profile", "many", "report", "experiment", "side by side"])
def test_a_page_shows_itself_alone_and_whole(
    browser: Any, pages: dict[str, Path], kind: str, tmp_path: Path
) -> None:
    for size, scheme in (("desktop", "light"), ("phone", "dark")):
        seen = open_page(browser, pages[kind], size, scheme)
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert seen.page.evaluate(wide) <= 0, size
        if kind != "side by side":
            assert seen.page.evaluate(FLAWS) == [], size
        shot = tmp_path / f"{size}.png"
        seen.page.screenshot(path=str(shot), full_page=True)
        assert shot.stat().st_size > 10_000
        assert seen.messages == []
        assert seen.requests == [pages[kind].as_uri()]
        seen.page.context.close()


def test_dark_and_light_differ(browser: Any, pages: dict[str, Path]) -> None:
    colours = []
    for scheme in ("light", "dark"):
        seen = open_page(browser, pages["profile"], scheme=scheme)
        colours.append(seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        seen.page.context.close()
    assert colours == ["rgb(255, 255, 255)", "rgb(22, 24, 27)"]


def test_sentences_are_searched_chosen_and_sorted(browser: Any, pages: dict[str, Path]) -> None:
    page = open_page(browser, pages["report"]).page
    shown = page.locator(".list > li:visible")
    every = shown.count()
    page.keyboard.press("/")
    page.keyboard.type(shown.first.locator(".line span:last-child").first.inner_text()[:12])
    assert 0 < shown.count() < every
    assert page.locator(".listed [role=status]").inner_text().startswith(f"{shown.count()} of")
    page.locator("form button[type=reset]").click()
    page.wait_for_function(
        "count => document.querySelectorAll('.list > li:not([hidden])').length === count", arg=every
    )
    page.select_option("select[name=sort]", label="best one first")
    scores = [
        float(x)
        for x in page.evaluate(
            "[...document.querySelectorAll('.list > li')].map((li) => li.dataset.score0)"
        )
    ]
    assert scores == sorted(scores, reverse=True)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("j")
    here = "[...document.querySelectorAll('.list > li')].indexOf(document.activeElement)"
    assert page.evaluate(here) == 1


def test_a_number_leads_to_its_sentences(browser: Any, pages: dict[str, Path]) -> None:
    page = open_page(browser, pages["report"]).page
    page.locator('a[data-set="unknown=yes"]').first.click()
    shown = page.locator(".list > li:visible")
    assert shown.count() == page.locator('.list > li[data-unknown="yes"]').count() > 0
    assert page.url.endswith("#sentences")
    page = open_page(browser, pages["experiment"]).page
    page.locator('a[data-set="sort=-gain1"]').click()
    assert page.locator(".list > li").first.get_attribute("data-gain1") == "40"


def test_tables_are_sorted_by_their_heads(browser: Any, pages: dict[str, Path]) -> None:
    page = open_page(browser, pages["profile"]).page
    head = page.locator("table.sortable th button").nth(1)
    assert head.inner_text() == "words"
    rows = "[...document.querySelectorAll('table.sortable tbody tr')]"
    column = f"{rows}.map((row) => row.cells[1].textContent)"
    for way in (-1, 1):
        head.click()
        counts = [int(text.replace(",", "")) for text in page.evaluate(column)]
        assert counts == sorted(counts, key=lambda count: way * count)


def test_without_a_script_everything_is_there(browser: Any, pages: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["profile"].as_uri())
    assert page.locator(".list > li").first.is_visible()
    assert not page.locator("form").first.is_visible()
    context.close()
