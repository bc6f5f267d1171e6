"""The model card of a system: what it is, what it was made of, how good it is, how to use it.

In: plain values of a manifest: languages, parts, settings, files and how it was made. Out: Markdown
with a YAML header in the form of the Hugging Face Hub, so that a system can be uploaded as it is.
How: what is not known is not said; nothing that changes from run to run, such as a time, is in it.

>>> card = Card(langs=("de", "en"), files={"lm": 2_000_000}, made={"card": {"license": "mit"}})
>>> print(card.text()[:106])
---
language:
- de
- en
license: "mit"
library_name: wayword
pipeline_tag: translation
tags:
- translation
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wayword.errors import ArgumentError
from wayword.options import check_choice
from wayword.report.table import Table, in_markdown
from wayword.report.tuning import weights_taken

__all__ = ["Card", "Options"]

#: Metrics that the Hub knows by the same name.
HUB_METRICS = ("bleu", "chrf", "ter", "meteor", "nist")
#: Some licences as the Hub calls them; ``other`` for any other.
LICENSES = (
    *("", "apache-2.0", "mit", "bsd-3-clause", "gpl-3.0", "lgpl-3.0", "mpl-2.0", "unlicense"),
    *("cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0"),
    "other",
)
MB = 1_000_000
REASONS = {"too_long": "too long", "no_words": "no words"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What people say about a system in its card."""

    #: what it is called; empty: by its languages
    title: str = ""
    #: of the system, as the Hugging Face Hub names licences; empty: not said
    license: str = ""

    def __post_init__(self) -> None:
        """Refuse a licence that nobody knows, and a title of several lines."""
        check_choice("license", self.license, LICENSES)
        if len(self.title.splitlines()) > 1:
            raise ArgumentError("title: found several lines; expected one")


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a card tells of."""

    #: of source and target; None for a system that takes tokenised text
    langs: tuple[str, str] | None = None
    #: bytes of each file
    files: Mapping[str, int] = field(default_factory=dict)
    #: entries of the manifest
    parts: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: how it was made; see ``wayword.pipeline``
    made: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    def text(self) -> str:
        """The whole card."""
        parts = [
            self._header(),
            f"# {in_markdown(self._title())}",
            self._about(),
            "## Use\n\n" + self._use(),
            *_section("Quality", self._scores()),
            *_section("Examples", self._examples()),
            *_section("What it was trained on", self._corpus()),
            "## Limits\n\n" + "\n".join(f"- {line}" for line in self._limits()),
            "## Parts\n\n" + self._parts(),
        ]
        return "\n\n".join(parts) + "\n"

    @property
    def _said(self) -> Mapping[str, Any]:
        return self.made.get("card") or self.made.get("config", {}).get("card") or {}

    def _title(self) -> str:
        langs = f"{self.langs[0]} to {self.langs[1]}" if self.langs else "tokenised text"
        return str(self._said.get("title") or f"A translation system: {langs}")

    def _header(self) -> str:
        """The YAML that the Hub reads; strings are quoted as JSON does, which YAML allows."""
        lines = ["language:", *(f"- {lang}" for lang in self.langs)] if self.langs else []
        if self._said.get("license"):
            lines.append(f"license: {json.dumps(self._said['license'])}")
        lines += ["library_name: wayword", "pipeline_tag: translation"]
        lines += ["tags:", "- translation", "- phrase-based", "- machine-translation"]
        results = list(self._results())
        metrics = dict.fromkeys(metric for _, metric, _, _ in results if metric in HUB_METRICS)
        if metrics:
            lines += ["metrics:", *(f"- {metric}" for metric in metrics)]
        if self.langs and results:
            lines += self._index(results)
        return "\n".join(["---", *lines, "---"])

    def _index(self, results: Sequence[tuple[str, str, float, str]]) -> list[str]:
        """Scores in the form of a model index."""
        assert self.langs is not None, "a pair of languages"
        pair = f"{self.langs[0]}-{self.langs[1]}"
        lines = ["model-index:", f"- name: {json.dumps(self._title(), ensure_ascii=False)}"]
        lines.append("  results:")
        for dataset in dict.fromkeys(name for name, *_ in results):
            lines += [
                "  - task:",
                "      type: translation",
                f"      name: Translation {pair}",
                "    dataset:",
                f"      name: {dataset} set",
                f"      type: {dataset}",
                "    metrics:",
            ]
            for name, metric, score, _ in results:
                if name == dataset:
                    lines += [f"    - type: {json.dumps(metric)}", f"      value: {score:.2f}"]
        return lines

    def _results(self) -> Iterator[tuple[str, str, float, str]]:
        """Set, metric, score and signature of each score that is known."""
        dev, again = self.made.get("dev"), self.made.get("tune")
        if again:  # by `wayword tune`, after training
            name = str(again["metric"]).partition("|")[0].lower()
            yield "dev", name, again["after"], again["metric"]
        elif dev:
            yield "dev", dev["metric"], dev["score"], dev["signature"]
        for metric, facts in self.made.get("test", {}).get("scores", {}).items():
            yield "test", metric, facts["score"], facts["signature"]

    def _about(self) -> str:
        size = sum(self.files.values()) / MB
        kind = "A phrase-based translation system"
        lang = f" from `{self.langs[0]}` to `{self.langs[1]}`" if self.langs else ""
        about = (
            f"{kind}{lang}, {size:,.1f} MB, made by wayword {self.version}. It runs on a CPU, "
            "offline, and gives the same output for the same input, with the links of every word."
        )
        if self.made.get("tuned") is not False:
            return about
        advice = "run `wayword train` again to the end, or `wayword tune`"
        return f"{about}\n\n**Untuned**: it has default weights; {advice} for better ones."

    def _use(self) -> str:
        return (
            "With [wayword](https://github.com/wayword/wayword) installed:\n\n"
            "    wayword translate FOLDER < input.txt\n\n"
            "```python\n"
            "import wayword\n\n"
            'system = wayword.load("FOLDER")  # or a file of `wayword pack`\n'
            'print(system.translate("…"))\n'
            "```"
        )

    def _scores(self) -> str:
        tables: dict[str, list[tuple[str, ...]]] = {}  # one a set: tuning scores prepared text
        for name, metric, score, text in self._results():
            row = (name, metric, f"{score:.2f}", f"`{text}`")
            tables.setdefault(name, []).append(row)
        if not tables:
            return "Not measured: the weights were not tuned, and there was no test set."
        header = ["set", "metric", "score", "signature"]
        lines = [Table(header, rows).markdown() for rows in tables.values()]
        if "dev" in tables:
            lines.append("The dev score is that of tuning, on prepared text.")
        if self.made.get("held_out") and "tune" not in self.made:
            lines.append("The dev set was held out of the training text.")
        tuned = self.made.get("tune") or self.made.get("dev")
        if tuned:
            lines.append("Weights were tuned on the dev set: its score flatters the system.")
            if "averaged" in tuned:
                taken = weights_taken(tuned["averaged"], tuned["runs"])
                lines.append(f"The weights are {taken}.")
        if "usability" in self.made:
            from wayword.evaluate.usability import UsabilityCheck  # imports arrays

            check = UsabilityCheck.from_dict(self.made["usability"])
            if check.verdict != "usable":
                lines.append(f"**{check.verdict.capitalize()}** {check.warning('output')}.")
        chosen = self.made.get("chosen")
        if chosen:
            lines.append(
                f"Chosen among {chosen['among']} variants by {chosen['metric']} on the test set, "
                "which flatters that score a little."
            )
        return "\n\n".join(lines)

    def _examples(self) -> str:
        blocks = []
        for example in self.made.get("examples", ()):
            rows = [(name, example[name]) for name in ("source", "output", "reference")]
            blocks.append(Table(["", ""], rows).markdown())
        said = "The first sentences of the dev set that are neither short nor long.\n\n"
        return said + "\n\n".join(blocks) if blocks else ""

    def _corpus(self) -> str:
        facts = self.made.get("corpus")
        if not facts:
            return ""
        said = f"{facts['pairs']:,} sentence pairs"
        if "src_words" in facts:
            words = f"{facts['src_words']:,} source and {facts['tgt_words']:,} target words"
            said = f"{said} ({words}) of {facts['read']:,} that were read"
        lines = [f"{said}."]
        corpora = facts.get("corpora", ())
        if corpora:
            rows = [(c["name"], c["lines"], c["pairs"], c["weight"]) for c in corpora]
            header = ["corpus", "pairs read", "used for training", "weight"]
            lines.append(Table(header, rows).markdown())
        if facts.get("taken_out"):
            shown = (f"{REASONS.get(why, why)} {n:,}" for why, n in facts["taken_out"].items())
            lines.append(f"Taken out: {', '.join(shown)} (a pair may have several reasons).")
        return "\n\n".join(lines)

    def _limits(self) -> Iterator[str]:
        yield "It knows the words and the style of its training text; test it on yours."
        yield "Sentences are translated one by one, without the ones around them."
        oov = self.settings.get("oov", "copy")
        done = "copied as they are" if oov == "copy" else "left out"
        spellers = [entry for entry in self.parts if entry["kind"] == "speller"]
        for entry in spellers:
            learned = f"as {entry['pairs']:,} pairs of words teach it"
            yield f"The spelling of words that were never seen is guessed, {learned}."
        others = "Words that cannot be spelled so" if spellers else "Words that were never seen"
        yield f"{others} are {done}."
        space = self.settings.get("space")
        if space:
            yield f"Word order: the search tries the orders of `{space}`."

    def _parts(self) -> str:
        rows = [(f"`{name}`", f"{size:,}") for name, size in self.files.items()]
        files = Table(["file", "bytes"], rows).markdown()
        kinds = [(entry["name"], entry["kind"], _detail(entry)) for entry in self.parts]
        shown = Table(["part", "kind", ""], kinds).markdown()
        return f"{shown}\n\n{files}\n\n`system.toml` holds every setting and weight."


def _section(title: str, text: str) -> list[str]:
    return [f"## {title}\n\n{text}"] if text else []


def _detail(entry: Mapping[str, Any]) -> str:
    shown = {k: v for k, v in entry.items() if k not in {"kind", "name", "file"}}
    return ", ".join(f"{name} {value}" for name, value in _flat(shown) if name != "sha256")


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
