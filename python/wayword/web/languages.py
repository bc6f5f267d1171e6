"""Names of languages, and which of several a text is in.

How: a text is in the language most of whose words the models know: the phrase tables of systems
from it, the language models of systems into it. Where all know the same, the first one.
Not: languages that no system knows.
"""

from collections.abc import Iterable

__all__ = ["NAMES", "name_of", "ranked"]

NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian",
    "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish",
    "gl": "Galician", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
    "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian",
    "ja": "Japanese", "ka": "Georgian", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian",
    "ms": "Malay", "mt": "Maltese", "nl": "Dutch", "no": "Norwegian", "old": "older spelling",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak",
    "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili",
    "ta": "Tamil", "te": "Telugu", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian",
    "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def name_of(code: str) -> str:
    """The English name of a language.

    >>> name_of("pt-BR"), name_of("tlh")
    ('Portuguese (BR)', 'tlh')
    """
    if code in NAMES:
        return NAMES[code]
    language, _, region = code.partition("-")
    return f"{NAMES[language]} ({region})" if language in NAMES else code


def ranked(shares: Iterable[tuple[str, float]]) -> list[dict[str, object]]:
    """Languages by the share of words known, in percent of all shares together, best first.

    >>> ranked([("de", 0.75), ("en", 0.25), ("de", 0.5)])
    [{'confidence': 75.0, 'language': 'de'}, {'confidence': 25.0, 'language': 'en'}]
    """
    best: dict[str, float] = {}
    for language, share in shares:
        best[language] = max(best.get(language, 0.0), share)
    total = sum(best.values())
    order = sorted(best, key=lambda language: -best[language])
    return [
        {"confidence": round(100 * best[code] / total, 1) if total else 0.0, "language": code}
        for code in order
    ]
