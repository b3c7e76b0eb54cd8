"""People at terminals: command lines of one machine or of two hosts (scripts/two-hosts), each on a pseudo-terminal."""

import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE = 120  # Seconds until something must have been printed.
COLUMNS, ROWS = 80, 24


class Terminal:
    """A command line on a terminal, and everything that it has printed.

    The terminal does not say how large it is, so that a sentence is one line; for all else the environment says 80x24.
    """

    def __init__(self, prefix, line):
        self.line, self.bytes, self.answered = line, b"", 0
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execvp(prefix[0], prefix + ["bash", "-c", line])

    def read(self, seconds):
        """Reads what comes within so many seconds; false at the end."""
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:  # EIO: the last process on the terminal has ended.
            data = b""
        self.bytes += data
        return bool(data)

    @property
    def text(self):
        text = self.bytes.decode(errors="replace").replace("\r\n", "\n")
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
        # What was rewritten, such as a progress bar, is gone.
        return "\n".join(line.rsplit("\r", 1)[-1].rstrip() for line in text.split("\n"))

    @property
    def lines(self):
        return self.text.strip("\n").split("\n") if self.text.strip("\n") else []

    def until(self, condition, what):
        """Waits until `condition()` holds."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline or not self.read(0.2):
                raise Failed(f"{self.line} did not print {what}:\n{self.text}")

    def type(self, text):
        os.write(self.descriptor, text.encode())

    def end(self, answer=lambda text: None, status=0):
        """Waits for the end, with what `answer` says to a text that ends in a question; the lines that were printed."""
        deadline = time.monotonic() + PATIENCE
        while self.read(0.2):
            new = self.text[self.answered:]
            if (reply := answer(new)) is not None:
                self.answered = len(self.text)
                self.type(reply + "\n")
            if time.monotonic() > deadline:
                raise Failed(f"{self.line} does not end:\n{self.text}")
        ended = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if status is not None and ended != status:
            raise Failed(f"{self.line} ended with {ended}, not with {status}:\n{self.text}")
        return self.lines


class Failed(Exception):
    """A command did something else than expected."""


class Machines:
    """Machines of people, while the block lasts: one, or studio and laptop in namespaces, with hpeer on the path."""

    def __init__(self, program, folder, are_two):
        self.name, self.program, self.folder, self.are_two = f"pages-{os.getpid()}", program, folder, are_two

    def __enter__(self):
        if self.are_two:
            self.run("up")
        return self

    def __exit__(self, *_):
        if self.are_two:
            self.run("down")

    def run(self, command):
        subprocess.run([ROOT / "scripts/two-hosts", command, self.name], check=True, stdout=subprocess.DEVNULL)

    def home(self, person):
        """The home directory of who sits at this machine."""
        return pathlib.Path(self.folder, person)

    def prefix(self, host, person):
        """What leads to that person's environment on a host."""
        variables = {
            "HOME": str(self.home(person)), "PATH": f"{self.program.parent}:{os.environ['PATH']}",
            "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": str(COLUMNS), "LINES": str(ROWS),
        }
        inside = [str(ROOT / "scripts/two-hosts"), "exec", self.name, host, "--"] if self.are_two else []
        environment = [f"{key}={value}" for key, value in variables.items()]
        return inside + ["env", "-i", "-C", str(self.home(person)), *environment]

    def terminal(self, host, person, line):
        return Terminal(self.prefix(host, person), line)


def built_program(given):
    """The program to run: what was given, else what was built last."""
    built = [ROOT / ".build" / name / "hpeer" for name in ("release", "debug")]
    program = given or next((path for path in built if path.exists()), built[0])
    if not os.access(program, os.X_OK):
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {program} is not there: build it with scripts/build")
    return program.resolve()


def sample_export(path, *arguments):
    """Writes a made-up Apple Health export."""
    subprocess.run([ROOT / "scripts/sample-export", "--records", "20000", *arguments, path], check=True)
