"""The server: answers as LibreTranslate does, keeps its limits, learns, and stops well."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serving import ask, make_servable, served

from wayword.corpus.offsets import locate
from wayword.decode import Translation
from wayword.errors import ArgumentError
from wayword.system import System

pytest.importorskip("starlette", reason="no server: pip install 'wayword[serve]'")
pytest.importorskip("uvicorn", reason="no server: pip install 'wayword[serve]'")

from wayword.web.options import Options
from wayword.web.pool import Busy, Pool, TimeUp
from wayword.web.service import Loaded
from wayword.web.tags import parse, place

LINE = "Ich habe gestern den Tee getrunken ."
DE_EN = {"source": "de", "target": "en"}


@pytest.fixture(scope="module")
def folder(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "system"
    shutil.copytree(toy_folder / "system", folder)
    make_servable(folder, toy_folder / "corpus")
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Any:
    with served(str(folder), queue=64) as running:
        yield running


def value(running: Any, path: str, body: Any = None) -> Any:
    status, _, answer = ask(running, path, body)
    assert status == 200, answer
    return answer


# --- as LibreTranslate's clients ask ------------------------------------------------------------


def test_a_published_client_works_unchanged(running: Any, folder: Path) -> None:
    client = pytest.importorskip("libretranslatepy", reason="pip install libretranslatepy")
    api = client.LibreTranslateAPI(running.address + "/")
    assert api.translate(LINE, "de", "en") == System.open(folder).translate(LINE).text
    assert [language["code"] for language in api.languages()] == ["de", "en"]
    assert api.detect("der alte Mann liest")[0]["language"] == "de"
    assert api.detect("the old man reads")[0]["language"] == "en"


def test_text_lists_and_alternatives(running: Any, folder: Path) -> None:
    best = System.open(folder).translate(LINE, nbest=3, distinct=True).nbest
    answer = value(running, "/translate", {"q": LINE, **DE_EN, "alternatives": 2})
    assert answer == {
        "translatedText": best[0].text,
        "alternatives": [best[1].text, best[2].text],
    }
    answer = value(running, "/translate", {"q": [LINE, "", "Tee ."], **DE_EN})
    assert answer["translatedText"][:2] == [best[0].text, ""]
    assert value(running, "/translate", {"q": [], **DE_EN}) == {"translatedText": []}
    answer = value(running, "/translate", {"q": LINE, "source": "auto", "target": "en"})
    assert answer["detectedLanguage"]["language"] == "de"
    traced = value(running, "/translate", {"q": LINE, **DE_EN, "trace": True})["trace"][0]
    assert traced["links"] == [list(pair) for pair in best[0].links]


def test_what_stands_between_sentences_stays(running: Any) -> None:
    answer = value(running, "/translate", {"q": f" {LINE}\n\n\t{LINE} \n", **DE_EN})
    text = answer["translatedText"]
    assert text.startswith(" ")
    assert "\n\n\t" in text
    assert text.endswith(" \n")


def test_sentences_are_those_of_the_system(running: Any, folder: Path) -> None:
    system = System.open(folder)
    text = f"{LINE} Tee !\n\n{LINE}\tEr kam am 3. Mai . Tee !"
    best = system.translate(text, nbest=4, distinct=True).nbest
    answer = value(running, "/translate", {"q": text, **DE_EN, "alternatives": 3})
    assert answer["translatedText"] == best[0].text
    assert answer["alternatives"] == [other.text for other in best[1:]]
    marked = f"{LINE} <zone>Tee . Tee !</zone> {LINE}"
    answer = value(running, "/translate", {"q": marked, **DE_EN, "markup": True, "trace": True})
    assert answer["translatedText"] == system.translate(marked, markup=True).text
    assert len(answer["trace"]) == 3
    asked = {"q": marked, **DE_EN, "markup": True}
    assert len(value(running, "/explain", asked)["sentences"]) == 3
    graph = value(running, "/word-graph", {"q": f"{LINE} Tee !", **DE_EN})
    assert len(graph["ends"]) == 1
    assert len(graph["source"]) == 9


def test_tokenised_text_is_split_at_line_breaks_alone(folder: Path, tmp_path: Path) -> None:
    toy = System.open(folder)
    System(toy.parts, weights=toy.weights, settings=toy.settings).save(tmp_path / "plain")
    with served(f"de-en={tmp_path / 'plain'}") as running:
        asked = {"q": f"{LINE} {LINE}\n{LINE}", **DE_EN, "trace": True}
        answer = value(running, "/translate", asked)
    assert [len(each["source_tokens"]) for each in answer["trace"]] == [14, 7]
    assert answer["translatedText"].count("\n") == 1


def test_a_run_of_dots_is_one_sentence(running: Any) -> None:
    answer = value(running, "/translate", {"q": "." * 20_000, **DE_EN, "trace": True})
    assert len(answer["trace"]) == 1


def test_glossary_settings_weights_and_markup(running: Any) -> None:
    def translate(**fields: Any) -> str:
        return str(value(running, "/translate", {"q": LINE, **DE_EN, **fields})["translatedText"])

    assert "rooibos" in translate(glossary={"Tee": "rooibos"})
    assert "rooibos" in translate(glossary=[["Tee", "rooibos"]])
    mono = translate(settings={"space": "mono"})
    assert mono != translate()
    assert translate(weights={"d": 50.0}) == mono
    marked = LINE.replace("den Tee", "<n translation='a cup'>den Tee</n> <wall/>")
    assert "a cup" in translate(q=marked, markup=True)


def test_html_keeps_its_tags(running: Any) -> None:
    html = (
        '<p class="x">Ich habe <b>gestern</b> den <a href="?a=1&amp;b=2">Tee</a> getrunken .</p>'
        "<!-- das <b> --><script>if (a<b) {}</script><br>&lt;ja&gt; "
        '<i translate="no">Tee</i> <img src="x">'
    )
    answer = value(running, "/translate", {"q": html, **DE_EN, "format": "html"})
    text = answer["translatedText"]
    for kept in (
        '<p class="x">',
        "<b>yesterday</b>",
        '<a href="?a=1&amp;b=2">tea</a>',
        "</p><!-- das <b> --><script>if (a<b) {}</script><br>",
        "&lt;",
        '<i translate="no">Tee</i>',
        '<img src="x">',
    ):
        assert kept in text, (kept, text)


def test_its_own_questions(running: Any) -> None:
    aligned = value(running, "/align", {"q": "Tee trinken", "translation": "drink tea", **DE_EN})
    assert aligned["source"] == ["Tee", "trinken"]
    assert [0, 1] in aligned["chosen"]
    assert all(0 < p <= 1 for _, _, p in aligned["links"])
    told = value(running, "/explain", {"q": f"{LINE} Tee !", **DE_EN})["sentences"]
    assert len(told) == 2
    first = told[0]
    assert sum(v * w for _, v, w in first["features"]) == pytest.approx(first["score"], abs=1e-3)
    assert sorted(at for step in first["steps"] for at in step["src"]) == list(range(7))
    assert len(first["stacks"]) == 8
    assert first["nbest"][0]["text"] == first["text"]
    graph = value(running, "/word-graph", {"q": LINE, **DE_EN})
    assert graph["arcs"]
    assert len(graph["ends"]) == 1
    whole = first["text"]
    suggested = value(running, "/suggest", {"q": LINE, "prefix": whole[:7], **DE_EN})
    assert suggested["text"] == whole
    status, headers, text = ask(running, "/metrics")
    assert status == 200
    assert 'wayword_requests_total{path="/explain",status="200"}' in text
    assert headers["content-type"].startswith("text/plain")
    assert int(text.split("\nwayword_sentences_total ")[1].split()[0]) > 0
    assert ask(running, "/secret/path", {})[0] == 404
    assert "secret" not in ask(running, "/metrics")[2]
    document = value(running, "/openapi.json")
    assert {"/translate", "/suggest", "/word-graph"} <= set(document["paths"])
    assert "POST /translate" in ask(running, "/docs")[2]


def test_several_systems_and_directions(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "system"
    shutil.copytree(folder, other)
    with served(str(folder), f"xx-yy={other}", f"de-en={other}") as running:
        names = [one["name"] for one in value(running, "/frontend/settings")["systems"]]
        assert len(names) == 3
        codes = {one["code"]: one["targets"] for one in value(running, "/languages")}
        assert codes == {"de": ["en"], "en": ["en"], "xx": ["yy"], "yy": ["yy"]}
        answer = value(running, "/translate", {"q": LINE, "source": "xx", "target": "yy"})
        assert answer == value(running, "/translate", {"q": LINE, **DE_EN})
        status, _, wrong = ask(running, "/translate", {"q": LINE, "source": "en", "target": "de"})
        assert status == 400
        assert wrong["error"].endswith("expected one of de to en, xx to yy, de to en")


def test_languages_have_to_be_known(folder: Path) -> None:
    with pytest.raises(ArgumentError, match="expected languages such as de-en="):
        Loaded.open(f"deen={folder}")


# --- a good neighbour --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("/translate", {"q": 3, **DE_EN}, 400, "q: found a number; expected text or a list"),
        ("/translate", {"q": LINE, "source": "de", "target": "fr"}, 400, "found de to fr"),
        ("/translate", {"q": LINE, **DE_EN, "format": "pdf"}, 400, "format: found `pdf`"),
        ("/translate", {"q": LINE, **DE_EN, "alternatives": -1}, 400, "alternatives: found -1"),
        ("/translate", {"q": LINE, **DE_EN, "system": "x"}, 400, "system: found `x`"),
        ("/translate", {"q": LINE, **DE_EN, "settings": {"space": "no"}}, 400, "space"),
        ("/translate", {"q": LINE, **DE_EN, "settings": {"pop_limit": 0}}, 400, "expected 1 to"),
        ("/translate", {"q": LINE, **DE_EN, "weights": {"x": 1}}, 400, "weights: found `x`"),
        ("/translate", {"q": "<zone> a", **DE_EN, "markup": True}, 400, "is never closed"),
        ("/translate", {"q": LINE * 4000, **DE_EN}, 413, "the limit is 20000"),
        ("/translate", {"q": ["a"] * 600, **DE_EN}, 413, "the limit is 500"),
        ("/translate", [], 400, "body: found a list; expected a table of keys"),
        ("/explain", {"q": [LINE], **DE_EN}, 400, "q: found a list; expected text"),
        ("/align", {"q": LINE, **DE_EN}, 400, "translation: found nothing; expected text"),
        ("/learn", {"q": LINE, "translation": " ", **DE_EN}, 400, "target: no words"),
        ("/nothing", {"q": ""}, 404, "nothing is there; see /docs"),
        ("/languages", {"q": ""}, 405, "it does not take POST"),
    ],
)
def test_what_cannot_be_answered_is_told(
    running: Any, path: str, body: Any, status: int, error: str
) -> None:
    found, headers, answer = ask(running, path, body)
    assert (found, set(answer)) == (status, {"error"})
    assert error in answer["error"]
    assert headers["x-content-type-options"] == "nosniff"


def test_bodies_that_are_no_json_are_refused(running: Any) -> None:
    for raw in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"q": NaN}', b'"x"', b'{"q": "\\ud800"}'):
        status, _, answer = ask(running, "/translate", raw=raw)
        assert status == 400, raw[:20]
        assert set(answer) == {"error"}
    too_large = b" " * ((1 << 20) + 1)
    assert ask(running, "/translate", raw=too_large)[0] == 413
    status, _, _ = ask(running, "/translate", raw=b"q=x", headers={"content-type": "text/plain"})
    assert status == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ("q", "source", "target", "format", "alternatives", "glossary", "settings", "weights", "trace",
     "markup", "system", "prefix", "translation", "nbest", "stacks", "s", "api_key")
)  # fmt: skip
PATHS = ("/translate", "/detect", "/align", "/explain", "/word-graph", "/suggest")


@settings(max_examples=120)
@given(path=st.sampled_from(PATHS), body=st.dictionaries(FIELDS, JSON, max_size=8))
def test_any_body_gets_an_answer_or_one_sentence(running: Any, path: str, body: Any) -> None:
    status, _, answer = ask(running, path, {"q": "Tee .", **DE_EN, **body})
    assert status in {200, 400, 413}, answer
    if status != 200:
        assert set(answer) == {"error"}
        assert "\n" not in answer["error"]


@settings(max_examples=60)
@given(raw=st.binary(max_size=200))
def test_any_bytes_get_an_answer(running: Any, raw: bytes) -> None:
    assert ask(running, "/translate", raw=raw)[0] in {400, 413}


@settings(max_examples=100)
@given(text=st.text(alphabet='ab <>/"=!-&;.bip\n', max_size=60))
def test_html_of_any_kind_comes_back_whole(running: Any, text: str) -> None:
    body = {"q": text, **DE_EN, "format": "html"}
    status, _, answer = ask(running, "/translate", body)
    assert status == 200, answer


def test_no_answer_names_a_place_of_this_machine(running: Any, folder: Path) -> None:
    for path in (
        "/frontend/settings",
        "/languages",
        "/health",
        "/openapi.json",
        "/metrics",
        "/docs",
    ):
        assert str(folder.parent) not in json.dumps(ask(running, path)[2])
    shown = running.service.without_paths(f"{folder}/system.toml: damaged")
    assert shown == "system/system.toml: damaged"


def test_foreign_pages_and_names_are_refused(running: Any) -> None:
    body = {"q": LINE, **DE_EN}
    status, headers, _ = ask(running, "/translate", body, headers={"origin": "https://evil.org"})
    assert status == 403
    assert "access-control-allow-origin" not in headers
    assert ask(running, "/translate", body, headers={"origin": running.address})[0] == 200
    assert ask(running, "/health", headers={"host": "evil.org"})[0] == 421


def test_pages_of_allowed_origins_may_ask(folder: Path) -> None:
    with served(str(folder), origins=("https://good.org",)) as running:
        body = {"q": LINE, **DE_EN}
        status, headers, _ = ask(
            running, "/translate", body, headers={"origin": "https://good.org"}
        )
        assert status == 200
        assert headers["access-control-allow-origin"] == "https://good.org"


def test_keys(folder: Path) -> None:
    with served(str(folder), keys=frozenset(("sesame", "schlüssel"))) as running:
        body = {"q": LINE, **DE_EN}
        assert ask(running, "/translate", body)[0] == 403
        assert ask(running, "/translate", {**body, "api_key": "wrong"})[0] == 403
        assert ask(running, "/translate", {**body, "api_key": 3})[0] == 403
        assert ask(running, "/translate", {**body, "api_key": "schlüssel"})[0] == 200
        for name, text in (("authorization", "Bearer sesame"), ("x-api-key", "sesame")):
            assert ask(running, "/translate", body, headers={name: text})[0] == 200
        assert ask(running, "/metrics")[0] == 403
        assert value(running, "/frontend/settings")["keyRequired"] is True


def test_a_search_whose_time_is_up_is_stopped(folder: Path) -> None:
    with served(str(folder), time_limit=0.3) as running:
        slow = " ".join(["Ich habe gestern den Tee getrunken"] * 12) + " ."
        wide = {"space": "dl:40", "pop_limit": 20_000}
        start = time.monotonic()
        status, _, answer = ask(running, "/translate", {"q": slow, **DE_EN, "settings": wide})
        assert status == 504
        assert "longer than 0.3 seconds" in answer["error"]
        assert time.monotonic() - start < 5
        assert ask(running, "/translate", {"q": "Tee .", **DE_EN})[0] == 200


def test_a_full_queue_is_told_at_once(folder: Path) -> None:
    with served(str(folder), queue=1, threads=1) as running:
        gate = threading.Event()

        def hold(items: Any, _threads: int, _progress: Any) -> Any:
            gate.wait(20)
            return items

        futures = [running.app.pool.submit(hold, [1], seconds=20)]
        while running.app.pool.waiting:
            time.sleep(0.01)
        futures.append(running.app.pool.submit(hold, [1], seconds=20))
        status, headers, answer = ask(running, "/translate", {"q": LINE, **DE_EN})
        assert (status, set(answer)) == (503, {"error"})
        assert int(headers["retry-after"]) >= 1
        assert ask(running, "/health")[0] == 200  # others are still answered
        gate.set()
        assert [future.result() for future in futures] == [[1], [1]]
        assert ask(running, "/translate", {"q": LINE, **DE_EN})[0] == 200


def test_the_pool_runs_like_tasks_together_and_spares_them_one_that_is_late() -> None:
    pool = Pool(workers=1, queue=10, batch=8)
    sizes = []

    def run(items: Any, _threads: int, progress: Any) -> Any:
        sizes.append(len(items))
        while "slow" in items:
            progress(0, 0)
            time.sleep(0.01)
        if "bad" in items:
            raise ValueError("bad")
        return items

    gate = threading.Event()
    first = pool.submit(lambda items, _t, _p: (gate.wait(10), items)[1], [0], seconds=10)
    wanted = [
        pool.submit(run, [name], seconds=0.2 if name == "slow" else 10, key="same")
        for name in ("a", "slow", "bad", "b")
    ]
    gate.set()
    assert first.result() == [0]
    assert wanted[0].result() == ["a"]
    with pytest.raises(TimeUp):
        wanted[1].result()
    with pytest.raises(ValueError, match="bad"):
        wanted[2].result()
    assert wanted[3].result() == ["b"]
    assert max(sizes) > 1
    pool.stop()
    with pytest.raises(Busy):
        pool.submit(run, ["a"], seconds=1)


def test_many_requests_at_once_get_their_own_answers(running: Any, toy_folder: Path) -> None:
    lines = (toy_folder / "corpus" / "test.de").read_text().splitlines()[:24]
    expected = {line: value(running, "/translate", {"q": line, **DE_EN}) for line in lines}
    answers: dict[str, Any] = {}

    def work(line: str) -> None:
        answers[line] = ask(running, "/translate", {"q": line, **DE_EN})[2]

    threads = [threading.Thread(target=work, args=(line,)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == expected


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"port": 70_000}, "port: found 70000; expected 0 to 65535"),
        ({"time_limit": 0.0}, "time_limit: found 0.0; expected 0.001 or more"),
        ({"max_sentences": 0}, "max_sentences: found 0; expected 1 or more"),
        ({"origins": ("good.org",)}, r"origins: found `good\.org`; expected such as"),
    ],
)
def test_options_are_checked(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Options(**choice)


# --- learning ----------------------------------------------------------------------------------


def test_a_correction_counts_for_the_next_request(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "system")
    wanted = "the tea was had by me."
    with served(str(tmp_path / "system")) as running:
        question = {"q": LINE, **DE_EN}
        before = value(running, "/translate", question)["translatedText"]
        learned = value(running, "/learn", {**question, "translation": wanted})
        assert learned["success"]
        assert learned["lessons"] == 1
        assert value(running, "/translate", question)["translatedText"] == wanted != before
        # As LibreTranslate's page sends a better translation.
        assert value(running, "/suggest", {**question, "s": wanted})["lessons"] == 2
        value(running, "/learn", {**DE_EN, "glossary": {"Kaffee": "mocha"}})
        answer = value(running, "/translate", {"q": "Er trinkt Kaffee .", **DE_EN})
        assert "mocha" in answer["translatedText"]
        running.reload()
        assert value(running, "/translate", question)["translatedText"] == wanted
    assert System.open(tmp_path / "system").translate(LINE).text == wanted


def test_a_server_may_refuse_to_learn(folder: Path) -> None:
    with served(str(folder), learns=False) as running:
        body = {"q": LINE, "translation": "x", **DE_EN}
        assert ask(running, "/learn", body)[0] == 403


# --- the command -------------------------------------------------------------------------------


def started(folder: Path, *options: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "wayword", "serve", str(folder), "--port", "0", *options]
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "de to en: system\n"
    address = child.stdout.readline().split()[3]
    return child, address


class Address:
    """Where a server of another process answers."""

    def __init__(self, address: str) -> None:
        self.address = address


def test_the_command_answers_reloads_logs_no_text_and_stops_well(folder: Path) -> None:
    child, address = started(folder)
    running = Address(address)
    assert "127.0.0.1" in address
    assert ask(running, "/translate", {"q": LINE, **DE_EN})[0] == 200
    if hasattr(signal, "SIGHUP"):
        os.kill(child.pid, signal.SIGHUP)
        for _ in range(100):
            if "wayword_reloads_total 1" in ask(running, "/metrics")[2]:
                break
            time.sleep(0.05)
        assert "wayword_reloads_total 1" in ask(running, "/metrics")[2]
    # A request that was taken is answered, though the server is asked to stop meanwhile.
    answers: list[Any] = []
    many = {"q": [LINE] * 300, **DE_EN}
    thread = threading.Thread(target=lambda: answers.append(ask(running, "/translate", many)))
    thread.start()
    time.sleep(0.15)
    child.terminate()
    thread.join()
    out, err = child.communicate(timeout=30)
    assert child.returncode == 0, err
    assert answers[0][0] == 200
    assert len(answers[0][2]["translatedText"]) == 300
    assert out == ""
    assert "Tee" not in err
    logged = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert any(line["path"] == "/translate" and line["status"] == 200 for line in logged)


def test_a_port_that_is_taken_is_told(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "wayword", "serve", str(folder), "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"127.0.0.1:{port}: cannot listen there" in done.stderr
    assert "choose another with --port" in done.stderr


def test_half_a_request_does_no_harm(running: Any) -> None:
    where = urlsplit(running.address)
    for sent in (
        b"POST /translate HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99\r\n\r\n{",
        b"\0\0",
    ):
        with socket.create_connection((where.hostname, where.port)) as opened:
            opened.sendall(sent)
    assert ask(running, "/health")[0] == 200


# --- pieces --------------------------------------------------------------------------------------


def test_html_without_translation_comes_back_as_it_was() -> None:
    for html in (
        "<ul><li>eins</li> <li><b>zwei</b> drei</li></ul>",
        "<b><p>eins</p><p>zwei</p></b>",
        "a<br/>b<hr>c",
        "<p>x <span translate=no>y</span> z</p>",
        "<table><tr><td>1</td></tr></table>",
    ):
        document = parse(html)
        texts = []
        for segment in document.segments:
            words = segment.text.split()
            same = Translation(
                source=tuple(words),
                tokens=tuple(words),
                text=segment.text,
                score=0.0,
                features={},
                phrases=(),
                links=tuple((at, at) for at in range(len(words))),
                offsets=locate(words, segment.text),
            )
            texts.append(
                place(segment.text, segment.part(0, len(segment.text), len(segment.text)), same)
            )
        filled = document.filled(texts)
        if html.startswith("<b><p>"):  # the outer tag goes into each paragraph
            assert filled == "<p><b>eins</b></p><p><b>zwei</b></p>"
        else:
            assert filled == html
