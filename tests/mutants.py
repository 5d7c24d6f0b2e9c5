"""Mutants: small errors put into the code one at a time, each of which the quick tests of its room must notice.

    python -m tests.mutants                   all of them, two at a time; before a release
    python -m tests.mutants --room patterns   those of one room
    python -m tests.mutants --only cuts-empty one of them

Works in copies of the checkout, never in the checkout. Says of each mutant which test killed it, or that it survived.
Ends with 0 if nine of ten of those that ran died, the tests of each room passed without one, and each mutant's old text
stands exactly once in its file; with 1 otherwise. When code is rewritten, its mutants move along: the same error, in
the words of the new code.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
PARALLEL: Final = 2
SECONDS: Final = 540
"""How long the tests of a room may take; a mutant that makes them hang is noticed, too."""
NO_SHRINKING: Final = "--hypothesis-profile=no shrinking"
SHARE: Final = 0.9
"""Part of the mutants that must die."""

ROOMS: Final[dict[str, tuple[str, ...]]] = {
    "merging": ("tests/core/vocabulary",),
    "patterns": ("tests/core/patterns",),
    "tokenizer": ("tests/core/tokenizer",),
    "vocabulary": ("tests/core/vocabulary",),
    "kernel": ("tests/core/kernel", "tests/core/vocabulary", "tests/core/trainer"),
    "trainer": ("tests/core/trainer",),
    "auditing": ("tests/core/auditing",),
    "corpus": ("tests/core/corpus",),
    "formats": ("tests/core/formats",),
    "metrics": ("tests/core/metrics",),
    "live": ("tests/core/live",),
    "worker": ("tests/core/worker",),
    "tui-text": (
        "tests/tui/test_tokens.py",
        "tests/tui/test_token_area.py",
        "tests/tui/test_strips.py",
        "tests/tui/test_glyphs.py",
        "tests/tui/test_document.py",
        "tests/tui/test_edited_text.py",
        "tests/tui/test_lanes*.py",
        "tests/tui/test_aligned_tokens.py",
        "tests/tui/journeys/test_editor_journeys.py",
    ),
    "tui-tables": (
        "tests/tui/test_table.py",
        "tests/tui/test_token_table.py",
        "tests/tui/test_merge_log.py",
        "tests/tui/journeys/test_audit_journeys.py",
    ),
    "tui-disk": (
        "tests/tui/test_autosave.py",
        "tests/tui/test_config.py",
        "tests/tui/test_unfinished.py",
        "tests/tui/test_opened_tokenizers.py",
        "tests/tui/test_tokenizer_files.py",
        "tests/tui/test_sources.py",
        "tests/tui/test_app_disk.py",
    ),
    "tui-training": (
        "tests/tui/journeys/test_warning_journeys.py",
        "tests/tui/journeys/test_training_journeys.py",
        "tests/tui/test_app_training.py",
        "tests/tui/test_app_going_on.py",
        "tests/tui/test_start.py",
    ),
    "tui-time": (
        "tests/tui/test_app_pace.py",
        "tests/tui/journeys/test_time_journeys.py",
        "tests/tui/test_app_replay.py",
        "tests/tui/test_step_line.py",
    ),
}
"""Room -> its quick tests, as patterns of paths; one that matches nothing is passed over."""


class Mutant(NamedTuple):
    """An error: in `file`, `new` in the place of `old`, which stands there once."""

    name: str
    room: str
    file: str
    old: str
    new: str


MUTANTS: Final = (
    # merging: Python
    Mutant(
        "window-retry",
        "merging",
        "bpe_core/vocabulary/windows.py",
        "if n_again == len(tokens) or found[1:2] == [starts[1 - n_again] if n_again > 1 else done]:",
        "if True:",
    ),
    Mutant(
        "window-period",
        "merging",
        "bpe_core/vocabulary/windows.py",
        "starts[begin]) // period - 1",
        "starts[begin]) // period",
    ),
    Mutant("merge-first-pair", "merging", "bpe_core/vocabulary/merge_loop.py", "if h >= 0:", "if h > 0:"),
    # patterns
    Mutant("cuts-empty", "patterns", "bpe_core/patterns/cuts.py", "if automaton.matches_empty:", "if False:"),
    Mutant(
        "cuts-rest",
        "patterns",
        "bpe_core/patterns/cuts.py",
        "return without(members(source, end), union(consumed)) if rest_is_optional else ()",
        "return without(members(source, end), union(consumed))",
    ),
    Mutant(
        "cuts-of-found-texts",
        "patterns",
        "bpe_core/patterns/splitters.py",
        "pairs = {one + other for text in self._texts for one, other in pairwise(text)}",
        "pairs: set[str] = set()",
    ),
    Mutant(
        "automaton-last",
        "patterns",
        "bpe_core/patterns/automaton.py",
        "last = part.last | last if part.matches_empty else part.last",
        "last = part.last",
    ),
    # tokenizer
    Mutant(
        "decode-errors",
        "tokenizer",
        "bpe_core/tokenizer/__init__.py",
        'return self._as_text(b"".join(known)).decode(errors=errors)',
        'return self._as_text(b"".join(known)).decode(errors="replace")',
    ),
    Mutant("specials-longer", "tokenizer", "bpe_core/tokenizer/specials.py", "if begin >= safe:", "if begin > safe:"),
    Mutant(
        "specials-refused",
        "tokenizer",
        "bpe_core/tokenizer/specials.py",
        'refused - wanted if disallowed == "all" else refused',
        "refused - wanted",
    ),
    Mutant(
        "added-equal",
        "tokenizer",
        "bpe_core/tokenizer/added_tokens.py",
        "self._tokens.setdefault(normalize(token.text) if normalize else token.text, token)",
        "self._tokens[normalize(token.text) if normalize else token.text] = token",
    ),
    Mutant(
        "added-single-word",
        "tokenizer",
        "bpe_core/tokenizer/added_tokens.py",
        "_WORD_BEFORE.search(text[max(0, start - 1) : start]) or _WORD_BEHIND",
        "_WORD_BEFORE.search(text[max(0, start - 1) : start]) and _WORD_BEHIND",
    ),
    # vocabulary
    Mutant(
        "children-of-step",
        "vocabulary",
        "bpe_core/vocabulary/__init__.py",
        "if steps.get(child, 0) <= self.n_merges)",
        "if steps.get(child, 0) < self.n_merges)",
    ),
    Mutant(
        "specials-move-up",
        "vocabulary",
        "bpe_core/vocabulary/__init__.py",
        "if token >= min(made)]",
        "if token > min(made)]",
    ),
    Mutant(
        "byte-twice",
        "vocabulary",
        "bpe_core/vocabulary/symbols.py",
        "for token in sorted(single, reverse=True)}",
        "for token in sorted(single)}",
    ),
    # trainer
    Mutant(
        "condition-least",
        "trainer",
        "bpe_core/trainer/conditions.py",
        '">=": operator.ge',
        '">=": operator.gt',
    ),
    Mutant(
        "condition-unknown",
        "trainer",
        "bpe_core/trainer/conditions.py",
        "value[self.field] > 0 and compare",
        "value[self.field] >= 0 and compare",
    ),
    Mutant(
        "condition-ratio",
        "trainer",
        "bpe_core/trainer/conditions.py",
        "compare(n_bytes, self.number * merge.n_tokens)",
        "compare(n_bytes, float(self.number) * merge.n_tokens)",
    ),
    Mutant(
        "ties-end-marker",
        "trainer",
        "bpe_core/kernel/fallback_learner.py",
        'token.translate(_INVERTED).decode("latin-1") + _END_OF_TOKEN',
        'token.translate(_INVERTED).decode("latin-1")',
    ),
    Mutant(
        "count-least",
        "trainer",
        "bpe_core/kernel/fallback_learner.py",
        "if weight >= self._min_count and",
        "if weight > self._min_count and",
    ),
    # kernel: C
    Mutant("c-window-retry", "kernel", "bpe_core/kernel/merge.c", "if (!is_right)", "if (0 && !is_right)"),
    Mutant(
        "c-leftmost",
        "kernel",
        "bpe_core/kernel/merge.c",
        "parts[i].rank < parts[best].rank",
        "parts[i].rank <= parts[best].rank",
    ),
    Mutant(
        "c-touching",
        "kernel",
        "bpe_core/kernel/train.c",
        "if (after != END_OF_PIECE && !(after == left && slots[behind + left_span] == right))",
        "if (after != END_OF_PIECE)",
    ),
    Mutant(
        "c-prefix-order",
        "kernel",
        "bpe_core/kernel/candidates.c",
        "(one_length > other_length) - (one_length < other_length)",
        "(one_length < other_length) - (one_length > other_length)",
    ),
    Mutant(
        "c-rank-twice", "kernel", "bpe_core/kernel/rank_file.c", "is_first || rank > last", "is_first || rank >= last"
    ),
    # auditing
    Mutant(
        "scaffold-share",
        "auditing",
        "bpe_core/auditing/scaffold.py",
        "if merged <= THRESHOLD * made",
        "if merged < THRESHOLD * made",
    ),
    Mutant(
        "scaffold-gap",
        "auditing",
        "bpe_core/auditing/scaffold.py",
        "if gap > MAX_GAP and ratio < MIN_RATIO:",
        "if gap >= MAX_GAP and ratio < MIN_RATIO:",
    ),
    Mutant(
        "rare-share",
        "auditing",
        "bpe_core/auditing/corpora.py",
        "0 < count < RARE_SHARE * even_share",
        "0 < count <= RARE_SHARE * even_share",
    ),
    Mutant(
        "absent-expected",
        "auditing",
        "bpe_core/auditing/corpora.py",
        "if expected >= MIN_EXPECTED and",
        "if expected > MIN_EXPECTED and",
    ),
    Mutant(
        "few-documents-count",
        "auditing",
        "bpe_core/auditing/corpora.py",
        "if count >= MIN_COUNT and",
        "if count > MIN_COUNT and",
    ),
    # corpus, formats, metrics, live
    Mutant(
        "weight-of-nearest",
        "corpus",
        "bpe_core/corpus/weights.py",
        "for place in (path, *path.parents) if",
        "for place in (*reversed(path.parents), path) if",
    ),
    Mutant(
        "sample-size",
        "corpus",
        "bpe_core/corpus/sampling.py",
        "if chosen and size >= wanted:",
        "if chosen and size > wanted:",
    ),
    Mutant("ranks-order", "formats", "bpe_core/formats/ranks.py", "if step < last:", "if step < 0:"),
    Mutant(
        "field-number",
        "formats",
        "bpe_core/formats/fields.py",
        "if not is_number(value) or value > largest:",
        "if not is_number(value) or value >= largest:",
    ),
    Mutant(
        "number-cut",
        "metrics",
        "bpe_core/metrics/comparison.py",
        "is_end.find(1, number[n], number[n + 1]) >= 0]",
        "is_end.find(1, number[n] + 1, number[n + 1]) >= 0]",
    ),
    Mutant(
        "whole-word",
        "metrics",
        "bpe_core/metrics/comparison.py",
        "is_end.find(1, start + 1, end) < 0 for start, end in parts.words",
        "is_end.find(1, start + 1, end + 1) < 0 for start, end in parts.words",
    ),
    Mutant(
        "baseline-tail",
        "live",
        "bpe_core/live/baseline.py",
        "self._tail = min(self._tail, self._n_characters - end)",
        "self._tail = min(self._tail, self._n_characters - start)",
    ),
    Mutant(
        "change-overlap",
        "live",
        "bpe_core/live/change.py",
        "tail = common_prefix(old[head:][::-1], new[head:][::-1])",
        "tail = common_prefix(old[::-1], new[::-1])",
    ),
    Mutant(
        "change-ripple",
        "live",
        "bpe_core/live/change.py",
        "max(0, left - first, last - right)",
        "max(0, left - first)",
    ),
    Mutant(
        "touched-neighbor",
        "live",
        "bpe_core/live/live_text.py",
        "bisect_left(bounds, start, 1) - 1)",
        "bisect_right(bounds, start, 1) - 1)",
    ),
    Mutant(
        "giant-left-token",
        "live",
        "bpe_core/live/giant.py",
        "fits_left = n_left == low - first or ids[0] == row[low - n_left]",
        "fits_left = True",
    ),
    Mutant(
        "giant-right-token",
        "live",
        "bpe_core/live/giant.py",
        "fits_right = n_right == last - high or ids[-1] == row[high + n_right - 1]",
        "fits_right = True",
    ),
    Mutant(
        "giant-same-gaps",
        "live",
        "bpe_core/live/giant.py",
        "if (ends[last] in self.gaps) != (before[index] in old.gaps):",
        "if False:",
    ),
    # The worker
    Mutant(
        "steps-add-up",
        "worker",
        "bpe_core/worker/job.py",
        "self.credit = command.n + (0 if self.credit == UNLIMITED else self.credit)",
        "self.credit = command.n",
    ),
    Mutant(
        "first-reason-to-stop",
        "worker",
        "bpe_core/worker/job.py",
        "self.stopped = self.stopped or reason",
        "self.stopped = reason",
    ),
    Mutant(
        "goal-forgotten",
        "worker",
        "bpe_core/worker/job.py",
        "self.goal, self.reached = command.condition, None",
        "self.goal, self.reached = command.condition or self.goal, None",
    ),
    # The app's text
    Mutant(
        "click-behind-row",
        "tui-text",
        "tui/text/screen_rows.py",
        "cell = x_offset if section == last else min(x_offset, layout.width - 1)",
        "cell = x_offset",
    ),
    Mutant(
        "old-colors-behind",
        "tui-text",
        "tui/text/tokens.py",
        "(at - _CONTEXT > end and n_colors > 2)",
        "(at > end and n_colors > 2)",
    ),
    Mutant(
        "old-colors-before",
        "tui-text",
        "tui/text/tokens.py",
        "start, end = min(start, change.start), max(end, change.stop - shift)",
        "end = max(end, change.stop - shift)",
    ),
    Mutant(
        "old-colors-of-step",
        "tui-text",
        "tui/text/lane.py",
        "            self._rows.forget()\n            self.changed = ()\n",
        "            self.changed = ()\n",
    ),
    Mutant(
        "marks-move",
        "tui-text",
        "tui/text/tokens.py",
        "return old if old <= start else max(old, end)",
        "return old if old <= start else old",
    ),
    Mutant(
        "tab-stops",
        "tui-text",
        "tui/text/glyphs.py",
        "width = tab_size - (phase + cell) % tab_size",
        "width = tab_size - cell % tab_size",
    ),
    # Tables
    Mutant(
        "list-keeps-row",
        "tui-tables",
        "tui/table/row_list.py",
        "found = row is not None and row in order",
        "found = False",
    ),
    Mutant(
        "list-follows",
        "tui-tables",
        "tui/table/row_list.py",
        "self.following = new >= self.max_scroll_y and (new > old or self.following)",
        "self.following = new >= self.max_scroll_y",
    ),
    Mutant(
        "list-click",
        "tui-tables",
        "tui/table/row_list.py",
        "elif (position := self.scroll_offset.y + offset.y - 1) < self.row_count:",
        "elif (position := self.scroll_offset.y + offset.y) < self.row_count:",
    ),
    Mutant(
        "rows-without-value",
        "tui-tables",
        "tui/table/steps.py",
        "rows += yield from rows_that(range(n_rows), lambda row: values[row] is None)",
        "rows = (yield from rows_that(range(n_rows), lambda row: values[row] is None)) + rows",
    ),
    Mutant(
        "search-end-of-hole",
        "tui-tables",
        "tui/widgets/token_table.py",
        "hole.first <= search.id <= hole.last",
        "hole.first <= search.id < hole.last",
    ),
    Mutant(
        "search-severity",
        "tui-tables",
        "tui/widgets/token_table.py",
        "(verdict.severity or 0) >= severity",
        "(verdict.severity or 0) > severity",
    ),
    # Files
    Mutant(
        "autosave-older",
        "tui-disk",
        "tui/disk/autosave.py",
        "if order > self._newest_written:",
        "if True:",
    ),
    Mutant(
        "unfinished-locked",
        "tui-disk",
        "tui/disk/unfinished.py",
        "if lock(file) and os.path.samestat",
        "if os.path.samestat",
    ),
    Mutant(
        "unfinished-name",
        "tui-disk",
        "tui/disk/unfinished.py",
        "if not (output.exists() or _checkpoint(output).exists()):",
        "if not output.exists():",
    ),
    Mutant(
        "aside-same",
        "tui-disk",
        "tui/disk/files.py",
        "taken.is_file() and taken.read_bytes() == data",
        "taken.is_file()",
    ),
    Mutant(
        "settings-type",
        "tui-disk",
        "tui/disk/config.py",
        "if type(value) is type(default):",
        "if isinstance(value, type(default)):",
    ),
    Mutant(
        "opened-changed",
        "tui-disk",
        "tui/disk/opened_tokenizers.py",
        "now != (opened.size, opened.modified)",
        "now[0] != opened.size",
    ),
    # The screen
    Mutant(
        "warn-missing-file",
        "tui-training",
        "tui/screen/session.py",
        "if configuration.tokenizer and not os.path.exists(configuration.tokenizer):",
        "if False:",
    ),
    Mutant(
        "warn-by-heart",
        "tui-training",
        "tui/owners/training.py",
        "if not merges or merges[-1].count > 1:",
        "if not merges or merges[-1].count >= 1:",
    ),
    Mutant(
        "warn-last-step",
        "tui-training",
        "tui/screen/session.py",
        "if self._told_of_end or not self.training.stepped_to_end:",
        "if True:",
    ),
    Mutant(
        "go-to-last-step",
        "tui-time",
        "tui/screen/moments.py",
        "range(max(0, ceil(wanted.number) - 1) if is_far else 0,",
        "range(max(0, ceil(wanted.number)) if is_far else 0,",
    ),
    Mutant(
        "play-from-end",
        "tui-time",
        "tui/screen/replay.py",
        "at_end = screen.step >= self._steps[-1]",
        "at_end = screen.step > self._steps[-1]",
    ),
    Mutant(
        "twin-of-other-name",
        "tui-training",
        "tui/owners/training.py",
        "elif course.saved != course.named:",
        "elif False:",
    ),
)


class Outcome(NamedTuple):
    """What came of a mutant, or of a room without one."""

    name: str
    room: str
    state: str
    """ "killed", "survived", or what went wrong."""
    told: str = ""


class Copy:
    """A copy of the checkout, in which files are changed and tests are run."""

    def __init__(self, folder: Path) -> None:
        self._folder: Final = folder
        shutil.copytree(
            ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "dist")
        )

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[str]:
        """With the mutant in it; what stops it from being tried, if anything."""
        file = self._folder / mutant.file
        text = file.read_text() if file.exists() else ""
        if text.count(mutant.old) != 1:
            yield f"stale: its old text stands {text.count(mutant.old)} times in {mutant.file}"
            return
        kernels = {path: path.read_bytes() for path in (self._folder / "bpe_core/kernel").glob("_kernel*")}
        try:
            file.write_text(text.replace(mutant.old, mutant.new))
            failed = ""
            if file.suffix in (".c", ".h"):
                built = self._run("hatch_build.py")
                failed = "" if built.returncode == 0 else f"does not compile: {built.stdout[-300:]}"
            yield failed
        finally:
            file.write_text(text)
            for path, data in kernels.items():
                path.write_bytes(data)

    def test(self, room: str) -> tuple[int | None, str]:
        """(exit code of pytest, None after `SECONDS`; the first test that failed, or its last words)."""
        paths = [str(path) for pattern in ROOMS[room] for path in sorted(self._folder.glob(pattern))]
        if not paths:
            return 4, "no tests"
        try:
            run = self._run("-m", "pytest", "-x", "-n0", "--no-header", "--tb=line", "-rfE", NO_SHRINKING, *paths)
        except subprocess.TimeoutExpired:
            return None, f"no end after {SECONDS} s"
        failed = re.search(r"^(?:FAILED|ERROR) (?:\S*/)?(\S+)", run.stdout, re.MULTILINE)
        return run.returncode, failed[1] if failed else run.stdout[-300:].strip()

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Python with these arguments in the copy; its whole process group ends with it."""
        environment = {**os.environ, "PYTHONPATH": str(self._folder), "PYTHONDONTWRITEBYTECODE": "1"}
        with subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self._folder,
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                stdout, _ = process.communicate(timeout=SECONDS)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, stdout)


def tried(copy: Copy, mutant: Mutant) -> Outcome:
    """Whether the tests of its room notice a mutant."""
    with copy.changed(mutant) as problem:
        code, told = (0, "") if problem else copy.test(mutant.room)
    if problem or code in (4, 5):
        return Outcome(mutant.name, mutant.room, "not tried", problem or told)
    return Outcome(mutant.name, mutant.room, "survived" if code == 0 else "killed", told if code else "")


def unchanged(copy: Copy, room: str) -> Outcome:
    """Whether the tests of a room pass as they stand."""
    code, told = copy.test(room)
    return Outcome("unchanged", room, "passed" if code == 0 else "failed", told if code else "")


def main() -> int:
    """Try the mutants asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--room", action="append", choices=ROOMS, help="only the mutants of a room")
    parser.add_argument("--only", action="append", choices=[mutant.name for mutant in MUTANTS], help="only this mutant")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without mutants first")
    asked = parser.parse_args()
    mutants = [
        mutant
        for mutant in MUTANTS
        if mutant.room in (asked.room or ROOMS) and (not asked.only or mutant.name in asked.only)
    ]
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(PARALLEL) as threads:
        free: SimpleQueue[Copy] = SimpleQueue()
        for number in range(PARALLEL):
            free.put(Copy(Path(folder, str(number))))

        def run(work: Mutant | str) -> None:
            copy = free.get()
            try:
                outcome = unchanged(copy, work) if isinstance(work, str) else tried(copy, work)
            finally:
                free.put(copy)
            outcomes.append(outcome)
            print(f"{outcome.state:<10} {outcome.room:<12} {outcome.name:<22} {outcome.told}", flush=True)

        rooms = [] if asked.trust else sorted({mutant.room for mutant in mutants})
        list(threads.map(run, [*rooms, *mutants]))
    killed = [outcome.state == "killed" for outcome in outcomes if outcome.state in ("killed", "survived")]
    print(f"{sum(killed)} of {len(killed)} mutants died.")
    for room in ROOMS:
        died = [
            outcome.state == "killed" for outcome in outcomes if outcome.room == room and outcome.name != "unchanged"
        ]
        if died:
            print(f"    {room:<12} {sum(died)} of {len(died)}")
    is_sound = not any(outcome.state in ("not tried", "failed") for outcome in outcomes)
    return 0 if is_sound and sum(killed) >= SHARE * len(killed) else 1


if __name__ == "__main__":
    sys.exit(main())
