#!/usr/bin/env python3
"""Measures the playground in headless Chromium: page_speed.py PAGE COMMAND SOURCE

Prints when the page is ready and when its first run is shown, the machine's instructions per second in online softmax, and the seconds of two
proofs. Each with the processor time of the page's process beside it, because other work on the computer
changes that less than the time that passed.
"""
import json
import statistics
import time

from page_case import PAGE, SOURCE
from browser import Browser

RUNS = 7
N, ROUNDS = 20_000, 500


def repeated_softmax():
    """softmax_online ROUNDS times over the same N inputs, so that the time is the machine's, not the inputs'."""
    lines = (SOURCE / "toymachine/programs/softmax_online.toy").read_text(encoding="utf-8").split("\n")
    code = [line for line in lines if not line.strip().startswith(".name")]
    first = next(i for i, line in enumerate(code) if line.startswith("LOAD"))
    body = ["  " + line for line in code[first:] if not line.startswith(".pass")]
    head = [line for line in code[:first] if not line.startswith(".pass")]
    return "\n".join([*head, f"for round in 0..{ROUNDS}", *body, "end", ""])


def processor_seconds(browser):
    """Of the page's process, with the worker's thread and the compiler's."""
    session, browser._session = browser._session, None  # asked of the browser  # pylint: disable=protected-access
    try:
        processes = browser.call("SystemInfo.getProcessInfo")["processInfo"]
    finally:
        browser._session = session  # pylint: disable=protected-access
    return max(process["cpuTime"] for process in processes if process["type"] == "renderer")


def timed(browser, request):
    """Returns the answer, the seconds that passed and those of the processor."""
    cpu, began = processor_seconds(browser), time.monotonic()
    answer = browser.evaluate(f"app.engine.answer({json.dumps(request)})")
    return answer, time.monotonic() - began, processor_seconds(browser) - cpu


def main():
    starts = []
    for _ in range(5):
        with Browser(PAGE.as_uri()) as browser:
            browser.wait("document.documentElement?.dataset.ready === 'yes'")
            ready = browser.evaluate("readySeconds")
            first_run = browser.evaluate("run().then(() => performance.now() / 1000)")
            starts.append((ready, first_run, processor_seconds(browser)))
    ready, first_run, cpu = (statistics.median(column) for column in zip(*starts))
    print(f"page      {PAGE.stat().st_size / 1e6:.2f} MB, ready after {ready:.2f} s, its first run shown after "
          f"{first_run:.2f} s, of the processor {cpu:.2f} s")
    with Browser(PAGE.as_uri()) as browser:
        browser.wait("document.documentElement?.dataset.ready === 'yes'")
        request = {"request": "run", "program": "rounds.toy", "files": {"rounds.toy": repeated_softmax()},
                   "params": {"n": N}, "no_outputs": True}
        rates = []
        for _ in range(RUNS):
            answer, passed, cpu = timed(browser, request)
            rates.append((answer["steps"] / passed / 1e6, answer["steps"] / cpu / 1e6))
        print("softmax   million instructions per second: "
              f"{max(rate for rate, _ in rates):.0f} at best, of a second of the processor "
              f"{max(rate for _, rate in rates):.0f}; the first run {rates[0][0]:.0f} and {rates[0][1]:.0f}")
        for computation in ("2x2x2", "3x2x3"):
            _, passed, cpu = timed(browser, {"request": "optimal", "computation": computation, "registers": 4})
            print(f"{computation}     proved in {passed:.2f} s, of the processor {cpu:.2f} s")


if __name__ == "__main__":
    main()
