"""Scores of all commands are those of sacrebleu for the printed signatures."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from wayword.cli import main
from wayword.corpus import toy
from wayword.errors import ArgumentError
from wayword.evaluate import Gold, Options, Output, compare, make_metric
from wayword.evaluate.tokenizer import choose_tokenizer
from wayword.experiment import _signatures
from wayword.system import System

METRICS = ("bleu", "chrf", "ter")
QUICK = {"lm.order": 3, "search.pop_limit": 20, "tune.runs": 1, "tune.rounds": 1, "tune.nbest": 10}
WORDS = {"text.src_tokenizer": "none", "text.tgt_tokenizer": "none", "text.case": "keep"}


def sacrebleu_score(signature: str, hyps: Sequence[str], refs: Sequence[Sequence[str]]) -> float:
    """Score text with sacrebleu alone, as a signature of it says."""
    name, *rest = signature.split("|")
    facts = dict(fact.split(":", 1) for fact in rest)
    assert facts["nrefs"] == str(len(refs))
    metric: Any
    if name == "BLEU":
        assert facts["eff"] == "no"
        metric = BLEU(
            lowercase=facts["case"] == "lc",
            tokenize=facts["tok"],
            smooth_method=facts["smooth"].partition("[")[0],
            force=True,
        )
    elif name == "chrF":
        metric = CHRF(
            lowercase=facts["case"] == "lc",
            char_order=int(facts["nc"]),
            word_order=int(facts["nw"]),
            whitespace=facts["space"] == "yes",
            eps_smoothing=facts["eff"] == "no",
        )
    else:
        assert (name, facts["tok"]) == ("TER", "tercom")
        metric = TER(
            normalized=facts["norm"] == "yes",
            no_punct=facts["punct"] == "no",
            asian_support=facts["asian"] == "yes",
            case_sensitive=facts["case"] == "mixed",
        )
    score = metric.corpus_score(list(hyps), [list(ref) for ref in refs])
    assert f"{name}|{metric.get_signature()}" == signature
    return float(score.score)


def glued(line: str) -> str:
    """A tokenized line as people write it."""
    return re.sub(r" (?=[.,?!']|'s )", "", line)


def spaceless(line: str) -> str:
    """A tokenized line of Japanese as people write it."""
    return line.replace(" ", "")


def other(line: str) -> str:
    """Another reference."""
    return glued(re.sub(r"\b[Tt]he\b", "that", line))


@dataclass(frozen=True)
class Case:
    """Text to train and to test on; references are made of the toy corpus' tokenized text."""

    pair: str
    src: str
    tgt: str
    refs: tuple[Callable[[str], str], ...]
    tok: str
    choices: Mapping[str, object]
    train: Callable[[str], str] = str
    #: sentences in a line of the test set
    sentences: int = 1


CASES = {
    "tokenized reference, plain output": Case("de-en", "de", "en", (str,), "13a", {}),
    "plain reference and output": Case("de-en", "de", "en", (glued,), "13a", {}, glued),
    "several references": Case("de-en", "de", "en", (glued, other, str), "13a", {}),
    "tokenized reference and output": Case("de-en", "de", "en", (str,), "none", WORDS),
    "two sentences in a line": Case("de-en", "de", "en", (glued,), "13a", {}, glued, sentences=2),
    "Japanese": Case("ja-en", "en", "ja", (spaceless,), "char", {}, spaceless),
}


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def write_corpus(folder: Path, case: Case) -> list[str]:
    """Write the text of a case; return the files of its test set."""
    toy.write(case.pair, 200, folder, seed=1)
    made = [f"test.{case.src}"]
    for side in (case.src, case.tgt):
        path = folder / f"test.{side}"
        joined = zip(*[iter(lines(path))] * case.sentences, strict=True)
        path.write_text("".join(f"{' '.join(line)}\n" for line in joined), encoding="utf-8")
    for number, form in enumerate(case.refs):
        made.append(f"ref{number}.{case.tgt}")
        text = "".join(f"{form(line)}\n" for line in lines(folder / f"test.{case.tgt}"))
        (folder / made[-1]).write_text(text, encoding="utf-8")
    for part in ("train", "dev"):
        path = folder / f"{part}.{case.tgt}"
        text = "".join(f"{case.train(line)}\n" for line in lines(path))
        path.write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize("name", CASES)
def test_all_commands_print_the_scores_of_sacrebleu_for_their_signatures(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = CASES[name]
    test = write_corpus(tmp_path, case)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(  # whether or not MeCab is installed
        "wayword.evaluate.tokenizer._is_installed", lambda tokenizer: tokenizer != "ja-mecab"
    )

    def printed(*command: str) -> str:
        capsys.readouterr()
        assert main(list(command)) == 0
        return capsys.readouterr().out

    text = [f"train.{case.src}", f"train.{case.tgt}"]
    dev = [f"dev.{case.src}", f"dev.{case.tgt}"]
    choices = {**QUICK, **case.choices}
    sets = ["--set", *(f"{key}={json.dumps(value)}" for key, value in choices.items())]
    trained = printed("train", *text, "--dev", *dev, "--test", *test, "-o", "system", *sets)
    output = printed("translate", "system", test[0])
    Path("out.txt").write_text(output, encoding="utf-8")
    hyps, refs = output.splitlines(), [lines(Path(ref)) for ref in test[1:]]

    scores: dict[str, dict[str, tuple[str, str]]] = {}  # by command and metric
    found = re.findall(r"^test (\w+) (\S+)  (\S+)$", trained, re.MULTILINE)
    scores["train"] = {metric: (value, signature) for metric, value, signature in found}
    card = Path("system/README.md").read_text(encoding="utf-8").replace("\\|", "|")
    rows = re.findall(r"^\| test \| (\w+) \| (\S+) \| `(\S+)` \|$", card, re.MULTILINE)
    scores["card"] = {metric: (value, signature) for metric, value, signature in rows}

    few = ["--rounds", "10", "--resamples", "10"]
    evaluated = printed("evaluate", "out.txt", *test[1:], *few, "--metrics", ",".join(METRICS))
    scores["evaluate"] = of_table(evaluated, "out.txt")
    reported = printed("report", "system", "--test", *test, "--oracle", "0")
    scores["report"] = of_table(reported, "system")

    values = "\n".join(f"{key} = {json.dumps(value)}" for key, value in choices.items())
    Path("one.toml").write_text(
        f"""name = "One"
metrics = {list(METRICS)}
rounds = 10
[[corpus]]
name = "toy"
src = "{text[0]}"
tgt = "{text[1]}"
dev = {dev}
test = {test}
[base]
{values}
[[variant]]
name = "same"
"""
    )
    experiment = printed("experiment", "one.toml", "-o", "out")
    assert Path("out/outputs/same.txt").read_text(encoding="utf-8") == output
    scores["experiment"] = of_table(experiment, "toy")

    for command, of_command in scores.items():
        assert list(of_command) == list(METRICS), command
        assert f"|tok:{case.tok}|" in of_command["bleu"][1]
        assert f"|norm:{'no' if case.tok == 'none' else 'yes'}|" in of_command["ter"][1]
        for metric, (value, signature) in of_command.items():
            expected = sacrebleu_score(signature, hyps, refs)
            assert value == f"{expected:.2f}", (command, metric, signature)


def of_table(text: str, system: str) -> dict[str, tuple[str, str]]:
    """Scores and signatures of the first row of a system in printed tables."""
    cells = next(line for line in text.splitlines() if re.match(rf"{re.escape(system)} .*±", line))
    values = re.findall(r"(\d+\.\d+) ±", cells)
    signatures = re.findall(r"^((?:BLEU|chrF|TER)\|\S+)$", text, re.MULTILINE)
    assert len(signatures) == len(METRICS)
    return dict(zip(METRICS, zip(values, signatures, strict=False), strict=False))


def test_a_prepared_test_set_is_reported_without_tokenization(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.write("de-en", 200, tmp_path, seed=1)
    monkeypatch.chdir(tmp_path)
    sets = ["--set", *(f"{key}={value}" for key, value in QUICK.items())]
    assert main(["train", "train.de", "train.en", "-o", "system", *sets]) == 0
    capsys.readouterr()
    test = ["--test", "test.de", "test.en", "--prepared", "--oracle", "0"]
    assert main(["report", "system", *test]) == 0
    scores = of_table(capsys.readouterr().out, "system")
    src, ref = (lines(tmp_path / f"test.{lang}") for lang in ("de", "en"))
    hyps = [one.text for one in System.open("system").translate(src, prepared=True)]
    assert hyps[0].endswith(" .")
    for value, signature in scores.values():
        assert value == f"{sacrebleu_score(signature, hyps, [ref]):.2f}"
    assert "tok:none" in scores["bleu"][1]


@pytest.mark.parametrize("tokenize", ["13a", "intl", "char", "zh", "none"])
def test_ter_is_normalized_unless_text_is_tokenized(tokenize: str) -> None:
    hyps = ["Das Haus, 2.5 m hoch.", "很好，谢谢。", "“Ja,” sagte er; nein."]
    refs = [["Das Haus , 2.5 m hoch .", "非常好，谢谢。", "Ja , sagte er ; nein ."], hyps[::-1]]
    for metric in (
        make_metric(name, Gold(refs=refs), Options(tokenize=tokenize)) for name in METRICS
    ):
        score = metric.corpus_score(Output("x", hyps))
        assert score == pytest.approx(sacrebleu_score(metric.signature(), hyps, refs))
    ter = make_metric("ter", Gold(refs=refs), Options(tokenize=tokenize)).signature()
    assert ("|norm:yes|" in ter) == (tokenize != "none")
    assert ("|asian:yes|" in ter) == (tokenize in {"char", "zh"})
    with pytest.raises(ArgumentError, match="tokenize: found `14a`; expected one of"):
        make_metric("ter", Gold(refs=refs), Options(tokenize="14a"))
    with pytest.raises(ArgumentError, match="tokenize: found `auto`, which only `compare` takes"):
        make_metric("ter", Gold(refs=refs), Options(tokenize="auto"))


def test_raw_chinese_is_split_into_characters_by_all_metrics() -> None:
    hyps, refs = ["我今天去学校。", "很好。"], [["我 今天 去 学校 。", "非常 好 。"]]
    options = Options(tokenize="auto")
    result = compare(Gold(refs=refs), [Output("x", hyps)], METRICS, options=options, rounds=1)
    assert "|tok:zh|" in result.signatures["bleu"]
    assert "|norm:yes|punct:yes|asian:yes|" in result.signatures["ter"]
    assert result.score("x", "ter").value < 30  # without normalization each line is one word
    for metric in METRICS:
        expected = sacrebleu_score(result.signatures[metric], hyps, refs)
        assert result.score("x", metric).value == pytest.approx(expected)
    [note] = result.notes
    assert "`sacrebleu --tokenize zh --ter-normalized --ter-asian-support`" in note


def test_a_missing_dictionary_is_named_and_characters_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = {"13a", "char"}
    monkeypatch.setattr("wayword.evaluate.tokenizer._is_installed", installed.__contains__)
    name, note = choose_tokenizer({"x": ["これは本です。"]})
    assert name == "char"
    assert note.endswith("for `ja-mecab` install sacrebleu[ja]")
    assert choose_tokenizer({"x": ["이것은 책이다."]})[1].endswith("install sacrebleu[ko]")
    installed |= {"ja-mecab"}
    assert choose_tokenizer({"x": ["これは本です。"]})[0] == "ja-mecab"


def test_words_for_links_do_not_change_metrics_of_text() -> None:
    plain, words = ["He has read the book."], ["he has read the book ."]
    gold = Gold(refs=[words], texts=[["He has the book read."]])
    both = Output("x", words, text=plain)
    options = Options(tokenize="auto")
    result = compare(gold, [both], METRICS, options=options, rounds=1)
    for metric in METRICS:
        expected = sacrebleu_score(result.signatures[metric], plain, gold.texts or ())
        assert result.score("x", metric).value == pytest.approx(expected)


def test_an_experiment_prints_the_signatures_of_each_corpus_where_they_differ() -> None:
    texts = {"toy": ["Ja, gut."], "other": ["ja , gut ."]}
    options = Options(tokenize="auto")
    compared = {
        name: compare(Gold(refs=[text]), [Output("x", text)], ["bleu"], options=options, rounds=1)
        for name, text in texts.items()
    }
    first, second = _signatures(compared).values()
    assert first.startswith("toy: BLEU|")
    assert "|tok:13a|" in first
    assert second.startswith("other: BLEU|")
    assert "|tok:none|" in second
    same = _signatures({"toy": compared["toy"], "again": compared["toy"]})
    assert same == compared["toy"].signatures
