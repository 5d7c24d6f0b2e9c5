"""`python -m bpe_core.worker`: runs the request that is the first message on stdin; its events go to stdout."""

import os
import sys
import traceback
from contextlib import suppress

from bpe_core.errors import Stopped, as_sentence
from bpe_core.worker.job import Job, Reporter
from bpe_core.worker.messages import Failed


def main() -> int:
    """Run one request; 0, or 2 if it failed."""
    pipe = os.dup(1)
    os.dup2(2, 1)  # what a library prints must not come between the events
    job = Job(Reporter(pipe), pipe=0, patience=0)
    if (request := job.next_message()) is not None:
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
