"""Try an installed bpescope, as a wheel's test does: the app is imported, and the command trains, encodes and decodes.

python .ci/smoke.py [--kernel]: with --kernel it has to be compiled. Where the app cannot run, it must say so.
"""

import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Raises AssertionError or CalledProcessError at what does not work."""
    import tui.app
    from bpe_core import kernel, load
    from bpe_core.content.samples import SAMPLES

    assert Path(tui.app.__file__).parents[1] != Path(__file__).resolve().parents[1], (
        "this is the checkout"
    )
    assert kernel.available or "--kernel" not in sys.argv[1:], (
        f"the kernel is {kernel.why_not}"
    )
    bpescope = Path(sys.executable).with_name("bpescope")
    with tempfile.TemporaryDirectory() as folder:
        learned = Path(folder, "tiny.json")
        subprocess.run(
            [bpescope, "train", SAMPLES[0].path, "-o", learned, "--vocab-size", "300"],
            check=True,
        )
        text = b"low lower lowest\n"
        encoded = subprocess.run(
            [bpescope, "encode", "-t", learned],
            input=text,
            stdout=subprocess.PIPE,
            check=True,
        )
        decoded = subprocess.run(
            [bpescope, "decode", "-t", learned],
            input=encoded.stdout,
            stdout=subprocess.PIPE,
            check=True,
        )
        assert decoded.stdout.strip() == text.strip() and load(learned).n_vocab == 300
    print(f"bpescope {bpescope} works; the kernel is {kernel.description}")


if __name__ == "__main__":
    main()
