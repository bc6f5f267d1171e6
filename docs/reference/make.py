"""Writes the reference of commands and of Python names: ``python docs/reference/make.py``.

In: the parsers of all commands, and the sources of the package. Out: `commands.md` and a page for
each public module beside this file. How: commands are walked as `wayword completion` walks them;
Python is read and not imported, so that a page is the same whatever is installed. A test holds that
the pages are as this program writes them.
"""

import argparse
import ast
import re
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path

from wayword.cli.parser import COMMANDS, build_parser, options, subcommands

FOLDER = Path(__file__).parent
PACKAGE = FOLDER.parents[1] / "python" / "wayword"
#: Modules with a page, in the order of the pipeline.
MODULES = (
    *("wayword", "wayword.corpus", "wayword.corpus.text", "wayword.corpus.doctor"),
    *("wayword.corpus.annotate", "wayword.align", "wayword.extract", "wayword.lm"),
    *("wayword.reorder.order", "wayword.reorder.waw", "wayword.reorder.neural"),
    *("wayword.reorder.lop", "wayword.reorder.feature", "wayword.decode", "wayword.system"),
    *("wayword.tune", "wayword.evaluate", "wayword.audit", "wayword.oracle", "wayword.profile"),
    *("wayword.pipeline", "wayword.experiment", "wayword.config", "wayword.parts"),
    *("wayword.stage", "wayword.moses", "wayword.pack", "wayword.errors"),
)
#: The answers that every module's comment gives, each on a line of its own.
ANSWERS = re.compile(r"^(In and out|In|Out|How|Cost|Not|Learned):", re.MULTILINE)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def commands_page() -> str:
    """All commands with their arguments and options."""
    parts = [
        "# commands: every command and option\n",
        "After this page you know what each command takes. `wayword help NAME` prints the same.\n",
        "".join(f"* [`wayword {name}`](#{name}) {purpose}\n" for name, purpose in COMMANDS.items()),
    ]
    for name, (parser, _) in subcommands(build_parser(*COMMANDS)).items():
        parts.append(f"## {name}\n")
        parts += _command(parser, is_top=True)
    return "\n".join(parts)


def _command(parser: argparse.ArgumentParser, *, is_top: bool) -> Iterator[str]:
    """A command, then its actions."""
    yield f"```text\n{_usage(parser)}\n```\n"
    if is_top:
        text, _, examples = (parser.description or "").partition("example: ")
        yield _escaped(text.strip()) + "\n"
        yield f"```sh\n{_examples(examples)}\n```\n"
    rows = [(_name(action), action.help or "") for action in _arguments(parser)]
    if rows:
        cells = "".join(f"| {_cell(f'`{name}`')} | {_cell(text)} |\n" for name, text in rows)
        yield f"| argument | meaning |\n|---|---|\n{cells}"
    for name, (child, purpose) in subcommands(parser).items():
        yield f"### {parser.prog.removeprefix('wayword ')} {name}\n"
        yield f"{purpose[:1].upper()}{purpose[1:]}{'' if purpose.endswith('?') else '.'}\n"
        yield from _command(child, is_top=False)


def _examples(text: str) -> str:
    """The examples of a command: what they are for as a comment, long ones on two lines."""
    shown = []
    for line in filter(None, map(str.strip, text.splitlines())):
        purpose, is_named, command = line.partition(": ")
        if line.startswith("--"):
            shown[-1] += f" \\\n    {line}"
        elif is_named and not purpose.startswith(("wayword", "echo")):
            shown.append(f"{command.strip()}  # {purpose}")
        else:
            shown.append(line)
    return "\n".join(shown)


def _arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    kinds = (argparse._SubParsersAction, argparse._HelpAction)
    plain = [a for a in parser._actions if not a.option_strings and not isinstance(a, kinds)]
    return [*plain, *options(parser)]


def _name(action: argparse.Action) -> str:
    """An argument as it is typed: names, and what stands for its value."""
    value = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    value = " ".join(value) if isinstance(value, tuple) else value
    if action.nargs in {"+", "*"}:
        value = f"{value} …"
    if not action.option_strings:
        return value
    return f"{', '.join(action.option_strings)} {value}".strip()


def _usage(parser: argparse.ArgumentParser) -> str:
    """One line: the command, what it needs, and that it has options."""
    if subcommands(parser):
        return f"{parser.prog} ACTION …"
    needed = [_name(a).rpartition(", ")[2] for a in options(parser) if a.required]
    plain = [
        f"[{_name(a)}]" if a.nargs in {"?", "*"} else _name(a)
        for a in _arguments(parser)
        if not a.option_strings
    ]
    return " ".join([parser.prog, *plain, *needed, "[options]"])


def _cell(text: str) -> str:
    """Text for a table. Builders disagree about bars in code, so that such code is HTML."""
    shown = _escaped(" ".join(text.replace("%%", "%").split()))
    shown = re.sub(r"`([^`]*\|[^`]*)`", lambda code: f"<code>{escape(code[1])}</code>", shown)
    return shown.replace("|", "&#124;")


def _escaped(text: str) -> str:
    """Text in which only backticks are markup."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([*_<])", r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces)


def module_page(module: str) -> str:
    """A module's purpose, and every name of its ``__all__``."""
    tree = _tree(module)
    parts = [f"# {module}\n", _prose(ast.get_docstring(tree) or "")]
    for name in _exported(tree):
        if name.startswith("__"):
            continue
        definition = _found(module, name)
        parts.append(f"## {name}\n")
        if isinstance(definition, Definition):
            parts += _definition(definition)
        else:
            parts.append(f"```python\n{name} = …\n```\n")
    return "\n".join(parts)


def _path(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _tree(module: str) -> ast.Module:
    return ast.parse(_path(module).read_text(encoding="utf-8"))


def _exported(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def _found(module: str, name: str) -> ast.AST | None:
    """Where a name is defined, through the modules that pass it on."""
    tree = _tree(module)
    for node in ast.walk(tree):
        if isinstance(node, Definition) and node.name == name and node in tree.body:
            return node
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wayword."):
            for alias in node.names:
                if (alias.asname or alias.name) == name and _path(str(node.module)).exists():
                    return _found(str(node.module), alias.name)
    return None


def _definition(node: Definition) -> Iterator[str]:
    """A signature, a docstring, and of a class its fields and methods."""
    yield f"```python\n{_signature(node)}\n```\n"
    yield _prose(ast.get_docstring(node) or "")
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, Definition) and not inner.name.startswith("_"):
                yield f"### {node.name}.{inner.name}\n"
                yield f"```python\n{_signature(inner)}\n```\n"
                yield _prose(ast.get_docstring(inner) or "")


def _signature(node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        fields = [
            f"    {ast.unparse(inner)}"
            for inner in node.body
            if isinstance(inner, ast.AnnAssign) and not ast.unparse(inner.target).startswith("_")
        ]
        return "\n".join(
            [f"class {node.name}({bases})" if bases else f"class {node.name}", *fields]
        )
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    kind = next((k for k in ("classmethod", "staticmethod") if k in decorators), "")
    if decorators & {"property", "cached_property"}:
        return f"{node.name}: {_annotation(node.returns)}"
    arguments = [part for part in _arguments_of(node) if part not in {"self", "cls"}]
    line = f"{node.name}({', '.join(arguments)}) -> {_annotation(node.returns)}"
    if len(line) > 96:
        inside = "".join(f"    {argument},\n" for argument in arguments)
        line = f"{node.name}(\n{inside}) -> {_annotation(node.returns)}"
    return f"@{kind}\n{line}" if kind else line


def _annotation(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return "None" if node is None else ast.unparse(node)


def _arguments_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The arguments of a function as they are written."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults))
    for argument, default in zip(plain, [*defaults, *given.defaults], strict=True):
        yield _argument(argument, default)
    if given.vararg:
        yield f"*{_argument(given.vararg, None)}"
    elif given.kwonlyargs:
        yield "*"
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _argument(argument, default)
    if given.kwarg:
        yield f"**{_argument(given.kwarg, None)}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    text = argument.arg
    if argument.annotation is not None:
        text += f": {_annotation(argument.annotation)}"
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _prose(text: str) -> str:
    """A docstring as Markdown: examples fenced, double backticks single."""
    paragraphs = re.split(r"\n\s*\n", textwrap.dedent(text).strip())
    shown = []
    for paragraph in paragraphs:
        lines = paragraph.splitlines()
        starts = [at for at, line in enumerate(lines) if line.lstrip().startswith(">>>")]
        if starts:
            before, example = lines[: starts[0]], lines[starts[0] :]
            plain = "\n".join(example)
            shown.append(("\n".join(before) + "\n\n" if before else "") + f"```pycon\n{plain}\n```")
        elif all(line.startswith("    ") for line in lines):
            shown.append(paragraph)
        else:
            prose = _escaped(paragraph.replace("``", "`"))
            shown.append(ANSWERS.sub(r"* **\1:**", prose))
    return "\n\n".join(shown) + "\n"


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    modules = {f"{module}.md": module_page(module) for module in MODULES}
    listed = "".join(f"* [{module}]({module}.md)\n" for module in MODULES)
    index = f"# Python reference\n\nAfter this page you know where each name is.\n\n{listed}"
    return {"commands.md": commands_page(), "python.md": index, **modules}


if __name__ == "__main__":
    for old in FOLDER.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
