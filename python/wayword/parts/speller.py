"""Guesses how unknown words are spelled on the other side; a part of a system.

In: a prepared training text and its links. Out: the part ``speller``: a phrase table and a language
model of letters. For each word of a sentence that the system's phrase table does not know, its best
spellings become translations that compete with each other, so that the language model of words
has a say as well.
How: of the words that are linked one to one, those that spell each other are found
(``wayword.align.transliteration``); their letters are aligned, and phrases of letters extracted,
as the words of any text are (Durrani, Sajjad, Hoang and Koehn, 2014). The language model has read
every word of the target side. A word is spelled when all of its characters were seen in such pairs;
others, such as numbers, and words that are written like the other side, are copied.
Cost: learning some ten seconds; a word about a millisecond, once.
Not: words whose translation has nothing to do with their sound; those come out wrong.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from wayword import align, extract, lm
from wayword.align.transliteration import WordPair, linked_words, spelling_posteriors
from wayword.corpus import Bitext
from wayword.corpus.files import new_file, open_text
from wayword.corpus.source import Source
from wayword.decode import Decoder, Settings, Translation
from wayword.errors import MismatchError
from wayword.extract import PhraseTable
from wayword.options import check_range
from wayword.parts.part import Part, entry
from wayword.stage import Stage, Work

__all__ = ["Speller", "SpellerPart", "speller_stage"]

TABLE, MODEL, PAIRS = "speller", "speller.lm", "pairs.tsv"
#: Letters of a word that is learned from, and of one that is spelled.
SHORTEST, LONGEST = 2, 30
#: Fewer pairs teach nothing.
FEWEST = 50
#: More word pairs are not looked through; of more, every second or third is.
MOST = 200_000
#: Letters of a phrase, and of an n-gram.
PHRASE, ORDER = 6, 6
#: What stands for the beginning and the end of a word; no letter is like them.
START, END = "<", ">"
#: Words that are remembered with their spellings.
REMEMBERED = 100_000
#: Found on words of Hindi and English that were held out; nearby ones spell nearly as well.
WEIGHTS = {"lm": 0.5, "wp": -0.2, "pp": 0.2, "tm0": 0.5, "tm1": 0.1, "tm2": 0.5, "tm3": 0.1}
SETTINGS = Settings(space="mono", pop_limit=100)


@dataclass(frozen=True, kw_only=True)
class Speller:
    """How the spelling of unknown words is guessed."""

    #: least probability that two linked words spell each other
    posterior: float = 0.9
    #: spellings of a word that are tried
    nbest: int = 10

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_range("posterior", self.posterior, 0, 1)
        check_range("nbest", self.nbest, 1, 100)


#: Spellings of a word with their probabilities, best first.
Spellings: TypeAlias = tuple[tuple[str, float], ...]


class SpellerPart(Part):
    """Spells the words that the phrase table of its system does not know."""

    kind = "speller"
    is_sealed = True

    @cached_property
    def decoder(self) -> Decoder:
        """The models of letters, ready to spell."""
        model = lm.LanguageModel.load(self.folder / str(self.entry["lm"]))
        return Decoder(self._table, [model], weights=WEIGHTS, settings=SETTINGS)

    @cached_property
    def _table(self) -> PhraseTable:
        return PhraseTable.open(self.path)

    @property
    def files(self) -> list[str]:
        """The names of its files in the folder."""
        return [str(self.entry["file"]), str(self.entry["lm"])]

    def load(self) -> None:
        """Map the models."""
        self._guesses: dict[str, Spellings] = {}
        self._is_letter: dict[str, bool] = {}
        self._is_known: dict[str, bool] = {}
        _ = self.decoder

    def guess(self, sources: Sequence[Source], table: PhraseTable) -> list[Source]:
        """Sentences with spellings of the words that the table does not know."""
        unknown = [self._unknown(source, table) for source in sources]
        guesses = self.spell({word for places in unknown for word in places.values()})
        return [
            replace(source, spellings={at: guesses[word] for at, word in places.items()})
            if places
            else source
            for source, places in zip(sources, unknown, strict=True)
        ]

    def _unknown(self, source: Source, table: PhraseTable) -> dict[int, str]:
        if source.spellings:
            return {}
        return {
            at: word
            for at, word in enumerate(source.words)
            if self.can_spell(word) and not _looked_up(word, table, self._is_known)
        }

    def can_spell(self, word: str) -> bool:
        """Whether it is a word of letters, and all of them are known."""
        return _is_word(word) and all(
            _looked_up(letter, self._table, self._is_letter) for letter in word
        )

    def spell(self, words: Iterable[str]) -> dict[str, Spellings]:
        """The best spellings of words that it can spell."""
        wanted = sorted(set(words))
        missing = [word for word in wanted if word not in self._guesses]
        if len(self._guesses) > REMEMBERED:
            self._guesses, missing = {}, wanted
        nbest = int(self.entry["nbest"])
        best = self.decoder.translate(list(map(_spaced, missing)), nbest=nbest, distinct=True)
        self._guesses |= {word: _shares(one) for word, one in zip(missing, best, strict=True)}
        return {word: self._guesses[word] for word in wanted}


def _looked_up(phrase: str, table: PhraseTable, known: dict[str, bool]) -> bool:
    """Whether the table has a phrase; frequent words have many translations, so it is noted."""
    if phrase not in known:
        if len(known) > REMEMBERED:
            known.clear()
        known[phrase] = phrase in table
    return known[phrase]


def _shares(spelled: Translation) -> Spellings:
    """The spellings of a word, with probabilities that add up to 1."""
    scores: dict[str, float] = {}
    for one in spelled.nbest or (spelled,):
        text = "".join(one.tokens).removeprefix(START).removesuffix(END)
        if text:
            scores.setdefault(text, math.exp(one.score - spelled.score))
    total = sum(scores.values())
    return tuple((text, score / total) for text, score in scores.items())


def _spaced(word: str) -> str:
    """A word as the models of letters see it: its beginning and end are letters too."""
    return " ".join([START, *word, END])


def _is_word(text: str) -> bool:
    """Whether it is made of letters and their marks alone."""
    return SHORTEST <= len(text) <= LONGEST and all(
        letter.isalpha() or unicodedata.category(letter).startswith("M") for letter in text
    )


def speller_stage(text: Stage, links: Stage, options: Speller) -> Stage:
    """Learn to spell from linked words."""
    return Stage("speller", make_speller, options, {"text": text, "links": links}, version=1)


def make_speller(work: Work) -> dict[str, Any]:
    """Write the models of letters, and the word pairs that they were learned from."""
    text, linked = work.inputs["text"], work.inputs["links"]
    files = (text / "train.src", text / "train.tgt", linked / "links")
    counts = linked_words(zip(*map(open_text, files), strict=True))
    candidates = _candidates(counts)
    posteriors = spelling_posteriors(candidates, progress=work.progress)
    sure = posteriors >= work.options.posterior
    pairs = [pair for pair, is_sure in zip(candidates, sure, strict=True) if is_sure]
    if len(pairs) < FEWEST:
        found = f"{len(pairs)} of {len(candidates)} linked word pairs spell each other"
        advice = f"expected {FEWEST} or more; train with more text, or without `model.speller`"
        raise MismatchError(f"speller: {found}; {advice}")
    with new_file(work.out / PAIRS) as file:
        for pair, share in zip(candidates, posteriors.tolist(), strict=True):
            if share >= work.options.posterior:
                print(*pair, counts[pair], f"{share:.4f}", sep="\t", file=file)
    _learn(work, pairs, set(_words(open_text(files[1]))))
    named = {"lm": MODEL, "nbest": work.options.nbest, "pairs": len(pairs)}
    return {
        "part": entry("speller", "speller", file=TABLE, **named),
        "candidates": len(candidates),
        "pairs": len(pairs),
    }


def _learn(work: Work, pairs: Sequence[WordPair], words: set[str]) -> None:
    """Write the table of letters of these pairs, and the model of the letters of these words."""
    bitext = Bitext.from_pairs([(_spaced(src), _spaced(tgt)) for src, tgt in pairs])
    links = align.fit(bitext, threads=work.threads).align(bitext, threads=work.threads)
    options: dict[str, Any] = {"models": (), "max_length": PHRASE, "temp_dir": work.out}
    extract.extract(bitext, links, work.out / TABLE, threads=work.threads, **options)
    lm.train(map(_spaced, sorted(words)), work.out / MODEL, order=ORDER, temp_dir=work.out)


def _words(lines: Iterable[str]) -> Iterator[str]:
    return (word for line in lines for word in line.split() if _is_word(word))


def _candidates(counts: Mapping[WordPair, int]) -> list[WordPair]:
    """Pairs that may spell each other.

    Where the two sides have writings of their own, a word that is written like the other side is
    copied by the decoder, and teaches nothing.
    """
    pairs = sorted(pair for pair in counts if all(map(_is_word, pair)))
    writings = [_main_writing(pair[side] for pair in pairs) for side in (0, 1)]
    if writings[0] != writings[1]:
        others = [
            frozenset(filter(lambda letter: _writing(letter) == other, "".join(words)))
            for words, other in zip(zip(*pairs, strict=True), reversed(writings), strict=True)
        ]
        pairs = [pair for pair in pairs if not any(map(frozenset.intersection, others, pair))]
    return pairs[:: -(-len(pairs) // MOST)] if pairs else []


def _main_writing(words: Iterable[str]) -> str:
    """The writing of most letters."""
    counts = Counter(letter for word in words for letter in word)
    writings: Counter[str] = Counter()
    for letter in sorted(counts):
        writings[_writing(letter)] += counts[letter]
    return writings.most_common(1)[0][0] if writings else ""


def _writing(letter: str) -> str:
    """What Unicode calls the writing of a letter.

    >>> _writing("a"), _writing("क")
    ('LATIN', 'DEVANAGARI')
    """
    return unicodedata.name(letter, "").partition(" ")[0]
