"""Runs a command to its end, and waits for every process that it has started and lost.

What the kernel counts for a process contains only the children that somebody has waited for. Tests kill with SIGKILL what
has children of its own, and start servers that lead groups of theirs: those orphans go to process 1, and their CPU
time is lost. As their "subreaper" this process gets them instead.

Usage: reap.py <file for the names of what was still running at the end> <command> [argument ...]
"""

import ctypes
import os
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
GRACE_S = 5


def children():
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()[:200]
    except OSError:
        return ""


def end_what_is_left():
    """Waits for all that have only just been told to end; kills what is there after that. Returns its command lines."""
    deadline = time.monotonic() + GRACE_S
    left = []
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return left
        if ended != 0:
            continue
        if time.monotonic() > deadline:
            for pid in children():
                left.append(f"{pid} {command_line(pid)}")
                os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + GRACE_S
        time.sleep(0.02)


def main():
    left_path, command = sys.argv[1], sys.argv[2:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error}", file=sys.stderr)
            os._exit(127)
    # A terminal sends Ctrl-C to the command as well: it ends, and then this does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda number, _: os.kill(child, number))
    status = None
    while status is None:
        ended, code = os.wait()
        if ended == child:
            status = code
    left = end_what_is_left()
    with open(left_path, "w", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in left))
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


main()
