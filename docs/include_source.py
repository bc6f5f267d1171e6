"""Include the source of a Python object in a page of the site: a hook of MkDocs.

A line ``--8<-- wayword.papers.phrase_decoder.Hypothesis`` becomes a code block with the source of
that class, so that a page shows the code as it is. An unknown name is an error of the build.
"""

import ast
import inspect
import re
from importlib import import_module
from typing import Any

DIRECTIVE = re.compile(r"^--8<-- (wayword(?:\.\w+)+)\.(\w+)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace every directive of a page by the source that it names."""
    return DIRECTIVE.sub(lambda match: f"```python\n{read_source(*match.groups())}\n```", markdown)


def read_source(module: str, name: str) -> str:
    """Return the source of a class, a function or a constant of a module."""
    text = inspect.getsource(import_module(module))
    for node in ast.parse(text).body:
        if name in _names(node):
            decorators = getattr(node, "decorator_list", [])
            first = min(part.lineno for part in [node, *decorators])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    raise ValueError(f"{module}: no class, function or constant `{name}`")


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
