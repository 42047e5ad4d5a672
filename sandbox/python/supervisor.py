# PID 1 of a code sandbox. Waits for a job on stdin, runs the agent's code in a child, and ends it at the deadline, at the limit of its
# output, or when the process that started it is gone (stdin closes, or receives no line for as many seconds as the argument says; an empty
# line counts). A session has several jobs, one after the other. Reports each event as one line of JSON on stdout, which the code cannot
# reach.

import base64
import ctypes
import json
import os
import select
import signal
import socket
import sys
import time

# Modules that sdk.py and most code import are loaded before a job arrives, so that no job waits for them.
for _name in ("ast", "collections", "dataclasses", "http.client", "linecache", "re", "threading", "traceback", "typing"):
    __import__(_name)

MAX_RESULT = 4_000_000
MAX_OUTPUT = 10_000_000
KEPT_OUTPUT = 50_000
SILENCE_SECONDS = float(sys.argv.pop())  # removed because the code has no arguments


def say(**event):
    data = (json.dumps(event) + "\n").encode()
    while data:
        data = data[os.write(1, data):]


class Lines:
    """The lines that arrive on a descriptor. After a long silence this process is ended, whatever it is doing."""

    def __init__(self, fd):
        self.fd, self.rest, self.heard_at = fd, b"", time.monotonic()
        signal.signal(signal.SIGALRM, self.listen)
        signal.setitimer(signal.ITIMER_REAL, SILENCE_SECONDS / 4, SILENCE_SECONDS / 4)

    def listen(self, *_):  # the code may send the signal too
        if time.monotonic() - self.heard_at > SILENCE_SECONDS:
            os._exit(1)

    def read(self):
        """Returns the lines that are complete so far; None at the end."""
        chunk = os.read(self.fd, 1 << 20)
        if not chunk:
            return None
        self.heard_at = time.monotonic()
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        return [json.loads(line) for line in lines if line]


def start(job):
    """Runs the code in a forked process. Returns its pid, and the descriptors of its answer and its output."""
    answer_out, answer_in = os.pipe()
    output_out, output_in = os.pipe()
    pid = os.fork()
    if pid:
        os.close(answer_in)
        os.close(output_in)
        return pid, answer_out, output_out
    null = os.open("/dev/null", os.O_RDONLY)
    for fd, target in ((null, 0), (output_in, 1), (output_in, 2), (answer_in, 3)):
        os.dup2(fd, target)
    os.closerange(4, 256)
    os.setsid()
    ctypes.CDLL(None).prctl(4, 1)
    names = {"__name__": "__sandbox__"}
    try:
        exec(compile(job["sdk"], "<sdk>", "exec"), names)
        names["_run"](job["code"], 3, MAX_RESULT)
    finally:
        os._exit(70)


def answer_of(data):
    """What the code answered, if it is what sdk.py writes; None otherwise, because the code can write anything to that descriptor."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return None
    kind = said.get("kind") if isinstance(said, dict) else None
    if kind == "none":
        return {"kind": kind}
    if kind == "text" and isinstance(said.get("text"), str):
        return {"kind": kind, "text": said["text"]}
    if kind == "error" and isinstance(said.get("error"), str):
        return {"kind": kind, "error": said["error"], "is_final": said.get("is_final") is True}
    return None


class Relay:
    """Relays tool calls if no socket can be mounted: the code's connections become frames on stdin and stdout."""

    count = 0  # counts across all relays, so that a late frame never reaches a connection of a later job

    def __init__(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.path = path
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        self.connections = {}

    def descriptors(self):
        return [self.listener, *self.connections.values()]

    def take(self, ready):
        if ready is self.listener:
            Relay.count += 1
            self.connections[Relay.count] = self.listener.accept()[0]
            return
        number = next(n for n, c in self.connections.items() if c is ready)
        try:
            data = ready.recv(1 << 16)
        except OSError:
            data = b""  # the code has broken it off
        say(connection=number, data=base64.b64encode(data).decode())
        if not data:
            self.connections.pop(number).close()

    def close(self):
        for one in self.descriptors():
            one.close()
        os.unlink(self.path)

    def give(self, frame):
        connection = self.connections.get(frame["connection"])
        if connection is not None:
            data = base64.b64decode(frame["data"])
            try:
                if data:
                    connection.sendall(data)
                    return
            except OSError:
                pass  # the code does not read any more
            self.connections.pop(frame["connection"]).close()


def run(job, early, stdin):
    """Runs one job to its end. Returns whether another may follow."""
    relay = Relay("/tmp/.work-ledger/tool.sock") if job["transport"] == "stdio" else None
    deadline = time.monotonic() + job["timeout"]
    pid, answer, output = start(job)
    say(event="started")
    answered, head, tail, printed, ending, status = b"", b"", b"", 0, None, None
    open_pipes = {answer, output}
    # Until the code has answered or ended. Waiting for the end of the pipe would not do: processes that it left running may hold it open.
    while ending is None and answer in open_pipes and not answered.endswith(b"\n"):
        done, code = (0, 0) if status is not None else os.waitpid(pid, os.WNOHANG)
        if done:
            status = code
            deadline = min(deadline, time.monotonic() + 0.5)
        left = deadline - time.monotonic()
        if left <= 0:
            ending = "timeout" if status is None else None
            break
        for frame in early:
            relay.give(frame)
        early = []
        ready, _, _ = select.select([0, *open_pipes, *(relay.descriptors() if relay else [])], [], [], min(left, 0.25))
        for one in ready:
            if one == 0:
                frames = stdin.read()
                if frames is None:
                    os.kill(-1, signal.SIGKILL)
                    return False
                for frame in frames:
                    relay.give(frame)
            elif one == answer:
                chunk = os.read(answer, 1 << 20)
                answered += chunk
                if not chunk:
                    open_pipes.discard(answer)
                elif len(answered) > MAX_RESULT + 1000:
                    ending = "result"
            elif one == output:
                chunk = os.read(output, 1 << 20)
                if not chunk:
                    open_pipes.discard(output)
                printed += len(chunk)
                room = KEPT_OUTPUT // 2 - len(head)
                head += chunk[:max(0, room)]
                tail = (tail + chunk[max(0, room):])[-KEPT_OUTPUT // 2:]
                if printed > MAX_OUTPUT:
                    ending = "output"
            else:
                relay.take(one)
    # What is left in the pipe is still output of the code.
    while output in open_pipes and ending is None and select.select([output], [], [], 0)[0]:
        chunk = os.read(output, 1 << 20)
        if not chunk:
            break
        printed += len(chunk)
        tail = (tail + chunk)[-KEPT_OUTPUT // 2:]
    try:
        os.kill(-1, signal.SIGKILL)  # the code, and everything that it left running
    except ProcessLookupError:
        pass
    if status is None:
        status = os.waitpid(pid, 0)[1]
    while job["is_session"]:  # nothing of this job may affect the next
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    dropped = printed - len(head) - len(tail)
    text = head + (b"\n[... %d bytes ...]\n" % dropped if dropped > 0 else b"") + tail
    result = answer_of(answered) if ending is None else None
    say(event="ended", ending=ending, result=result, output=text.decode("utf-8", "replace"), printed=printed,
        signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None, exit_code=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None)
    for fd in (answer, output):
        os.close(fd)
    if relay:
        relay.close()
    return job["is_session"]


def main():
    ctypes.CDLL(None).prctl(4, 0)  # not dumpable, so that the code, which runs as the same user, cannot open this process in /proc
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # PID 1 gets no signals without a handler
    stdin = Lines(0)
    say(event="ready")
    goes_on, lines = True, []
    while goes_on:
        while lines and "code" not in lines[0]:
            lines.pop(0)  # an answer that came too late
        if lines:
            job, *early = lines
            lines, goes_on = [], run(job, early, stdin)
        else:
            lines = stdin.read()
            goes_on = lines is not None


main()
