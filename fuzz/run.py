"""Builds the fuzz targets with the stable toolchain and runs each for its share of the time.

In: seconds in all (``--seconds``), a target (``--only``). Out: a table of executions, speed and
coverage; exit code 1 when a target crashed, hung or took too much memory, with the bytes in
``fuzz/artifacts``. Seeds are made by the product (``fuzz/seeds.py``); what adds coverage is kept in
``fuzz/corpus`` for the next run. At the end the Python readers get random files, too.
How: libFuzzer; its coverage comes from LLVM's own pass, which is asked for by ``-C`` options that
stable Rust has, so no other toolchain is needed.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FLAGS = (
    "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 "
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters "
    "-Cllvm-args=-sanitizer-coverage-pc-table"
)
TARGETS = (
    *("text", "links", "factored", "arpa", "moses", "waw-text"),
    *("lm", "ngrams", "table", "counts", "aligner", "tagger", "waw", "lop", "neural"),
    *("words", "passes", "fingerprints", "samples"),  # what tasks of a cluster tell each other
)
LIMITS = ("-rss_limit_mb=1024", "-malloc_limit_mb=512", "-timeout=10", "-max_len=150000")
PYTHON_SHARE = 0.2


def main() -> int:
    """Build, run, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600, help="in all (600)")
    parser.add_argument("--only", choices=TARGETS, help="this target alone")
    parser.add_argument("--target-dir", default=str(HERE / "target"), help="of cargo")
    args = parser.parse_args()
    binary = build(Path(args.target_dir))
    seeds = HERE / "seeds"
    if not seeds.is_dir():
        subprocess.run([sys.executable, HERE / "seeds.py", seeds], check=True)
    wanted = (args.only,) if args.only else TARGETS
    share = args.seconds * (1 if args.only else 1 - PYTHON_SHARE) / len(wanted)
    failed = [name for name in wanted if not run(binary, name, share)]
    if not args.only and not run_python(args.seconds * PYTHON_SHARE):
        failed.append("python readers")
    print(f"failed: {', '.join(failed)}" if failed else "no crash, hang or excess of memory")
    return 1 if failed else 0


def build(folder: Path) -> Path:
    """The program with all targets. Naming the machine keeps the flags from build scripts."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    machine = re.findall(r"^host: (\S+)", told, re.MULTILINE)[0]
    flags = f"{os.environ.get('RUSTFLAGS', '')} {FLAGS}".strip()
    environment = {**os.environ, "RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(folder)}
    command = ["cargo", "build", "--release", "--locked", "--target", machine]
    subprocess.run([*command, "--manifest-path", HERE / "Cargo.toml"], env=environment, check=True)
    return folder / machine / "release" / "readers"


def run(binary: Path, name: str, seconds: float) -> bool:
    """Run a target; whether it held."""
    corpus, artifacts = HERE / "corpus" / name, HERE / "artifacts" / name
    for folder in (corpus, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "WAYWORD_FUZZ": name}
    seeds = sorted((HERE / "seeds" / name).iterdir())
    strict = {**environment, "WAYWORD_FUZZ_STRICT": "1"}
    whole = subprocess.run(
        [binary, *seeds], env=strict, capture_output=True, text=True, check=False
    )
    if whole.returncode:
        print(f"{name}: a seed is not read\n{whole.stderr[-1500:]}")
        return False
    options = [f"-max_total_time={max(1, round(seconds))}", f"-artifact_prefix={artifacts}/"]
    command = [binary, *options, *LIMITS, "-print_final_stats=1", corpus, HERE / "seeds" / name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    said = done.stderr
    count = re.findall(r"number_of_executed_units:\s*(\d+)", said)
    covered = re.findall(r"cov: (\d+)", said)
    shown = f"{int(count[0]):>12,} runs" if count else "no figures"
    print(f"{name:10}{shown}, coverage {covered[-1] if covered else 0}", flush=True)
    if done.returncode:
        print("\n".join(said.splitlines()[-25:]))
    return done.returncode == 0


def run_python(seconds: float) -> bool:
    """Random files for the readers in Python."""
    environment = {**os.environ, "WAYWORD_FUZZ_SECONDS": str(seconds)}
    tests = ROOT / "tests" / "test_readers.py"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests]
    return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
