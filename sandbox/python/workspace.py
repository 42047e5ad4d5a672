# PID 1 of a workspace container: runs commands, and reads and writes files in /home/agent, for the process that holds its stdin and stdout.
# Each request and each answer is one line of JSON, and several requests run at a time. It ends when stdin closes or receives no line for as
# many seconds as the argument says (an empty line counts), and everything that it started ends with it.

import base64
import collections
import ctypes
import errno
import hashlib
import json
import os
import select
import selectors
import signal
import stat
import subprocess
import sys
import time

ROOT = "/home/agent"
MAX_FILES = 200_000
MAX_DEPTH = 200  # os.walk recurses
HIDDEN = (".git", "node_modules")
TERM_SECONDS = 2
DRAIN_SECONDS = 0.5
DEATH_SECONDS = 5
SILENCE_SECONDS = float(sys.argv[1])


def say(**event):
    data = (json.dumps(event) + "\n").encode()
    while data:
        data = data[os.write(1, data):]


class Refused(Exception):
    """A rejected request. The message is sent to the caller and may be shown to a model."""


class Absent(Refused):
    pass


class Kept:
    """Keeps the beginning and the end of a stream of any length."""

    def __init__(self, limit):
        self.half, self.length = -(-limit // 2), 0
        self.head, self.tail, self.tail_length = b"", collections.deque(), 0

    def add(self, chunk):
        self.length += len(chunk)
        room = self.half - len(self.head)
        self.head += chunk[:room]
        if len(chunk) > room:
            self.tail.append(chunk[room:])
            self.tail_length += len(chunk) - room
            while self.tail_length - len(self.tail[0]) >= self.half:
                self.tail_length -= len(self.tail.popleft())

    def text(self):
        tail = b"".join(self.tail)[-self.half:]
        dropped = self.length - len(self.head) - len(tail)
        data = self.head + (b"\n[\xe2\x80\xa6 %d bytes omitted \xe2\x80\xa6]\n" % dropped if dropped else b"") + tail
        return data.decode("utf-8", "replace").replace("\0", "\u2400"), dropped > 0


class Usage:
    """Tracks how much space a workspace uses, if the daemon enforces no limit. Counting walks the tree."""

    def __init__(self):
        self.limit, self.bytes, self.next = None, 0, 0

    def count(self):
        started, total, pending = time.monotonic(), 0, [ROOT]
        while pending:
            try:
                with os.scandir(pending.pop()) as entries:
                    for entry in entries:
                        total += 1024 + entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
            except OSError:
                pass  # changed during the walk
        now = time.monotonic()
        self.bytes, self.next = total, now + max(0.5, 20 * (now - started))
        return total

    def full(self):
        return f"the workspace is full: it holds {self.limit // 1048576} MiB"

    def room_for(self, size):
        """Called before a file is written. Adds its size to the last count, and rejects it if there is no room."""
        if self.limit is None:
            return
        if self.bytes + size > self.limit * 0.9 and self.count() + size > self.limit:
            raise Refused(self.full())
        self.bytes += size

    def is_exceeded(self, command):
        if self.limit is None:
            return False
        if time.monotonic() >= self.next:
            self.count()
        disk = os.statvfs(ROOT)
        if disk.f_bavail * disk.f_frsize < 128 * 1048576:
            return True
        return self.bytes > max(self.limit, command.bytes_before)  # a command that frees space may continue


def out_of_memory_kills():
    """Returns how often the kernel has killed a process here because memory ran out; reads both versions of cgroups."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            with open(path) as file:
                return int(dict(line.split() for line in file)["oom_kill"])
        except (OSError, KeyError):
            pass
    return 0


class Command:
    def __init__(self, request, selector, bytes_before):
        self.id, self.bytes_before, self.kills_before = request["id"], bytes_before, out_of_memory_kills()
        self.started = time.monotonic()
        self.deadline = self.started + request["timeout"]
        self.cause, self.kill_at, self.status, self.drain_until = None, None, None, None
        self.process = subprocess.Popen(
            ["bash", "-c", request["command"]], cwd=ROOT, start_new_session=True,
            stdin=subprocess.PIPE if request.get("stdin") is not None else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.kept = {self.process.stdout: Kept(request["max_bytes"]), self.process.stderr: Kept(request["max_bytes"])}
        for stream in self.kept:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, self)
        self.input = (request.get("stdin") or "").encode()
        if self.process.stdin:
            os.set_blocking(self.process.stdin.fileno(), False)
            selector.register(self.process.stdin, selectors.EVENT_WRITE, self)

    def take(self, stream, selector):
        try:
            if stream is self.process.stdin:
                self.input = self.input[os.write(stream.fileno(), self.input[:65536]):] if self.input else b""
                is_over = not self.input
            else:
                chunk = os.read(stream.fileno(), 1 << 20)
                self.kept[stream].add(chunk)
                is_over = not chunk
        except BlockingIOError:
            return
        except OSError:
            is_over = True
        if is_over:
            selector.unregister(stream)
            stream.close()

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except OSError:
            pass

    def end(self, cause):
        if self.cause is None and self.status is None:
            self.cause, self.kill_at = cause, time.monotonic() + TERM_SECONDS
            self.signal(signal.SIGTERM)

    def tick(self, usage):
        """Enforces the limits. Returns True once the command has ended and no process holds its output any longer."""
        now = time.monotonic()
        if self.status is None:
            if self.kill_at is not None and now >= self.kill_at:
                self.signal(signal.SIGKILL)
            elif now >= self.deadline:
                self.end("timeout")
            elif usage.is_exceeded(self):
                self.end("full")
            return False
        if self.drain_until is None:
            self.drain_until = now + DRAIN_SECONDS
            self.signal(signal.SIGKILL)
        return all(stream.closed for stream in self.kept) or now >= self.drain_until

    def answer(self, selector):
        for stream in (*self.kept, self.process.stdin):
            if stream and not stream.closed:
                selector.unregister(stream)
                stream.close()
        (stdout, is_truncated), (stderr, _) = (kept.text() for kept in self.kept.values())
        is_signalled = os.WIFSIGNALED(self.status)
        was_killed = os.WTERMSIG(self.status) == signal.SIGKILL if is_signalled else os.WEXITSTATUS(self.status) == 128 + signal.SIGKILL
        if self.cause is None and was_killed and out_of_memory_kills() > self.kills_before:
            self.cause = "memory"
        say(id=self.id, stdout=stdout, stderr=stderr, is_truncated=is_truncated, cause=self.cause,
            exit_code=None if is_signalled else os.WEXITSTATUS(self.status),
            signal=signal.Signals(os.WTERMSIG(self.status)).name if is_signalled else None,
            duration_ms=round((time.monotonic() - self.started) * 1000))


def inside(fd, asked):
    """Checks that the opened file is in the workspace, whatever links led to it."""
    real = os.readlink(f"/proc/self/fd/{fd}")
    if real != ROOT and not real.startswith(ROOT + "/"):
        raise Refused(f"{asked} is outside the workspace")


def opened(path, flags, asked):
    try:
        fd = os.open(os.path.join(ROOT, path), flags | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise Absent(f"{asked}: does not exist") from None
    except OSError as error:
        reasons = {errno.EACCES: "permission denied", errno.EPERM: "permission denied", errno.ENXIO: "is not a regular file",
                   errno.ENOTDIR: "is not a directory", errno.ELOOP: "leads through too many symbolic links", errno.ENAMETOOLONG: "is too long a path"}
        raise Refused(f"{asked}: {reasons.get(error.errno, errno.errorcode.get(error.errno))}") from None
    try:
        inside(fd, asked)
    except BaseException:
        os.close(fd)
        raise
    return fd


def chunks(path):
    fd = opened(path, os.O_RDONLY, path)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{path} is a directory" if stat.S_ISDIR(found.st_mode) else f"{path} is not a regular file")
        while chunk := os.read(fd, 1 << 20):
            yield chunk
    finally:
        os.close(fd)


def read(request, _usage):
    path, most = request["path"], request["max_bytes"]
    data = b""
    for chunk in chunks(path):
        data += chunk
        if len(data) > most:
            break
    if len(data) > most:
        size = os.stat(os.path.join(ROOT, path)).st_size
        raise Refused(f"{path} is too large: {max(size, len(data))} bytes; at most {most} are allowed")
    return {"data": base64.b64encode(data).decode()}


def hash_of(path):
    """Returns the hash of a file's content; None if there is no file."""
    found = hashlib.sha256()
    try:
        for chunk in chunks(path):
            found.update(chunk)
    except Absent:
        return None
    return found.hexdigest()


def hashed(request, _usage):
    return {"hash": hash_of(request["path"])}


def write(request, usage):
    """Writes a file in one step, through a temporary file next to it; an existing file keeps its mode, a link its target."""
    path, data = request["path"], base64.b64decode(request["data"])
    real = os.path.realpath(os.path.join(ROOT, path))
    directory, name = os.path.split(real)
    if not (directory + "/").startswith(ROOT + "/") or real == ROOT:
        raise Refused(f"{path} is a directory" if real == ROOT else f"{path} is outside the workspace")
    usage.room_for(len(data))
    os.makedirs(directory, exist_ok=True)
    parent = opened(directory, os.O_RDONLY | os.O_DIRECTORY, path)
    temporary = f".work-ledger-{os.urandom(8).hex()}"
    try:
        mode = None
        try:
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                raise Refused(f"{path} is a directory" if stat.S_ISDIR(found.st_mode) else f"{path} is not a regular file")
            mode = found.st_mode & 0o777
        except FileNotFoundError:
            pass
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=parent)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                if mode is not None:
                    os.fchmod(fd, mode)
            if "expected" in request and hash_of(path) != request["expected"]:
                os.unlink(temporary, dir_fd=parent)
                return {"is_changed": True}
            os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            os.unlink(temporary, dir_fd=parent)
            raise
    finally:
        os.close(parent)
    return {}


def files(request, _usage):
    """Returns every regular file below a directory, without following links: path, milliseconds, size."""
    path = request["path"]
    os.close(opened(path, os.O_RDONLY | os.O_DIRECTORY, path))
    start = os.path.normpath(os.path.join(ROOT, path))
    found = []
    for directory, names, entries in os.walk(start):
        is_deepest = directory.count("/") - ROOT.count("/") >= MAX_DEPTH
        names[:] = [] if is_deepest else sorted(name for name in names if request["is_everything"] or name not in HIDDEN)
        for name in sorted(entries):
            whole = os.path.join(directory, name)
            try:
                one = os.lstat(whole)
            except OSError:
                continue
            if stat.S_ISREG(one.st_mode):
                found.append([os.path.relpath(whole, ROOT), round(one.st_mtime * 1000), one.st_size])
            if len(found) >= MAX_FILES:
                return {"files": found}
    return {"files": found}


FILE_REQUESTS = {"read": read, "hash": hashed, "write": write, "files": files}


def answer_file(request, usage):
    try:
        said = FILE_REQUESTS[request["op"]](request, usage)
    except Refused as refusal:
        said = {"refused": str(refusal)}
    except ValueError:
        said = {"refused": "a path must not contain NUL"}
    except RecursionError:
        said = {"refused": f"{request['path']}: has too many directories"}
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        said = {"refused": "the workspace is full" if full else f"{request['path']}: {os.strerror(error.errno)}"}
    say(id=request["id"], **said)


def reap(commands):
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        for command in commands.values():
            if command.process.pid == pid and command.status is None:
                command.status, command.process.returncode = status, status


def end_what_is_left():
    """Kills the processes that left their command's group, and waits until they are gone, because a killed process does not end at once."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return
    deadline = time.monotonic() + DEATH_SECONDS
    while time.monotonic() < deadline:  # a process that the kernel holds is not awaited any longer
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            return


def main():
    ctypes.CDLL(None).prctl(4, 0)  # not dumpable, so that commands, which run as the same user, cannot open this process in /proc
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # PID 1 gets no signals without a handler
    heard_at = time.monotonic()

    def listen(*_):  # a command may send the signal too
        # Lines that have not been read yet count as well, because counting a large tree takes time.
        if time.monotonic() - heard_at > SILENCE_SECONDS and not select.select([0], [], [], 0)[0]:
            os._exit(1)

    signal.signal(signal.SIGALRM, listen)
    signal.setitimer(signal.ITIMER_REAL, SILENCE_SECONDS / 4, SILENCE_SECONDS / 4)
    child_ended, wake = os.pipe()
    for fd in (child_ended, wake):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ)
    selector.register(child_ended, selectors.EVENT_READ)
    usage, commands, rest = Usage(), {}, b""
    say(event="ready", is_writable=os.access(ROOT, os.W_OK))
    while True:
        for key, _ in selector.select(0.1 if commands else 60):
            if isinstance(key.data, Command):
                key.data.take(key.fileobj, selector)
            elif key.fd == child_ended:
                os.read(child_ended, 4096)
            else:
                chunk = os.read(0, 1 << 20)
                if not chunk:
                    return  # PID 1 ends, and the kernel ends the rest
                heard_at = time.monotonic()
                *lines, rest = (rest + chunk).split(b"\n")
                for request in map(json.loads, filter(None, lines)):
                    if request["op"] == "limit":
                        usage.limit = request["bytes"]
                    elif request["op"] == "kill":
                        if request["id"] in commands:
                            commands[request["id"]].end("abort")
                    elif request["op"] == "run":
                        before = 0 if usage.limit is None else usage.count()
                        try:
                            commands[request["id"]] = Command(request, selector, before)
                        except (OSError, ValueError) as error:
                            say(id=request["id"], refused=f"the command cannot be started: {error}")
                    else:
                        answer_file(request, usage)
        reap(commands)
        for command in [command for command in commands.values() if command.tick(usage)]:
            del commands[command.id]
            if not commands:
                end_what_is_left()
            command.answer(selector)


main()
