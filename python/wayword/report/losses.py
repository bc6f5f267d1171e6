"""What a training run left out of the text it was given, and how to keep it, for people.

In: a finished stage that takes lines out (``doctor``, ``prepare``). Out: ``Losses``, which tell
how many pairs went in and on, why others did not, and which setting keeps each kind.
How: from the options and the facts of the stage alone, so that a stage that was made before tells
the same. A warning is about all that was dropped from the files to the training text, whichever
stage did it (``Whole``).

>>> rows = (Loss("identical", 840, "both sides the same", 'doctor.allow=["identical"]'),)
>>> print(Losses("doctor", 1000, 160, 0, rows).text())
840 of 1,000 pairs taken out (84.0 %); 160 kept
why        pairs     %  meaning              keep them with
identical    840  84.0  both sides the same  --set 'doctor.allow=["identical"]'
>>> cut = Losses("prepare", 160, 120, 0, (Loss("too long", 40, "over 100", "text.max_length=N"),))
>>> print(Losses("doctor", 1000, 160, 0, rows).then(cut).warning)
88.0 % of the text was taken out; to keep it, train with --set 'doctor.allow=["identical"]'
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wayword.corpus import doctor
from wayword.report.table import Table
from wayword.stage import Result, Stage

__all__ = ["Loss", "Losses", "Whole", "describe_gathered", "losses_of"]

WARN = 0.1  # of the pairs taken out: worth a warning
ALWAYS = frozenset({"unpaired", "encoding", "empty"})  # no setting keeps what is no pair of text
LIMITS = {"long": "doctor.max_length", "ratio": "doctor.max_ratio"}


@dataclass(frozen=True)
class Loss:
    """One reason why pairs were taken out; ``setting`` keeps them, empty when nothing does."""

    why: str
    pairs: int
    meaning: str
    setting: str


@dataclass(frozen=True)
class Losses:
    """What a stage took out of its text; a pair may be counted for several reasons."""

    stage: str
    read: int
    left: int
    #: pairs kept without marks that nobody sees
    cleaned: int
    rows: Sequence[Loss]

    @property
    def share(self) -> float:
        """Part of the pairs that was taken out."""
        return (self.read - self.left) / self.read if self.read else 0.0

    def then(self, later: "Losses") -> "Losses":
        """What this stage and a later one took out together, of what this one read."""
        left = self.left - (later.read - later.left)
        cleaned = self.cleaned + later.cleaned
        return Losses(later.stage, self.read, left, cleaned, [*self.rows, *later.rows])

    def text(self) -> str:
        """A sentence and, if something was taken out, a short table."""
        cleaned = f"; {self.cleaned:,} of them without invisible marks they had"
        lines = [f"{self._head()}{cleaned if self.cleaned else ''}"]
        if self.rows:
            shown = [
                (row.why, row.pairs, round(100 * row.pairs / self.read, 1), row.meaning, _way(row))
                for row in self.rows
            ]
            header = ["why", "pairs", "%", "meaning", "keep them with"]
            lines.append(Table(header, shown).text())
        return "\n".join(lines)

    def _head(self) -> str:
        if self.read == self.left:
            return f"all {self.read:,} pairs kept"
        out = self.read - self.left
        taken = f"{out:,} of {self.read:,} pairs taken out ({_percent(self.share)})"
        several = ", some for several reasons" if sum(row.pairs for row in self.rows) > out else ""
        return f"{taken}{several}; {self.left:,} kept"

    @property
    def warning(self) -> str:
        """One sentence when more than a tenth is gone; empty otherwise."""
        if self.share <= WARN:
            return ""
        found = f"{_percent(self.share)} of the text was taken out"
        much = [row for row in self.rows if row.setting and row.pairs >= WARN * self.read / 2]
        if not much:
            return f"{found}; do the two sides belong together?"
        return f"{found}; to keep it, train with --set {_merged(much)}"


def describe_gathered(result: Result) -> str:
    """What was read from corpora with names, and how often each counts; empty for other stages.

    >>> from wayword.stage import Cost
    >>> from pathlib import Path
    >>> news = {"name": "news", "weight": 3, "lines": 1200, "skipped": 7}
    >>> facts = {"corpora": [news, {"name": "web", "weight": 1, "lines": 10, "skipped": 0}]}
    >>> print(describe_gathered(Result("gather", "", Path(), facts, Cost(0, 0, 0), reused=False)))
    1,200 pairs of news (each counts 3 times; 7 units without a pair), 10 pairs of web
    """
    if result.name == "gather":
        return ", ".join(map(_gathered, result.facts["corpora"]))
    if result.name == "glossary":
        out = result.facts["lines"] - result.facts["clean"]
        return f"{_gathered(result.facts)}{f', {out:,} taken out' if out else ''}"
    return ""


def _gathered(corpus: Mapping[str, Any]) -> str:
    more = [f"each counts {corpus['weight']} times"] if corpus["weight"] > 1 else []
    more += [f"{corpus['skipped']:,} units without a pair"] if corpus["skipped"] else []
    said = f" ({'; '.join(more)})" if more else ""
    return f"{corpus['lines']:,} pairs of {corpus['name']}{said}"


def losses_of(stage: Stage, result: Result) -> Losses | None:
    """What a stage took out; None for a stage that takes nothing out."""
    facts = result.facts
    if stage.name == "doctor":
        return _of_doctor(stage.options, facts)
    if stage.name == "prepare":
        return _of_preparation(stage.options["text"].max_length, facts)
    return None


class Whole:
    """What all stages up to the training text took out, told when the last of them is there."""

    def __init__(self) -> None:
        self._until: dict[str, Losses] = {}

    def warning(self, stage: Stage, result: Result) -> str:
        """One sentence when more than a tenth is gone after the last stage; empty otherwise.

        Stages have to come in their order.
        """
        losses = _of_gathering(result.facts) if stage.name == "gather" else losses_of(stage, result)
        if losses is None:
            return ""
        before = [self._until[need.key] for need in stage.needs if need.key in self._until]
        # A stage may look at what it needs as well as at what that was made of.
        longest = max(before, key=lambda until: until.read - until.left, default=None)
        self._until[stage.key] = losses if longest is None else longest.then(losses)
        return self._until[stage.key].warning if stage.name == "prepare" else ""


def _of_gathering(facts: Mapping[str, Any]) -> Losses:
    left = sum(corpus["lines"] for corpus in facts["corpora"])
    skipped = sum(corpus["skipped"] for corpus in facts["corpora"])
    rows = [Loss("no pair", skipped, "units without both sides", "")] if skipped else []
    return Losses("gather", left + skipped, left, 0, rows)


def _of_doctor(options: Mapping[str, Any], facts: Mapping[str, Any]) -> Losses:
    meanings = doctor.problems()
    rows = [
        Loss(kind, count, meanings[kind], _setting(kind, options))
        for kind, count in facts["problems"].items()
        if count
    ]
    rows.sort(key=lambda row: -row.pairs)
    return Losses("doctor", facts["lines"], facts["clean"], facts["cleaned"], rows)


def _setting(kind: str, options: Mapping[str, Any]) -> str:
    """What keeps lines of a kind: what is allowed already stays allowed."""
    if kind in ALWAYS:
        return ""
    if kind in LIMITS:
        return f"{LIMITS[kind]}=N"
    allowed = [*options["allow"], kind]
    return f"doctor.allow={_listed(allowed)}"


def _of_preparation(limit: int, facts: Mapping[str, Any]) -> Losses:
    long, empty = facts["too_long"], facts["no_words"]
    rows = []
    if long:
        rows.append(Loss("too long", long, f"over {limit} tokens on a side", "text.max_length=N"))
    if empty:
        rows.append(Loss("no words", empty, "no token on a side", ""))
    left = facts["pairs"] + facts["dev"]
    return Losses("prepare", left + long + empty, left, 0, rows)


def _merged(rows: Sequence[Loss]) -> str:
    """The settings of several rows as one command line: lists of kinds become one list."""
    lists: dict[str, list[str]] = {}
    single = []
    for row in rows:
        key, _, value = row.setting.partition("=")
        if value.startswith("["):
            known = lists.setdefault(key, [])
            known += [kind for kind in json.loads(value) if kind not in known]
        else:
            single.append(row.setting)
    quoted = [f"'{key}={_listed(kinds)}'" for key, kinds in lists.items()]
    return " ".join([*quoted, *single])


def _listed(kinds: Sequence[str]) -> str:
    return json.dumps(list(kinds), separators=(",", ":"))


def _way(row: Loss) -> str:
    return f"--set {_merged([row])}" if row.setting else "(cannot be kept)"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
