"""Modules use only what stands before them in the pipeline."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "python" / "wayword"

#: The pipeline, first stage first. Measuring needs no decoder, so it comes before: tuning needs
#: both, and the decoder's translations know how to draw themselves.
ORDER = (
    "_core",
    "errors",
    "types",
    "options",
    "handle",
    "papers",
    "picture",
    "corpus",
    "stage",
    "store",
    "cluster",
    "align",
    "extract",
    "lm",
    "reorder",
    "evaluate",
    "audit",
    "report",
    "decode",
    "learn",
    "gather",
    "shards",
    "stages",
    "manifest",
    "parts",
    "pack",
    "teach",
    "system",
    "seal",
    "moses",
    "tune",
    "oracle",
    "profile",
    "config",
    "pipeline",
    "outputs",
    "experiment",
    "overview",
    "demo",
    "paper_experiments",
    "web",
    "cli",
)
#: The package's own files: they open it to users and hold nothing else.
DOORS = ("__init__", "__main__")


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the stage of every import of the package, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "wayword" and rest:
                yield node.lineno, rest.split(".")[0]


def arrows() -> Iterator[tuple[str, str, str]]:
    """Every import of the package by itself: where, from which stage, to which."""
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT)
        stage = inside.with_suffix("").parts[0]
        if stage in DOORS:
            continue
        for line, used in imported(ast.parse(path.read_text(encoding="utf-8"))):
            yield f"{inside}:{line}", stage, used


def test_every_module_has_a_place_in_the_pipeline() -> None:
    stages = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or path.is_dir()}
    # Presets hold choices, no code.
    assert stages - {*DOORS, "__pycache__", "presets"} == set(ORDER) - {"_core"}


def test_no_arrow_points_backward() -> None:
    places = {stage: place for place, stage in enumerate(ORDER)}
    every = [(where, stage, used) for where, stage, used in arrows() if used != "__version__"]
    backward = [
        f"{where}: {stage} uses {used}"
        for where, stage, used in every
        if places[used] > places[stage]
    ]
    assert len(every) > 100  # the test still sees the imports
    assert backward == []


def test_imports_inside_functions_and_for_type_checkers_count() -> None:
    text = """
import wayword.cli.terminal
if TYPE_CHECKING:
    from wayword.decode import Decoder
def run():
    from wayword import lm, __version__
"""
    stages = [stage for _, stage in imported(ast.parse(text))]
    assert stages == ["cli", "decode", "lm", "__version__"]
