"""Every message of the app is sent by somebody, and handled by somebody."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from inspect import getmembers, getsource, isclass
from types import ModuleType

from textual.message import Message
from textual.message_pump import MessagePump

import tui


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(tui.__path__, "tui."):
        if not found.name.endswith("__main__"):
            yield import_module(found.name)


def classes(of: type) -> set[type]:
    found: set[type] = set()
    waiting = [member for module in modules() for _, member in getmembers(module, isclass)]
    while waiting:
        one = waiting.pop()
        if one not in found and one.__module__.startswith("tui."):
            found.add(one)
            waiting += [member for member in vars(one).values() if isclass(member)]
    return {one for one in found if issubclass(one, of)}


def test_each_message_has_a_handler() -> None:
    pumps = classes(MessagePump)
    decorated = {message for pump in pumps for message in vars(pump).get("_decorated_handlers", ())}
    named = {name for pump in pumps for name in vars(pump) if name.startswith(("on_", "_on_"))}
    for message in classes(Message):
        if not message.__name__.startswith("_"):
            handlers = {message.handler_name, f"_{message.handler_name}"}
            assert message in decorated or handlers & named, f"nobody handles {message.__qualname__}"


def test_each_message_is_sent() -> None:
    sources = "\n".join(map(getsource, modules()))
    for message in classes(Message):
        if not message.__name__.startswith("_"):
            assert f"{message.__name__}(" in sources.replace(f"class {message.__name__}(", ""), message
