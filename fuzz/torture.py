"""Kills, starves and misleads every long command, and looks what is left.

In: how many kills in all (``--kills``), a scenario (``--only``), a seed. Out: a line for each
scenario, exit code 1 when a promise of docs/reliability.md did not hold.
How: each command runs once undisturbed for its bytes; then it is killed at random moments by random
signals and run again: same bytes, nothing left beside them or in the temporary folder, no process.
The other scenarios break what is around a command: full disk (a limit on the size of files), places
that cannot be written, closed streams, devices, pipes, links, a second process, damaged stores,
little memory. A command must end by itself with 0, 1 or 2 and one sentence.
"""

import argparse
import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

WAYWORD = (sys.executable, "-m", "wayword")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
QUICK = ("lm.order=3", "tune.runs=1", "tune.rounds=2", "tune.nbest=20", "search.pop_limit=30")
PAIRS = 400
MB = 1 << 20

TAGGED = ("IN/train.factored.de", "IN/train.en", "IN/train.links")
#: Long commands; IN is the folder of the text, OUT what the command makes.
COMMANDS: dict[str, Sequence[str]] = {
    "toy": ("toy", "de-en", "-n", "3000", "-o", "OUT"),
    "doctor": ("doctor", "IN/train.de", "IN/train.en", "--out", "OUT"),
    "align": ("align", "IN/train.de", "IN/train.en", "--save", "OUT", "--threads", "2"),
    "extract": ("extract", "IN/train.de", "IN/train.en", "IN/train.links", "-o", "OUT"),
    "lm": ("lm", "train", "IN/train.en", "-o", "OUT"),
    "waw": ("waw", "train", *TAGGED, "-o", "OUT", "--threads", "2"),
    "neural": ("neural", "train", *TAGGED, "-o", "OUT", "--hidden", "16", "--threads", "2"),
    "preorder": ("preorder", "fit", *TAGGED, "-o", "OUT", "--bits", "14", "--threads", "2"),
    "profile": ("profile", *TAGGED, "--html", "OUT", "--threads", "2"),
    "train": (
        *("train", "IN/train.de", "IN/train.en", "--dev", "IN/dev.de", "IN/dev.en"),
        *("-o", "OUT", "--threads", "2", "--set", *QUICK),
    ),
}


class BrokenError(Exception):
    """A promise that did not hold."""


def main() -> int:
    """Run the scenarios; tell what broke."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=300, metavar="N", help="in all (300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=SCENARIOS)
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        room = Room(Path(name), random.Random(args.seed), args.kills)
        for scenario in [args.only] if args.only else SCENARIOS:
            begun = time.monotonic()
            try:
                told = SCENARIOS[scenario](room)
            except BrokenError as broken:
                failed += 1
                told = f"BROKEN: {broken}"
            print(f"{scenario:10} {time.monotonic() - begun:6.0f} s  {told}", flush=True)
    return 1 if failed else 0


class Room:
    """Where it happens: text, a temporary folder of its own, and the commands."""

    def __init__(self, folder: Path, chance: random.Random, kills: int) -> None:
        self.folder = folder
        self.chance = chance
        self.kills = kills
        self.text = folder / "text"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary), "PYTHONUNBUFFERED": "1"}
        self.run(["toy", "de-en", "-n", str(PAIRS), "-o", str(self.text)])

    def command(self, name: str, out: Path) -> list[str]:
        """The words of a long command."""
        places = {"IN": str(self.text), "OUT": str(out)}
        filled = [
            places.get(word) or word.replace("IN/", f"{self.text}/") for word in COMMANDS[name]
        ]
        return [*WAYWORD, *filled]

    def run(
        self, words: Sequence[str], *, codes: tuple[int, ...] = (0,), **options: object
    ) -> subprocess.CompletedProcess[str]:
        """Run a command that must end by itself with one of these codes and speak to the user."""
        command = list(words) if words[0] == sys.executable else [*WAYWORD, *words]
        given = {"capture_output": True, "text": True, "timeout": 600, **options}
        done = subprocess.run(command, env=self.environment, check=False, **given)  # type: ignore[call-overload]
        said = done.stderr or ""
        if done.returncode not in codes or "internal error" in said or "Traceback" in said:
            shown = " ".join(command[3:8])
            raise BrokenError(f"`{shown} …` left with {done.returncode}: {said[-400:]!r}")
        return done

    def kill_once(self, command: Sequence[str], seconds: float) -> bool:
        """Kill a command at a random moment; whether it was still running."""
        null = subprocess.DEVNULL
        process = subprocess.Popen(
            command, env=self.environment, stdout=null, stderr=null, start_new_session=True
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(self.chance.uniform(0, seconds))
        is_alive = process.poll() is None
        number = self.chance.choice(SIGNALS)
        process.send_signal(number)
        begun = time.monotonic()
        process.wait(60)
        waited = time.monotonic() - begun
        if number != signal.SIGKILL and waited > 20:
            raise BrokenError(f"{number.name} was obeyed after {waited:.0f} s only")
        for _ in range(100):  # processes of its session have to end as well
            if not list(_session(process.pid)):
                return is_alive
            time.sleep(0.1)
        raise BrokenError(f"processes of {command[3]} outlived it by ten seconds")

    def leftovers(self) -> list[str]:
        """What is in the temporary folder, or in the making anywhere."""
        parts = [str(path) for path in self.folder.rglob(".*.part")]
        return parts + [path.name for path in self.temporary.iterdir()]


def _session(number: int) -> Iterator[int]:
    """Processes of a session."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError, ValueError):
            fields = entry.read_text().rpartition(")")[2].split()
            if int(fields[3]) == number and fields[0] != "Z":
                yield int(entry.parent.name)


def digest(path: Path) -> str:
    """All bytes of a file or folder, but for logs and times of stages."""
    sums = hashlib.sha256()
    for file in sorted([path] if path.is_file() else path.rglob("*")):
        parts = file.relative_to(path).parts
        if file.is_file() and "work" not in parts and "tune" not in parts:
            sums.update(str(file.relative_to(path)).encode() + file.read_bytes())
    return sums.hexdigest()


def kills(room: Room) -> str:
    """Every long command is killed again and again; the last run ends with the same bytes."""
    share = max(1, room.kills // len(COMMANDS))
    alive = 0
    for name in COMMANDS:
        whole, out = room.folder / f"{name}-whole", room.folder / f"{name}-killed"
        begun = time.monotonic()
        room.run(room.command(name, whole))
        seconds = time.monotonic() - begun
        done = tries = 0
        while done < share and tries < 4 * share:  # some are over before they are killed
            done += room.kill_once(room.command(name, out), seconds)
            tries += 1
        alive += done
        room.run(room.command(name, out))
        if digest(out) != digest(whole):
            raise BrokenError(f"{name}: other bytes after {share} kills")
        if room.leftovers():
            raise BrokenError(f"{name}: left over: {', '.join(room.leftovers())}")
    return f"{alive} kills of running commands, same bytes, nothing left"


def full(room: Room) -> str:
    """A disk that is full at any moment: no file is there half, and the message says why."""
    for name in COMMANDS:
        for size in (1 << 10, 1 << 14, 1 << 17):
            out = room.folder / f"{name}-full-{size}"
            limit = (resource.RLIMIT_FSIZE, (size, size))
            room.run(
                room.command(name, out),
                codes=(0, 1),
                preexec_fn=lambda limit=limit: resource.setrlimit(*limit),
            )
        if room.leftovers():
            raise BrokenError(f"{name}: left over: {', '.join(room.leftovers())}")
    with Path("/dev/full").open("wb") as closed:
        model = str(room.folder / "lm-full")
        room.run(["lm", "train", str(room.text / "train.en"), "-o", model])
        options = {"capture_output": False, "stdout": closed, "stderr": subprocess.PIPE}
        room.run(["lm", "score", model, str(room.text / "dev.en")], codes=(1,), **options)
    return "files and standard output"


def places(room: Room) -> str:
    """Where nothing can or may be written, nothing is, and what was there stays."""
    folder = room.folder / "places"
    folder.mkdir()
    (folder / "target").write_text("precious", encoding="utf-8")
    (folder / "link").symlink_to("target")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    for place in ("link", "dangling", "folder", "missing/model", "target/model"):
        train = ["lm", "train", str(room.text / "train.en"), "-o"]
        room.run([*train, str(folder / place)], codes=(1, 2))
    for place in ("/dev/null", "/dev/full", "/proc/model", str(folder / "pipe")):
        room.run(["lm", "train", str(room.text / "train.en"), "-o", place], codes=(1, 2))
    names = {path.name for path in folder.iterdir()}
    kept = (folder / "target").read_text(encoding="utf-8") == "precious"
    if names != {"target", "link", "dangling", "folder", "pipe"} or not kept:
        raise BrokenError(f"changed: {', '.join(sorted(names))}")
    if Path("/dev/null").is_file():
        raise BrokenError("/dev/null is a file now")
    return "links, folders, devices and pipes"


def streams(room: Room) -> str:
    """Closed standard streams: no crash, and no file gets what was meant for one."""
    model = room.folder / "lm-streams"
    text = str(room.text / "train.en")
    shell = " ".join((*WAYWORD, "lm", "train", text, "-o", str(model)))
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f"{shell} {closed}"],
            env=room.environment,
            check=False,
            capture_output=True,
        )
        if done.returncode not in {0, 1}:
            raise BrokenError(f"{closed}: left with {done.returncode}")
    whole = room.folder / "lm-whole-streams"
    room.run(["lm", "train", text, "-o", str(whole)])
    if model.read_bytes() != whole.read_bytes():
        raise BrokenError("the model has other bytes")
    return "each closed, and all"


def shared(room: Room) -> str:
    """Two processes on one store: one works, the other is told so."""
    out = room.folder / "shared"
    command = room.command("train", out)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(command, env=room.environment, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    said = [process.communicate(timeout=600)[1] for process in both]
    codes = sorted(process.returncode for process in both)
    if codes == [0, 1] and not any("another process works here" in text for text in said):
        raise BrokenError(f"the second was not told why: {said}")
    if codes not in ([0, 1], [0, 0]):  # the second may come when the first has ended
        raise BrokenError(f"left with {codes}")
    return f"left with {codes}"


def damage(room: Room) -> str:
    """Bytes of a store are changed, files removed: the rerun makes the same system again."""
    out = room.folder / "damaged"
    room.run(room.command("train", out))
    before = digest(out)
    rounds = max(2, room.kills // 30)
    for _ in range(rounds):
        files = [path for path in sorted((out / "work").rglob("*")) if path.is_file()]
        victim = room.chance.choice(
            [path for path in files if path.name not in {"lock", "log.jsonl"}]
        )
        data = bytearray(victim.read_bytes())
        match room.chance.randrange(3):
            case 0 if data:
                data[room.chance.randrange(len(data))] ^= 1 << room.chance.randrange(8)
                victim.write_bytes(data)
            case 1:
                victim.write_bytes(data[: len(data) // 2])
            case _:
                victim.unlink()
        room.run(room.command("train", out))
        if digest(out) != before:
            raise BrokenError(f"another system after damage to {victim.relative_to(out)}")
    system = room.folder / "flipped"
    shutil.copytree(out, system, ignore=shutil.ignore_patterns("work"))
    for name in ("lm", "phrase-table"):
        whole = (system / name).read_bytes()
        for _ in range(rounds):
            data = bytearray(whole)
            data[room.chance.randrange(len(data))] ^= 1 << room.chance.randrange(8)
            (system / name).write_bytes(data)
            clean = room.run(["translate", str(out), str(room.text / "dev.de")]).stdout
            done = room.run(["translate", str(system), str(room.text / "dev.de")], codes=(0, 1))
            if done.returncode == 0 and done.stdout != clean:
                raise BrokenError(f"a wrong byte of {name} changed translations in silence")
        (system / name).write_bytes(whole)
    return f"{rounds} damages of a store, {2 * rounds} of models"


def memory(room: Room) -> str:
    """Little memory and huge demands: a sentence, never an abort."""
    out = room.folder / "memory"
    room.run(room.command("train", out))
    limit = (resource.RLIMIT_AS, (3 << 30, 3 << 30))
    line = room.folder / "long"
    line.write_text("das haus ist klein " * 25_000 + "\n", encoding="utf-8")
    demands: tuple[Sequence[str], ...] = (
        ("translate", str(out), str(line)),
        ("translate", str(out), str(room.text / "dev.de"), "--nbest", "1000000"),
        ("translate", str(out), str(room.text / "dev.de"), "--nbest", "-1"),
        ("translate", str(out), str(room.text / "dev.de"), "--pop-limit", str(10**30)),
        ("translate", str(out), str(room.text / "dev.de"), "--space", "ibm:4294967295"),
    )
    for words in demands:
        room.run(words, codes=(0, 1, 2), preexec_fn=lambda: resource.setrlimit(*limit))
    return f"{len(demands)} demands within 3 GB of addresses"


SCENARIOS: dict[str, Callable[[Room], str]] = {
    "places": places,
    "streams": streams,
    "full": full,
    "shared": shared,
    "damage": damage,
    "memory": memory,
    "kills": kills,
}

if __name__ == "__main__":
    sys.exit(main())
