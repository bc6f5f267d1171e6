"""The Japanese predicate: verb, adjective or noun with its auxiliaries, as tokens.

In: a clause and the ending it needs. Out: `Token`s, the last thing said in the clause.
How: build `Piece`s with `japanese_forms`, then give each the refs of what it expresses. Endings
that only inflect the word before them (mashi, ta) express nothing of their own and keep beside it.
Cost: constant per clause.
Not: what stands before the predicate.
"""

from __future__ import annotations

from wayword.corpus.toy import japanese_forms as forms
from wayword.corpus.toy import marks
from wayword.corpus.toy.entries import Verb
from wayword.corpus.toy.japanese_forms import Ending, Piece
from wayword.corpus.toy.japanese_phrases import adjective_stem, phrase
from wayword.corpus.toy.tokens import Token, mark_chunk
from wayword.corpus.toy.tree import Clause


def predicate(clause: Clause, ending: Ending, before: str, *, joins: bool = False) -> list[Token]:
    """The end of a clause; `before` is the plain copula its context asks for."""
    if ending.likely:
        tokens = predicate(clause, ending._replace(likely=False, polite=False), "")
        word = Piece("でしょう" if ending.polite else "だろう", "AUX", "will be")
        (last,) = spoken(clause, [word], tokens[-1])
        last.chunk = "I-VP" if tokens[-1].chunk.endswith("VP") else "B-VP"
        return [*tokens, last]
    verb = clause.verb
    if verb is not None:
        pieces = forms.te_form(verb) if joins else _verbal(clause, verb, ending, before)
        return _as_chunk(spoken(clause, pieces))
    if clause.identity is not None:
        what = phrase(clause.identity)
        link = "の" if before == "な" else before
        return what + _as_chunk(spoken(clause, forms.copula(ending, link), what[-1]))
    return _as_chunk(_quality(clause, ending, before))


def _as_chunk(tokens: list[Token]) -> list[Token]:
    mark_chunk(tokens, "VP")
    return tokens


def _quality(clause: Clause, ending: Ending, before: str) -> list[Token]:
    item = clause.quality
    assert item is not None
    words = adjective_stem(item)
    last = words[-1]
    kind = item.adjective.ja_type
    if kind == "i":
        pieces = forms.i_end(last.form[:-1], "ADJ", ending, "word")
        last.form = pieces[0].form
        return words + spoken(clause, pieces[1:], last)
    if kind == "ta":
        return words + spoken(clause, [forms.TE, *forms.iru_end(ending, "be")], last)
    link = "の" if kind == "no" and before == "な" else before
    return words + spoken(clause, forms.copula(ending, link), last)


def existence(clause: Clause, ending: Ending) -> list[Piece]:
    """To be there: aru for things, iru for people and animals."""
    noun = clause.subject.noun
    if noun is not None and noun.classes & {"person", "animal"}:
        return forms.ru_end("い", ending, "there")
    if ending.polite:
        return [Piece("あり", "VERB", "there"), *forms.polite_end(ending)]
    if ending.past:
        return [Piece("あっ", "VERB", "there"), forms.TA]
    return [Piece("ある", "VERB", "there")]


def _verbal(clause: Clause, verb: Verb, ending: Ending, before: str) -> list[Piece]:
    if clause.modal:
        return _modal(clause, verb, ending, before)
    lasts = "teiru" in verb.flags and not (ending.negated and "shiru" in verb.flags)
    lasts = lasts and clause.tense != "future" and not clause.anterior
    if clause.progressive or lasts:
        *word, te = forms.te_form(verb)
        part = "aux" if clause.progressive else ""
        return [*word, te._replace(part=part), *forms.iru_end(ending, part)]
    return forms.verb_end(verb, ending)


def _modal(clause: Clause, verb: Verb, ending: Ending, before: str) -> list[Piece]:
    if clause.modal == "can":
        able = [Piece("こと", "NOUN", "modal"), Piece("が", "ADP")]
        return [*forms.dictionary(verb), *able, *forms.ru_end("でき", ending, "modal")]
    if clause.modal == "must":
        return [*forms.stem(verb, 0), *_must(ending)]
    if clause.modal == "should":
        ought = [*forms.dictionary(verb), Piece("べき", "AUX", "modal")]
        if before == "な" and not (ending.polite or ending.past):
            return [*ought, Piece("で", "AUX"), Piece("ある", "AUX")]
        return [*ought, *forms.copula(ending, before)]
    if clause.subject.person == 3:
        # Others' wishes are reported as what they show.
        shows = [Piece("たがっ", "AUX", "modal"), forms.TE._replace(part="to")]
        return [*forms.stem(verb, 1), *shows, *forms.iru_end(ending, "")]
    wish = forms.i_end("た", "AUX", ending, "modal")
    return [*forms.stem(verb, 1), *wish]


def _must(ending: Ending) -> list[Piece]:
    head = [Piece("なけれ", "AUX", "modal"), Piece("ば", "SCONJ", "modal")]
    if ending.polite:
        end = [Piece("なり", "VERB", "modal"), Piece("ませ", "AUX"), Piece("ん", "AUX")]
        return [*head, *end, *([Piece("でし", "AUX"), forms.TA] if ending.past else [])]
    no = [Piece("なかっ", "AUX"), forms.TA] if ending.past else [Piece("ない", "AUX")]
    return [*head, Piece("なら", "VERB", "modal"), *no]


def spoken(clause: Clause, pieces: list[Piece], lean: Token | None = None) -> list[Token]:
    """Pieces as tokens; each leans on the one before it, the first on `lean`."""
    ref, whole = clause.ref, _whole(clause)
    will = (ref + marks.TENSE,) if clause.tense == "future" else ()
    refs = {
        "": (), "word": whole, "be": (*whole, *will), "there": (*whole, ref + marks.THERE),
        "aux": (ref + marks.TENSE,), "end": will,
        "will be": will if clause.verb is not None else (*whole, *will),
        "masen": (ref + marks.NEGATION, ref + marks.SUPPORT, *will),
        "nai": (ref + marks.NEGATION, ref + marks.SUPPORT),
        "no": (ref + marks.NEGATION,), "no past": (ref + marks.NEGATION, ref + marks.TENSE),
        "modal": (ref + marks.MODAL,), "to": (ref + marks.TO,),
    }  # fmt: skip
    tokens: list[Token] = []
    for piece in pieces:
        lean = Token(piece.form, piece.pos, refs[piece.part], lean)
        tokens.append(lean)
    return tokens


def _whole(clause: Clause) -> tuple[int, ...]:
    """The refs of the verb; it also stands for a preposition that only English has."""
    refs = marks.whole(clause.ref)
    if clause.object is not None and clause.receiver is None:
        return (*refs, clause.object.ref + marks.PREPOSITION)
    return refs
