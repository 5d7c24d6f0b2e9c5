"""Which versions of Textual the app was tested with, and what to do about another one."""

from typing import Final

TESTED: Final = ">=8.2.5,<8.3"
"""pyproject.toml also allows newer versions, so that the library can be installed next to them."""


def check_textual() -> None:
    """Raise ImportError if Textual is missing or too old."""
    from textual.app import App

    if not hasattr(App, "native_ansi_color"):
        raise ImportError("it has no App.native_ansi_color")


def is_tested() -> bool:
    """Whether Textual is installed in one of the versions `TESTED`."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        major, minor, patch = version("textual").split(".")[:3]
    except PackageNotFoundError:
        return False
    return (major, minor) == ("8", "2") and int(patch) >= 5


def describe_mismatch() -> str:
    """Return a sentence: which Textual is installed, which one works, and what to type."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = f"Textual {version('textual')} is installed"
    except PackageNotFoundError:
        installed = "Textual is not installed"
    return (
        f"The app needs Textual {TESTED}, and {installed}. "
        f"Try: uvx --with 'textual{TESTED}' bpescope"
    )
