# The Python module that the agent's code calls its tools through. The tool functions are generated from the registry and appended to this
# file; each sends a request to the engine over a unix socket.

import ast
import dataclasses
import http.client
import json
import linecache
import os
import socket
import sys
import threading
import traceback
import typing


class ToolError(Exception):
    """A tool refused or failed. The message says what to do."""


class ToolRefused(ToolError):
    """The engine accepts no more calls from this code: stop."""


@dataclasses.dataclass
class BashResult:
    stdout: str
    stderr: str
    exit_code: int
    duration_ms: int
    line_count: int  # lines of stdout
    timed_out: bool  # killed by its timeout

    def __str__(self):
        return self.stdout


@dataclasses.dataclass
class GrepMatch:
    path: str
    line: int
    content: str


class _Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(_SOCKET)


_tools = {}


def _tool(name):
    def keep(function):
        function.__name__ = function.__qualname__ = name
        _tools[name] = function
        return function

    return keep


_local = threading.local()
_lock = threading.Lock()
_count = 0


def _call(name, arguments):
    global _count
    with _lock:
        ordinal, _count = _count, _count + 1
    body = json.dumps({"ordinal": ordinal, "name": name, "input": arguments})
    connection = getattr(_local, "connection", None)
    if connection is None:
        connection = _local.connection = _Connection("engine")
    try:
        connection.request("POST", "/call", body, {"content-type": "application/json"})
        answer = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ToolRefused(f"the engine does not answer: {error}") from None
    if "value" in answer:
        return answer["value"]
    raise (ToolRefused if answer.get("is_final") else ToolError)(answer["error"])


def _plain(value):
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    raise TypeError(f"{type(value).__name__}")


def _has_return(body):
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return False


def _value_of(code, names):
    """Runs the code; its value is what it returns or, without a return, its last expression."""
    tree = ast.parse(code, "<code>")
    if _has_return(tree.body):
        wrapper = ast.parse("def _code(): pass")
        wrapper.body[0].body = tree.body
        exec(compile(ast.fix_missing_locations(wrapper), "<code>", "exec"), names)
        return names["_code"]()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<code>", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "<code>", "eval"), names)


def _run(code, answer, limit):
    names = {name: value for name, value in globals().items() if not name.startswith("_")} | _tools
    names.update(__name__="__main__", __builtins__=__builtins__)
    linecache.cache["<code>"] = (len(code), None, code.splitlines(True), "<code>")
    try:
        value = _value_of(code, names)
        if value is None:
            said = {"kind": "none"}
        elif isinstance(value, str):
            said = {"kind": "text", "text": value}
        else:
            try:
                said = {"kind": "text", "text": json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False)}
            except (TypeError, ValueError, RecursionError) as error:
                said = {"kind": "error", "error": f"The code returned a {type(value).__name__} that is not JSON ({error}). Return text, numbers, lists or dictionaries."}
        if said["kind"] == "text" and len(said["text"]) > limit // 4:
            said = {"kind": "error", "error": f"The code returned {len(said['text'])} characters; at most {limit // 4} are allowed. Return what matters, and write the rest to a file."}
    except SystemExit as error:
        said = {"kind": "none"} if error.code in (None, 0) else {"kind": "error", "error": f"The code called sys.exit({error.code!r})."}
    except SyntaxError as error:
        said = {"kind": "error", "error": "".join(traceback.format_exception_only(type(error), error)).strip()}
    except MemoryError:
        said = {"kind": "error", "error": "MemoryError: the code needs more memory than it has."}
    except BaseException as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<code>"]
        said = {"kind": "error", "error": "".join(["Traceback (most recent call last):\n", *traceback.format_list(frames[-20:]), *traceback.format_exception_only(type(error), error)]).strip()[-20000:],
                "is_final": isinstance(error, ToolRefused)}
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    data = json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"  # the engine replaces lone surrogates
    while data:
        data = data[os.write(answer, data):]
    os._exit(0)
