"""live - runs the test_* functions of a file, each one a case, and prints how many passed.

A test fails by raising; it is skipped by raising Skip. `main(globals())` returns the exit code.
"""
import os
import signal
import sys
import time
import traceback


class Skip(Exception):
    """This case cannot be run here; the text says why."""


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def equal(found, expected, what=""):
    if found != expected:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


def eventually(condition, what, seconds=15):
    """Waits until condition() is true and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        check(time.monotonic() < end, f"not within {seconds} s: {what}")
        time.sleep(0.05)


def some(cases, one_in, first=0):
    """One in so many of them, from the given one on; with `tests/run --long` all."""
    return list(cases) if os.environ.get("PGWICKET_LONG") else list(cases)[first::one_in]


def main(names, cases=None):
    """Runs names' test functions, or the given (name, function) pairs."""
    # The runner's time limit: leave through every `with`, so that nothing keeps running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tests = cases or [(n[len("test_"):], f) for n, f in names.items() if n.startswith("test_")]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, function in tests:
        started = time.monotonic()
        try:
            function()
            word = "passed"
        except Skip as reason:
            word = "skipped"
            print(f"     {reason}")
        except Exception:  # pylint: disable=broad-except
            word = "failed"
            traceback.print_exc(file=sys.stdout)
        counts[word] += 1
        print(f"{word:7} {name.replace('_', ' ')} ({time.monotonic() - started:.1f} s)", flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0
