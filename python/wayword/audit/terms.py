"""Terms that are translated in different ways, within the text and against a glossary.

In: words and links of all lines, perhaps a glossary. Out: candidates.
How: each source word goes with its likeliest linked target word, cut to its first ``STEM`` letters
so that endings don't count. Where a word has one usual translation in the rest of the text (at
least ``TIMES`` times and ``SHARE`` of all), a line that has the word and not that translation is a
candidate. A glossary line is a source term, a tab and one or more target terms with ``|`` between
them: a line that has the source term and none of the target terms is a finding without doubt.
Cost: linear in words and links.
Not: terms of several words, but in a glossary.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wayword.audit.evidence import Evidence
from wayword.audit.finding import Candidate
from wayword.audit.runs import best_runs, surprise
from wayword.audit.text import AuditText
from wayword.corpus.files import open_text
from wayword.errors import FormatError
from wayword.types import FilePath

__all__ = ["GlossaryTerm", "find_glossary", "find_terms", "read_glossary", "stem"]

STEM = 5
TIMES, SHARE = 2, 0.6
CONTENT = 0.7  # link rate of words that can be terms


@dataclass(frozen=True)
class GlossaryTerm:
    """A source term and the translations that are right, as words."""

    src: tuple[str, ...]
    tgt: tuple[tuple[str, ...], ...]


def read_glossary(path: FilePath) -> list[GlossaryTerm]:
    """Read lines of ``term<tab>translation|other translation``; lines with ``#`` are comments."""
    terms = []
    for number, line in enumerate(open_text(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        src, tab, tgt = line.partition("\t")
        choices = tuple(tuple(choice.lower().split()) for choice in tgt.split("|"))
        if not (src.strip() and tab and all(choices)):
            expected = "a term, a tab and translations with `|` between them"
            raise FormatError(f"{path}:{number}: found `{line[:40]}`; expected {expected}")
        terms.append(GlossaryTerm(tuple(src.lower().split()), choices))
    return terms


def find_glossary(text: AuditText, terms: Sequence[GlossaryTerm]) -> Iterator[Candidate]:
    """Places where the glossary was not followed."""
    first = defaultdict(list)
    for term in terms:
        first[term.src[0]].append(term)
    for line, (src, tgt) in enumerate(zip(text.src, text.tgt, strict=True)):
        low_src, low_tgt = [w.lower() for w in src], [w.lower() for w in tgt]
        for at, word in enumerate(low_src):
            for term in first.get(word, ()):
                end = at + len(term.src)
                if tuple(low_src[at:end]) == term.src and not _has_any(low_tgt, term.tgt):
                    wanted = " or ".join(" ".join(choice) for choice in term.tgt)
                    yield Candidate(
                        line, "glossary", tuple(range(at, end)), (), (), f"expected {wanted}"
                    )


def _has_any(words: Sequence[str], choices: Sequence[Sequence[str]]) -> bool:
    """Whether one of the translations is there, as whole words or with other endings."""
    for choice in choices:
        size = len(choice)
        for at in range(len(words) - size + 1):
            if all(w.startswith(c) for w, c in zip(words[at : at + size], choice, strict=True)):
                return True
    return not choices


def find_terms(text: AuditText, evidence: Evidence) -> Iterator[Candidate]:
    """Places where a word lacks the translation that it has elsewhere."""
    partners = _partners(evidence)
    usual: dict[str, Counter[str]] = defaultdict(Counter)
    for line, of_line in enumerate(partners):
        for at, (tgt, _) in of_line.items():
            usual[text.src[line][at].lower()][stem(text.tgt[line][tgt])] += 1
    left_out = surprise(text.src, evidence.src)
    added = surprise(text.tgt, evidence.tgt)
    for line, words in enumerate(text.src):
        stems = {stem(word) for word in text.tgt[line]}
        rates = evidence.src.line(evidence.src.rate, line)
        for at, word in enumerate(words):
            counts = usual.get(word.lower())
            if counts is None or rates[at] < CONTENT or not word.isalpha():
                continue
            partner = partners[line].get(at)
            here = stem(text.tgt[line][partner[0]]) if partner else ""
            others = counts - Counter([here] if here else [])
            if not others:
                continue
            usually, times = min(others.items(), key=lambda item: (-item[1], item[0]))
            share = times / others.total()
            if times < TIMES or share < SHARE or _is_there(usually, stems):
                continue
            runs = best_runs(evidence.tgt.line(added, line))
            features = (
                times / (times + 3.0),
                share,
                float(evidence.src.line(left_out, line)[at]),
                partner[1] if partner else 0.0,
                runs[0][2] if runs else 0.0,
                float(rates[at]),
                others.get(here, 0) / others.total(),
            )
            places = (partner[0],) if partner else ()
            yield Candidate(
                line, "term", (at,), places, features, f"elsewhere {usually} {times} times"
            )


def stem(word: str) -> str:
    """The beginning of a word, without case.

    >>> stem("Councils")
    'counc'
    """
    return word.lower()[:STEM]


def _is_there(usually: str, stems: set[str]) -> bool:
    return usually in stems or any(
        usually.startswith(other) or other.startswith(usually) for other in stems if len(other) > 2
    )


def _partners(evidence: Evidence) -> list[dict[int, tuple[int, float]]]:
    """By line and source position, the likeliest linked target position and its posterior."""
    partners = []
    for links in evidence.links:
        best: dict[int, tuple[int, float]] = {}
        rows = zip(links.src.tolist(), links.tgt.tolist(), links.posterior.tolist(), strict=True)
        for src, tgt, posterior in rows:
            if src not in best or posterior > best[src][1]:
                best[src] = (tgt, posterior)
        partners.append(best)
    return partners
