"""A person's visit to the server's page, in a real browser: translate, look, step, steer, teach."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving import make_servable, served
from tests.systems import add_waw
from tests.test_browser import FLAWS, SIZES

pytest.importorskip("starlette", reason="no server: pip install 'wayword[serve]'")
pytest.importorskip("uvicorn", reason="no server: pip install 'wayword[serve]'")

LINE = "Ich habe gestern den Tee getrunken ."
WANTED = "yesterday I had my tea ."


@pytest.fixture
def running(toy_folder: Path, tmp_path: Path) -> Iterator[Any]:
    """A server with a system that has a model of word order and an aligner."""
    folder = tmp_path / "system"
    shutil.copytree(toy_folder / "system", folder)
    add_waw(folder, toy_folder / "corpus")
    make_servable(folder, toy_folder / "corpus")
    with served(str(folder)) as running:
        yield running


class Visit:
    """A page that is open, and what it said and asked for."""

    def __init__(self, browser: Any, running: Any, size: str, scheme: str, path: str = "/") -> None:
        width, height = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            has_touch=size == "phone",
        )
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.foreign: list[str] = []
        self.address = running.address
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", self._note)
        self.page.goto(self.address + path)

    def _note(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:")):
            self.foreign.append(request.url)

    @property
    def translation(self) -> str:
        """The translation that is shown."""
        return " ".join(self.page.locator("#target-words .word").all_inner_texts())

    def settled(self, act: Any) -> None:
        """Do something that asks the server, and wait until the answer is shown."""
        before = self.page.evaluate("shownLast")
        act()
        self.page.wait_for_function(
            "before => shownLast > before && shownLast === asking", arg=before
        )

    def check(self, folder: Path, name: str) -> None:
        """Nothing leaves the window, no text is cut or lies over another, nobody complains."""
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert self.page.evaluate(wide) <= 0, name
        assert self.page.evaluate(FLAWS) == [], name
        shot = folder / f"{name}.png"
        self.page.screenshot(path=str(shot), full_page=True)
        assert shot.stat().st_size > 10_000
        assert self.messages == []
        assert self.foreign == []


def drag(page: Any, first: int, last: int) -> None:
    """Drag from one source word to another."""
    words = page.locator("#source-words .word")
    boxes = [words.nth(at).bounding_box() for at in (first, last)]
    middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
    page.mouse.move(*middles[0])
    page.mouse.down()
    page.mouse.move(*middles[1], steps=6)
    page.mouse.up()


def test_a_visit(browser: Any, running: Any, tmp_path: Path) -> None:
    visit = Visit(browser, running, "desktop", "light")
    visit.settled(lambda: visit.page.fill("#source", LINE))
    assert "tea" in visit.translation
    hover(visit, tmp_path)
    go_step_by_step(visit, tmp_path)
    steer(visit, tmp_path)
    change_the_search(visit)
    use_a_glossary(visit)
    correct(visit, tmp_path)
    # The address holds the state.
    path = visit.page.url.removeprefix(running.address)
    again = Visit(browser, running, "desktop", "light", path)
    again.page.wait_for_selector("#target-words .word")
    assert again.translation == WANTED
    assert again.page.locator("#source").input_value() == LINE


def hover(visit: Visit, folder: Path) -> None:
    """The partner of a word lights up, others stay dark."""
    page = visit.page
    page.locator("#source-words .word", has_text="Tee").hover()
    strength = "word => Number(getComputedStyle(word).getPropertyValue('--strength'))"
    lit = {
        word.inner_text(): word.evaluate(strength)
        for word in page.locator("#target-words .word").all()
    }
    assert lit["tea"] > 0.5
    assert min(lit.values()) < 0.2
    visit.check(folder, "translated")


def go_step_by_step(visit: Visit, folder: Path) -> None:
    """The derivation phrase by phrase, with buttons and keys."""
    page = visit.page
    turns = int(page.locator("#step").get_attribute("max"))
    page.locator("#first").click()
    assert "nothing is translated yet" in page.locator("#step-told").inner_text()
    page.keyboard.press("]")
    page.locator("#forward").click()
    assert f"turn 2 of {turns}" in page.locator("#step-told").inner_text()
    assert page.locator("#stack tr.on-path").count() == 1
    assert page.locator("#derivation rect.now").count() >= 1
    visit.check(folder, "stepped")


def steer(visit: Visit, folder: Path) -> None:
    """A wall, a zone and a fixed translation by dragging, and all of them gone again."""
    page, free = visit.page, visit.translation
    page.check("input[name=tool][value=wall]")
    visit.settled(lambda: drag(page, 3, 4))
    assert page.locator("#source-words .gap.wall").count() == 1
    assert "walls=4" in page.url
    crossing = "sentences[0].steps.some((one) => one.src.includes(3) && one.src.includes(4))"
    assert not page.evaluate(crossing)  # no phrase lies across it
    page.check("input[name=tool][value=zone]")
    visit.settled(lambda: drag(page, 0, 1))
    assert page.locator("#source-words .word.zone").count() == 2
    page.check("input[name=tool][value=fix]")
    drag(page, 4, 4)
    page.fill("#fix-text", "rooibos")
    visit.settled(page.locator("#fix button").click)
    assert "rooibos" in visit.translation
    visit.check(folder, "steered")
    visit.settled(page.locator("#clear").click)
    assert visit.translation == free


def change_the_search(visit: Visit) -> None:
    """In source order the verb stays at the end; with a limit that is wide enough it moves."""
    page, free = visit.page, visit.translation
    visit.settled(lambda: page.select_option("#space", "mono"))
    assert visit.translation != free
    visit.settled(lambda: page.select_option("#space", "dl"))
    visit.settled(lambda: page.locator("#limit").fill("12"))
    assert "space=dl%3A12" in page.url
    assert visit.translation == free


def use_a_glossary(visit: Visit) -> None:
    """A term gets its translation, until it is removed."""
    page = visit.page
    page.fill("#term", "Tee")
    page.fill("#becomes", "chai")
    visit.settled(page.locator("#glossary button").first.click)
    assert "chai" in visit.translation
    visit.settled(page.locator("#terms button").click)


def correct(visit: Visit, folder: Path) -> None:
    """Suggestions go on from what was typed, and a correction is learned."""
    page = visit.page
    with page.expect_response(lambda answer: "/suggest" in answer.url):
        page.fill("#correction", visit.page.evaluate("sentences[0].text").split()[0] + " ")
    page.wait_for_function("() => document.getElementById('completion').textContent")
    page.locator("#correction").press("Tab")
    assert page.locator("#correction").input_value() == visit.page.evaluate("sentences[0].text")
    page.fill("#correction", WANTED)
    page.locator("#learn").click()
    page.wait_for_function("() => document.getElementById('status').textContent.startsWith('lea')")
    assert visit.translation == WANTED
    visit.check(folder, "learned")


def test_the_page_on_a_phone_in_the_dark(browser: Any, running: Any, tmp_path: Path) -> None:
    visit = Visit(browser, running, "phone", "dark")
    visit.settled(lambda: visit.page.fill("#source", f"{LINE} Er hat gestern den Brief gelesen ."))
    assert visit.page.locator("#sentences button").count() == 2
    visit.page.locator("#sentences button").nth(1).click()
    visit.page.locator("#weights-box summary").click()
    visit.page.locator("#target-words .word").first.tap()
    visit.check(tmp_path, "phone")
    colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == "rgb(22, 24, 27)"


def test_the_page_by_keyboard_alone(browser: Any, running: Any, tmp_path: Path) -> None:
    visit = Visit(browser, running, "desktop", "dark")
    page = visit.page
    page.locator("#source").focus()
    visit.settled(lambda: page.keyboard.type(LINE))
    page.locator("#source-words .word").first.focus()
    page.keyboard.press("ArrowRight")
    visit.settled(lambda: page.keyboard.press("w"))
    assert "walls=2" in page.url
    page.locator("#source-words .word").nth(3).focus()
    page.keyboard.press("Shift+ArrowRight")
    visit.settled(lambda: page.keyboard.press("z"))
    assert "zones=3-4" in page.url
    visit.check(tmp_path, "keyboard")


def test_what_the_server_refuses_is_shown(browser: Any, running: Any) -> None:
    visit = Visit(browser, running, "desktop", "light", "/#q=Tee&space=dl:99x")
    visit.page.wait_for_selector("#status.wrong")
    assert "space" in visit.page.locator("#status").inner_text()
