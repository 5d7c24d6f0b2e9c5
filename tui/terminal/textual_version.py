"""Which versions of Textual the app was tested with, and what to do about another one."""

from typing import Final

TESTED: Final = ">=8.2.5,<8.3"
"""pyproject.toml also allows newer versions, so that the library can be installed next to them."""


def check_textual() -> None:
    """Raise ImportError or AttributeError if Textual is missing or older than 8.2.5."""
    from textual.app import App

    App.native_ansi_color  # noqa: B018


def is_tested() -> bool:
    """Whether the installed Textual is one of `TESTED`."""
    from importlib.metadata import version

    return version("textual").startswith("8.2.")


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
