"""`python -m bpe_core.worker`: run the first message on stdin, and send its events to stdout."""

import os
import sys
import traceback
from contextlib import suppress

from bpe_core.errors import Stopped, as_sentence
from bpe_core.worker.job import Job, Reporter
from bpe_core.worker.messages import Failed


def main() -> int:
    """Run one request. Return the exit code: 0, or 2 if the request failed."""
    events = os.dup(1)
    # Libraries may print to stdout. Their output goes to stderr, not between the events.
    os.dup2(2, 1)
    job = Job(Reporter(events), pipe=0, patience=0)
    request = job.next_message()
    if request is None:
        return 0
    try:
        with suppress(Stopped):
            request.run(job)
    except Exception as error:
        if os.environ.get("BPESCOPE_DEBUG"):
            traceback.print_exc()
        job.send(Failed(as_sentence(error)))
        return 2
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # waits for no thread, and frees nothing: see `run_to_end`
