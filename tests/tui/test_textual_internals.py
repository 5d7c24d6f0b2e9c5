"""The one list of Textual's undocumented names that the app uses.

A new version may move any of them: read its changes to these before pyproject.toml allows it.
"""

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import tui

INTERNALS: Final = {
    "textual._compositor": ("ChopsUpdate", "Compositor"),
    "textual.document._document": ("Document", "EditResult", "Location", "Selection"),
    "textual.document._document_navigator": ("DocumentNavigator",),
    "textual.document._edit": ("Edit",),
    "textual.document._wrapped_document": ("WrappedDocument",),
    "textual.drivers.linux_driver": ("LinuxDriver", "getincrementaldecoder"),
    "textual._compositor:Compositor": ("_dirty_regions", "_get_renders"),
    "textual.app:App": ("_loop", "_notifications", "_peek_message"),
    "textual.command:CommandPalette": (
        "_GATHER_COMMANDS_GROUP",
        "_action_command_list",
    ),
    "textual.document._document_navigator:DocumentNavigator": ("_document",),
    "textual.dom:DOMNode": ("_bindings", "_get_component_classes", "_selector_names"),
    "textual.drivers.linux_driver:LinuxDriver": (
        "_app",
        "_file",
        "_must_signal_resume",
        "_sigcont_application",
    ),
    "textual.screen:Screen": (
        "_compositor",
        "_update_focus_styles",
    ),
    "textual.scroll_view:ScrollView": ("_refresh_scrollbars", "_scroll_update"),
    "textual.widgets:Input": (
        "_cell_offset_to_index",
        "_on_paste",
        "_position_to_cell",
        "_value",
    ),
    "textual.widgets:TextArea": (
        "_cursor_offset",
        "_delete_via_keyboard",
        "_draw_cursor",
        "_has_cursor",
        "_on_key",
        "_on_paste",
        "_on_resize",
        "_recompute_cursor_offset",
        "_redo_batch",
        "_refresh_size",
        "_replace_via_keyboard",
        "_rewrap_and_refresh_virtual_size",
        "_set_document",
        "_theme",
        "_undo_batch",
        "_watch__cursor_visible",
    ),
    "textual.widgets:Tree": ("_invalidate",),
}
"""Module, or module and class -> names in it that Textual documents nowhere."""

SOURCES: Final = sorted(Path(tui.__path__[0]).rglob("*.py"))


def used() -> Iterator[str]:
    """Names of Textual's that the app imports from private modules, overrides, or reads of objects."""
    trees = [ast.parse(path.read_text("utf-8")) for path in SOURCES]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    ours = {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    ours |= {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    ours |= {
        node.target.id
        for node in nodes
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "textual."
        ):
            private = any(part.startswith("_") for part in str(node.module).split("."))
            yield from (
                name.name for name in node.names if private or name.name.startswith("_")
            )
        elif (
            isinstance(node, ast.Attribute)
            and node.attr not in ours
            and node.attr.startswith("_")
        ):
            of_python = node.attr.startswith("__") or node.attr in ("_replace", "_exit")
            yield from [] if of_python else [node.attr]
    for path, tree in zip(SOURCES, trees, strict=True):
        name = ".".join(
            ("tui", *path.relative_to(tui.__path__[0]).with_suffix("").parts)
        ).removesuffix(".__init__")
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        for node in classes if name != "tui.__main__" else ():
            base = getattr(importlib.import_module(name), node.name).__mro__[1:]
            for method in node.body:
                if isinstance(
                    method, ast.FunctionDef | ast.AsyncFunctionDef
                ) and method.name.startswith("_"):
                    theirs = any(
                        kind.__module__.startswith("textual")
                        and method.name in vars(kind)
                        for kind in base
                    )
                    if theirs and not method.name.startswith("__"):
                        yield method.name


def test_the_list_names_what_the_app_uses_and_nothing_else() -> None:
    listed = {name for names in INTERNALS.values() for name in names}
    assert set(used()) - listed == set(), "uses names that the list does not have"
    source = "\n".join(path.read_text("utf-8") for path in SOURCES)
    assert {name for name in listed if name not in source} == set(), (
        "lists names that the app does not use any more"
    )


@pytest.mark.parametrize("place", INTERNALS)
def test_textual_has_them(place: str) -> None:
    module, _, attribute = place.partition(":")
    owner = importlib.import_module(module)
    owner = getattr(owner, attribute) if attribute else owner
    source = inspect.getsource(owner)
    assert [
        name
        for name in INTERNALS[place]
        if not hasattr(owner, name) and name not in source
    ] == []
