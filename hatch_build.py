"""Hooks of hatchling: one compiles the kernel, `bpe_core/kernel/*.c`, and one completes the metadata.

Run as a command, this file compiles the kernel in a checkout.

A hook, not setuptools as the backend: so a wheel without the kernel remains one for every platform and says so in its
name, and the rest of the build is as plain as before. Compiling itself is left to setuptools, which knows the compilers
of all platforms. BPESCOPE_KERNEL=0 does without the kernel, 1 makes a failure to compile it an error; otherwise that is
no error, since everything works without it. The full API of Python is used, not the limited one: it hands out a list of
ids in 3.1 ns an id instead of 5.
"""

import os
import re
import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parent
FOLDER = Path("bpe_core/kernel")
OPTIONS = [
    "-std=c11",
    "-O2",
    "-g0",  # debug information would contain the folder of the build
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Werror=implicit-function-declaration",
]


class KernelBuildHook(BuildHookInterface):
    """Adds the kernel to a wheel; of an editable installation, leaves it among its sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it packs a wheel."""
        kernel = compiled(Path(tempfile.mkdtemp()), in_place=version == "editable")
        if kernel and version != "editable":
            build_data.update(pure_python=False, infer_tag=True)
            build_data["force_include"][str(kernel)] = str(FOLDER / kernel.name)


class AddressHook(MetadataHookInterface):
    """Adds the README and, if BPESCOPE_URL has the repository's address, what depends on it.

    The release workflow sets it. PyPI shows the README alone, so its relative links need the address.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling before it writes the metadata."""
        text = (ROOT / "README.md").read_text("utf-8")
        repository = os.environ.get("BPESCOPE_URL", "")
        metadata["urls"] = {}
        if repository:
            tag = f"v{metadata['version']}"
            text = with_addresses(text, repository, tag)
            metadata["urls"] = {
                "Source": repository,
                "Documentation": os.environ.get("BPESCOPE_SITE")
                or f"{repository}/tree/{tag}/docs",
                "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
                "Issues": f"{repository}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_addresses(markdown: str, repository: str, tag: str) -> str:
    """Make the relative links and pictures of a page in the repository's top folder absolute."""
    relative = r"(?![a-z]+:|#)"
    pictures = rf"(!\[[^]]*\]\(|(?:src|srcset)=\"){relative}"
    markdown = re.sub(pictures, rf"\1{repository}/raw/{tag}/", markdown)
    links = rf"(\]\(){relative}"
    return re.sub(links, rf"\1{repository}/blob/{tag}/", markdown)


def compiled(scratch: Path, *, in_place: bool) -> Path | None:
    """The kernel, compiled in `scratch` and left there or, `in_place`, among its sources; None where that fails."""
    switch = os.environ.get("BPESCOPE_KERNEL", "")
    if switch == "0":
        return None
    try:
        from setuptools import Distribution, Extension
    except ImportError:
        if switch == "1":
            raise
        return None
    os.chdir(
        ROOT
    )  # the sources are named from here, so that no path of this machine gets into the kernel
    extension = Extension(
        "bpe_core.kernel._kernel",
        sorted(map(str, FOLDER.glob("*.c"))),
        depends=sorted(map(str, FOLDER.glob("*.h"))),
        define_macros=[
            (
                "KERNEL_STAMP",
                f"{runpy.run_path(str(FOLDER / 'stamp.py'))['stamp'](FOLDER)}u",
            )
        ],
        extra_compile_args=OPTIONS,
        optional=switch != "1",
    )
    build = Distribution(
        {"name": "bpescope", "ext_modules": [extension]}
    ).get_command_obj("build_ext")
    build.build_temp, build.build_lib, build.inplace = (
        str(scratch),
        str(scratch),
        in_place,
    )
    build.ensure_finalized()
    build.run()
    kernel = Path(build.get_ext_fullpath(extension.name))
    return kernel if kernel.exists() else None


if __name__ == "__main__":
    os.environ["BPESCOPE_KERNEL"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        print(compiled(Path(folder), in_place=True))
