"""Reading the training record in a file of bpescope's own format."""

from bpe_core.corpus import Source
from bpe_core.formats.fields import Fields, is_number
from bpe_core.tokenizer.training_record import TrainingRecord


def record_of(fields: Fields, steps: tuple[tuple[int, int, int], ...]) -> TrainingRecord:
    """The record in a file that tells these `steps` with its merges. Raises `FormatError`."""
    training = fields.fields("training")
    return TrainingRecord(
        pattern=training.text("pattern"),
        ties=training.text("ties"),
        id_layout=training.text("id_layout"),
        min_count=training.number("min_count"),
        max_token_length=None if training.any("max_token_length") is None else training.number("max_token_length"),
        vocab_size=training.number("vocab_size"),
        sources=tuple(map(_source, training.objects("sources"))),
        steps=steps,
        n_bytes=training.number("n_bytes"),
        n_tokens_start=training.number("n_tokens_start"),
        created=training.text("created"),
        stop_reason=training.text("stop_reason"),
        end_of_word=training.text("end_of_word") if "end_of_word" in training else "",
        min_share=training.text("min_share") if "min_share" in training else None,
        n_given=training.number("n_given", largest=len(steps)) if "n_given" in training else 0,
        first_counts=_first_counts(fields),
        sample=training.text("sample") if "sample" in training else "",
    )


def _first_counts(fields: Fields) -> tuple[int, ...]:
    counts = fields.items("first_counts") if "first_counts" in fields else []
    if len(counts) not in (0, 256 + ("end_of_word" in fields)) or not all(map(is_number, counts)):
        fields.fail(
            "first_counts", "the count of each byte was expected, and of the end-of-word marker if there is one"
        )
    return tuple(counts)


def _source(source: Fields) -> Source:
    return Source(
        name=source.text("name"),
        bytes=source.number("bytes"),
        characters=source.number("characters"),
        sha256=source.text("sha256"),
        weight=source.number("weight") if "weight" in source else 1,
    )
