"""Sends requests to a `flashlab answer` process, and turns its errors into exceptions."""
import json
import os
import signal
import subprocess
import threading
from typing import Any, Dict, List, Optional, Type

from flashlab._command import CommandError, command


class FlashlabError(Exception):
    """An error that flashlab answered.

    place        where it is: "/params/n" of the request, or "line 3, column 5" of the program
    value        what stands there; empty if nothing does
    what, expected, suggestion   the parts of the message
    diagnostics  all errors of a program, each with line and column
    answer       what there is all the same, such as the trace up to the wrong step; or None
    """

    def __init__(self, error: Dict[str, Any], answer: Any = None):
        super().__init__(error["text"].rstrip())
        self.place: str = error["place"]
        self.value: str = error["value"]
        self.what: str = error["what"]
        self.expected: str = error["expected"]
        self.suggestion: str = error["suggestion"]
        self.diagnostics: List[Dict[str, Any]] = error["diagnostics"]
        self.answer = answer


class ProgramError(FlashlabError):
    """The program is wrong: it does not assemble, or a step of its run fails."""


class RequestError(FlashlabError, ValueError):
    """The request is wrong: an argument, a name, a size that does not fit."""


class LimitError(FlashlabError):
    """A limit on time, memory or steps was reached."""


_ERRORS: Dict[str, Type[FlashlabError]] = {
    "program": ProgramError, "request": RequestError, "limit": LimitError}


class Session:
    """A process that answers requests, with its limits.

    seconds  processor time of a request
    memory   bytes of a request, or a text such as "500MB"
    steps    executed instructions of a run

    The process starts with the first request. It ends with the session, and when a request is
    interrupted; the next request starts another. Threads may share a session: it answers one request
    after the other. After os.fork() the child has a process of its own.
    """

    def __init__(self, seconds: float = 10, memory: "int | str" = "1GiB",
                 steps: int = 10_000_000_000):
        self._flags = ["--max-seconds", str(seconds), "--max-memory", str(memory), "--max-steps",
                       str(steps)]
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._owner = 0
        self._lock = threading.Lock()

    def call(self, request: Dict[str, Any]) -> Any:
        """Returns the answer to a request of docs/json_interface.md.

        Raises FlashlabError for an error in the answer, CommandError if the process ends.
        """
        line = json.dumps(request, allow_nan=False).encode() + b"\n"
        with self._lock:
            whole = json.loads(self._exchange(line))
        if whole["ok"]:
            return whole["answer"]
        error = whole["error"]
        raise _ERRORS.get(error["kind"], FlashlabError)(error, whole.get("answer"))

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._owner == os.getpid():
            process.kill()
            process.wait()
        else:  # after a fork: the process is the parent's, the copies of its pipes are ours
            process.returncode = 0
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # pylint: disable=broad-except  # the interpreter is ending
            pass

    def _exchange(self, line: bytes) -> bytes:
        process = self._running()
        try:
            process.stdin.write(line)  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            answer = process.stdout.readline()  # type: ignore[union-attr]
        except BrokenPipeError:
            answer = b""
        except BaseException:  # Ctrl-C: the process would answer later, to another request
            self.close()
            raise
        if answer.endswith(b"\n"):
            return answer
        raise CommandError(self._why_ended(process))

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._owner != os.getpid() or self._process is None or self._process.poll() is not None:
            self.close()
            # A session of its own: Ctrl-C reaches Python alone, which then ends the process.
            self._process = subprocess.Popen([command(), "answer", *self._flags],
                                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.PIPE, start_new_session=True)
            self._owner = os.getpid()
        return self._process

    def _why_ended(self, process: "subprocess.Popen[bytes]") -> str:
        code = process.wait()
        words = process.stderr.read().decode(errors="replace").strip()  # type: ignore[union-attr]
        self.close()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"flashlab ended without an answer ({how})" + (f": {words}" if words else "")


_session = Session()


def default_session() -> Session:
    """Returns the session of call() and of programs without one of their own."""
    return _session


def call(request: Dict[str, Any]) -> Any:
    """Returns the answer to a request, as Session.call does."""
    return _session.call(request)
