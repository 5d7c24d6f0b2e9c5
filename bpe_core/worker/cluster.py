"""Counting and encoding on many machines: functions for one partition of a corpus, and Dask.

The functions have no state, so any engine can run them. Counts travel between them as bytes, in the
format of a file of counts:

>>> counts = [Counts.of(texts, "words").to_bytes() for texts in (["low lower", "low"], ["low"])]
>>> dict(Counts.load(merge_counts(counts)).pieces)
{'low': 3, 'lower': 1}

`Cluster` runs them on the workers of Dask. `dask_connection.py` connects to these.
"""

import pickle
import platform
import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bpe_core.corpus import Counts, TextFile
from bpe_core.corpus.reading import OnRead, Reading
from bpe_core.corpus.sampling import stretches
from bpe_core.errors import BpeError, ClusterError, TextError
from bpe_core.process import installed
from bpe_core.tokenizer import Choice, Tokenizer
from bpe_core.visible import shortened, visible
from bpe_core.whole_file import as_format_error, new_beside, write_whole

if TYPE_CHECKING:
    from bpe_core.corpus.spill import Spill

SMALLEST: Final = 1 << 20
"""Minimum size of a partition, in bytes on disk."""
LARGEST: Final = 1 << 26
"""Size of a partition of a large corpus, in bytes on disk: a second or two of counting."""
USUAL_NUMBER: Final = 64
"""Number of partitions for a corpus of medium size."""
AT_ONCE: Final = 8
"""Maximum number of counts that one task merges. Four levels of such tasks are enough for 4,096 partitions."""


def partitions(files: Sequence[TextFile]) -> list[list[TextFile]]:
    """Divide files into about 64 partitions of 1 to 64 MB, or into more of 64 MB.

    Returns:
        The files in order, with absolute paths. No file is divided.
    """
    share = sum(file.size for file in files) // USUAL_NUMBER
    size = min(max(share, SMALLEST), LARGEST)
    with_absolute_paths = [replace(file, path=file.path.absolute()) for file in files]
    return list(stretches(with_absolute_paths, None, size))


def _check_present(partition: Iterable[TextFile]) -> None:
    """Raise `TextError` if this machine does not have a file.

    Reading would only skip the file if it was found in a folder.
    """
    for file in partition:
        if not file.address and not file.path.exists():
            path = visible(str(file.path))
            raise TextError(
                f"{path} does not exist on {platform.node()}; "
                "name it by a path that is the same on all machines."
            )


def count_partition(partition: Sequence[TextFile], pattern: str) -> bytes:
    """Count the pieces of a partition, in one thread.

    Returns:
        The counts, as `Counts.save` writes them.

    Raises:
        TextError: A file cannot be read, or does not exist on this machine.
    """
    _check_present(partition)
    counts = Counts(pattern)
    counts.add(partition, Reading(partition, None))
    return counts.to_bytes()


def merge_counts(counts: Iterable[bytes]) -> bytes:
    """Merge the counts of texts that follow each other, as if all had been counted together.

    Merging is associative: some counts may be merged first, and their results later.
    """
    loaded = map(Counts.load, counts)  # one at a time: they may be large
    return reduce(Counts.merge, loaded).to_bytes()


def encode_partition(
    partition: Sequence[TextFile], tokenizer: Tokenizer, path: str, **specials: Any
) -> int:
    """Encode a partition, and write the ids to a parquet file, one row per document.

    Args:
        partition: The files. All their ids are in memory at once.
        tokenizer: The tokenizer that encodes the files.
        path: The file to write, with the columns `source` and `ids`.
        specials: The options of `Tokenizer.encode` for special tokens.

    Returns:
        The number of ids.

    Raises:
        TextError: A file cannot be read, or does not exist on this machine.
        FetchError: pyarrow is not installed.
    """
    pa = installed("pyarrow", "A file of ids", "dask")
    parquet = installed("pyarrow.parquet", "A file of ids", "dask")
    _check_present(partition)
    ids = array("I")
    offsets = [0]
    sources = list[str]()
    for file in partition:
        for blocks in file.documents():
            for part in tokenizer.divide(blocks, **specials):
                if isinstance(part, str):
                    ids += tokenizer.encode_to_array(part)
                else:
                    ids.extend(part)
            offsets.append(len(ids))
            sources.append(file.source_name)
    values = pa.Array.from_buffers(pa.uint32(), len(ids), [None, pa.py_buffer(ids)])
    columns = {
        "source": pa.array(sources, pa.string()),
        "ids": pa.LargeListArray.from_arrays(offsets, values),
    }
    table = pa.table(columns)
    write_whole(path, partial(parquet.write_table, table, compression="zstd"))
    return len(ids)


class Cluster:
    """Dask workers with one thread each, as `connected` returns them.

    If a worker dies, another one repeats its task. An exception of `progress` ends the work.

    `read` and `encode` raise `ClusterError` if the workers fail, and `TextError` if a worker lacks
    a file.
    """

    def __init__(
        self, client: Any, in_turn: Callable[[list[Any]], Iterator[Any]]
    ) -> None:
        """`in_turn` yields futures of the client as they end."""
        self._client = client
        self._in_turn = in_turn

    def read(
        self,
        files: Sequence[TextFile],
        pattern: str,
        *,
        progress: OnRead = lambda *_: None,
        spill: "Spill | None" = None,
    ) -> Counts:
        """Count files as `Counts.read` does.

        The workers count the partitions, and merge the counts as a tree. This process merges the
        last few, where they may spill to disk.
        """
        partition_of = {
            self._submit(count_partition, partition, pattern): partition
            for partition in partitions(files)
        }
        futures = list(partition_of)
        progress(0, sum(file.size for file in files), files[0].name)
        while len(futures) > AT_ONCE:
            futures = [
                self._submit(merge_counts, futures[start : start + AT_ONCE])
                for start in range(0, len(futures), AT_ONCE)
            ]

        def loaded_counts() -> Iterator[Counts]:
            while futures:
                future = futures.pop(0)
                yield Counts.load(self._result(future, partition_of, progress), spill)

        merged = reduce(Counts.merge, loaded_counts())
        named_paths = {file.path.absolute(): file.path for file in files}
        merged.skipped = [
            replace(skipped, path=named_paths[skipped.path])
            for skipped in merged.skipped
        ]
        return merged.checked()

    def encode(
        self,
        files: Sequence[TextFile],
        tokenizer: Tokenizer,
        folder: Path,
        progress: OnRead,
        **specials: Choice,
    ) -> int:
        """Encode files into a new folder, with a parquet file of ids for each partition.

        The workers must have access to the folder. It gets its name only after all files are encoded.

        Returns:
            The number of ids.

        Raises:
            FormatError: The folder exists, or cannot be made.
        """
        unfinished = new_beside(folder)
        with as_format_error(folder):
            if folder.exists():
                raise ValueError("the folder exists; name a new one")
            unfinished.mkdir()
        try:
            # As the result of a task, it is made again if its worker dies. Data sent by `scatter` is not.
            shared_tokenizer = self._submit(pickle.loads, pickle.dumps(tokenizer))
            partition_of = dict[Any, list[TextFile]]()
            for number, partition in enumerate(partitions(files)):
                future = self._submit(
                    encode_partition,
                    partition,
                    shared_tokenizer,
                    f"{unfinished}/{number:06}.parquet",
                    **specials,
                )
                partition_of[future] = partition
            n_ids = self._submit(sum, list(partition_of))
            result = int(self._result(n_ids, partition_of, progress))
            unfinished.rename(folder)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        return result

    def _submit(self, work: Callable[..., object], *given: Any, **options: Any) -> Any:
        """Return the future of a task.

        Tasks that merge take priority over tasks that count, so that few counts wait in memory.
        """
        priority = 1 if work is merge_counts else 0
        # Dask gives equal "pure" tasks one result. But the text at a path may change between runs.
        return self._client.submit(
            work, *given, pure=False, priority=priority, **options
        )

    def _result(
        self, wanted: Any, partition_of: dict[Any, list[TextFile]], progress: OnRead
    ) -> Any:
        """Wait for a future that depends on the tasks of partitions, and return its result.

        The tasks are removed from `partition_of` as they end, so that the workers can forget them.
        """
        total = sum(file.size for files in partition_of.values() for file in files)
        done = 0
        for future in self._in_turn(list(partition_of)):
            partition = partition_of.pop(future)
            # A task that had ended can be pending or lost again, if its worker died. Another worker
            # repeats it for `wanted`.
            if future.status in ("error", "cancelled"):
                wanted = future  # raises its error
                break
            del future
            done += sum(file.size for file in partition)
            progress(done, total, partition[-1].name)
        for _ in self._in_turn([wanted]):
            pass  # until it has ended, looking for Ctrl+C
        try:
            return wanted.result()
        except BpeError:
            raise
        except Exception as error:
            # An error of Dask: a task killed four workers, or the scheduler is gone.
            reason = shortened(f"{type(error).__name__}: {error}", 200)
            raise ClusterError(
                f"The Dask workers failed ({visible(reason).rstrip('.')}); "
                "see their log, and try again."
            ) from None
