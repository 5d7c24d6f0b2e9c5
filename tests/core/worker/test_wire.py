"""What goes through a pipe comes out the same, in whatever portions; what is no message is refused."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.trainer import Trainer
from bpe_core.worker.messages import Checkpoint, Failed, Merges, Stop, WireError, packed, unpacked

MESSAGES = st.one_of(
    st.builds(Failed, st.text("aé日😊\0\n")),
    st.just(Stop()),
    st.builds(Checkpoint, st.text()),
)


@given(st.lists(MESSAGES), st.integers(1, 40))
def test_messages_come_out_of_portions_of_any_size(messages: list[object], size: int) -> None:
    data = b"".join(map(packed, messages))
    for most in size, len(data) + 1:
        unread, portions = bytearray(), [data[at : at + most] for at in range(0, len(data), most)]
        assert [message for portion in portions for message in unpacked(unread, portion)] == messages


@pytest.mark.parametrize("body", [b"", b"noise", pickle.dumps(1)[:-1], b"cnowhere\nnothing\n."])
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(WireError, match="Not a message of a worker"):
        list(unpacked(bytearray(), len(body).to_bytes(4, "big") + body))


def test_merges_come_out_as_they_were() -> None:
    learned = list(Trainer("the theme of the other thesis " * 9, vocab_size=275))
    (merges,) = unpacked(bytearray(), packed(Merges(learned[4:])))
    assert list(merges) == learned[4:] and len(merges) == len(learned) - 4
    part = merges[2:5]
    assert list(part) == learned[6:9]
    part.extend(merges[5:9])
    assert list(part) == learned[6:13] and list(merges) == learned[4:]
