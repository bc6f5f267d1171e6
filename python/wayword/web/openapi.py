"""The interface of the server in the form of OpenAPI, and a page that shows it."""

from functools import cache
from typing import Any

from wayword import __version__
from wayword.picture.element import Markup, element
from wayword.picture.page import page as shell
from wayword.picture.page import section, table

__all__ = ["document", "page"]

TEXT = {"type": "string"}
WHOLE = {"type": "integer", "minimum": 0}
YES = {"type": "boolean", "default": False}
TABLE = {"type": "object"}
TEXTS = {"oneOf": [TEXT, {"type": "array", "items": TEXT}]}

#: Fields that several requests have.
COMMON: dict[str, tuple[dict[str, Any], str]] = {
    "q": (TEXTS, "text to translate, or a list of texts"),
    "source": (TEXT, "language of the text; auto finds it"),
    "target": (TEXT, "language of the translation"),
    "system": (TEXT, "which system, where several translate the same languages"),
    "api_key": (TEXT, "a key, where the server wants one; or in the header X-API-Key"),
    "settings": (TABLE, "search settings for this request, such as space and pop_limit"),
    "weights": (TABLE, "weights of features for this request"),
    "glossary": (TABLE, "terms and the translations they must get"),
    "markup": (YES, "tags in the text are demands: walls, zones, given translations"),
}
#: Method, path, what it does, fields besides the common ones named, what comes back.
CALLS: tuple[tuple[str, str, str, tuple[str, ...], dict[str, Any], str], ...] = (
    (
        "post",
        "/translate",
        "Translate text or HTML",
        ("q", "source", "target", "system", "glossary", "settings", "weights", "markup", "api_key"),
        {
            "format": ({"enum": ["text", "html"], "default": "text"}, "html keeps its tags"),
            "alternatives": (WHOLE, "how many other translations are wanted"),
            "trace": (YES, "whether phrases, links and scores are wanted"),
        },
        "translatedText, alternatives, trace, detectedLanguage",
    ),
    (
        "post",
        "/detect",
        "Tell the language of a text",
        ("q", "api_key"),
        {},
        "a list of language and confidence",
    ),
    (
        "post",
        "/suggest",
        "Complete a translation that was begun",
        ("q", "source", "target", "system", "api_key"),
        {
            "prefix": (TEXT, "what was typed so far; it may have errors, and end within a word"),
            "s": (TEXT, "instead: a better translation, to learn from"),
        },
        "completion, text, edits, score",
    ),
    (
        "post",
        "/learn",
        "Take in a corrected pair, or terms, from the next sentence on",
        ("q", "source", "target", "system", "glossary", "api_key"),
        {"translation": (TEXT, "the right translation of q")},
        "success, lessons, phrases",
    ),
    (
        "post",
        "/align",
        "Link the words of a pair",
        ("q", "source", "target", "system", "api_key"),
        {"translation": (TEXT, "the translation of q")},
        "source and target words; links with their probabilities; those chosen",
    ),
    (
        "post",
        "/explain",
        "Tell all about a translation",
        ("q", "source", "target", "system", "glossary", "settings", "weights", "markup", "api_key"),
        {
            "nbest": (WHOLE, "translations in the list"),
            "stacks": (WHOLE, "hypotheses shown of each stack"),
        },
        "by sentence: derivation, features, posteriors, stacks, matrices of order, n-best list",
    ),
    (
        "post",
        "/word-graph",
        "The search graph of a sentence",
        ("q", "source", "target", "system", "settings", "weights", "markup", "api_key"),
        {},
        "arcs: from node, to node, source span, words, score",
    ),
    ("get", "/languages", "The languages, and into which each is translated", (), {}, "a list"),
    ("get", "/health", "Whether the server is there", (), {}, "status"),
    ("get", "/frontend/settings", "What pages want to know", (), {}, "limits, languages, systems"),
    ("get", "/metrics", "Counts, in the form of Prometheus", (), {}, "text"),
)
ERRORS = {
    "400": "the request cannot be understood; error says why",
    "403": "no key that is known, or a page of another origin",
    "413": "more text than the server takes",
    "503": "the queue is full; Retry-After says when to try again",
    "504": "it took longer than the server allows; the search was stopped",
}


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    error = {"type": "object", "properties": {"error": TEXT}}
    paths: dict[str, Any] = {}
    for method, path, told, common, own, back in CALLS:
        call: dict[str, Any] = {
            "summary": told,
            "responses": {"200": {"description": back}},
        }
        if method == "post":
            fields = {name: COMMON[name] for name in common} | own
            shown = {name: {**kind, "description": what} for name, (kind, what) in fields.items()}
            schema = {"type": "object", "properties": shown}
            call["requestBody"] = {"content": {"application/json": {"schema": schema}}}
            for status, what in ERRORS.items():
                content = {"application/json": {"schema": error}}
                call["responses"][status] = {"description": what, "content": content}
        paths[path] = {method: call}
    info = {
        "title": "wayword",
        "version": __version__,
        "description": "Phrase-based translation that gets word order right",
    }
    return {"openapi": "3.1.0", "info": info, "paths": paths}


@cache
def page() -> str:
    """The same for people."""
    sections = []
    for method, path, told, common, own, back in CALLS:
        fields = {name: COMMON[name] for name in common} | own
        rows = [(name, what) for name, (_, what) in fields.items()]
        content: list[Markup] = [element("p", f"{told}. Answer: {back}.")]
        if rows:
            content.append(table(("field", "meaning"), rows, name=f"fields of {path}"))
        sections.append(section(f"{method.upper()} {path}", *content))
    rows = list(ERRORS.items())
    sections.append(section("Errors", table(("status", "meaning"), rows, name="errors")))
    lead = "Bodies are JSON or forms, answers JSON, errors {error}. As OpenAPI: /openapi.json"
    return shell("The interface of this server", sections, lead=lead)
