#!/usr/bin/env python3
"""Measures how long a writer of programs waits: for the language server's answers after a keystroke, for
the debugger's first screen, and for a long trace in a browser. `./lab bench editors` runs it.

usage: editor_speed.py FLASHLAB [--repeat N] [--json FILE]
"""
import argparse
import json
import os
import pathlib
import platform
import pty
import statistics
import subprocess
import sys
import tempfile
import time

URI = "file:///measured.toy"
BODY = ["LOAD x[i], R0", "MAX R0, R1, R2", "SUB R0, R2, R3", "EXP R3, R4", "ADD R4, R1, R1",
        "STORE R1, y[i]"]


def program(lines):
    """A program of about that many lines, in loops of six instructions over i in 0..n."""
    text = [".isa softmax", ".registers 8", ".param n = 8", ".input x[n]", ".output y[n]",
            "LOAD x[0], R1"]
    while len(text) + len(BODY) + 2 <= lines:
        text += ["for i in 0..n", *("  " + one for one in BODY), "end"]
    return "\n".join(text) + "\n"


class Server:
    def __init__(self, flashlab):
        self.process = subprocess.Popen([flashlab, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.requests = 0
        self.request("initialize", {"capabilities": {}})

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9

    def send(self, message):
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                sys.exit("editor_speed: the server ended")
            length = int(line.split(b":")[1])
        return self.process.stdout.read(length)

    def request(self, method, params):
        """Returns the result and the seconds until it was there, not counting its parsing here."""
        self.requests += 1
        start = time.perf_counter()
        self.send({"id": self.requests, "method": method, "params": params})
        answer = self.read()
        took = time.perf_counter() - start
        answer = json.loads(answer)
        if "error" in answer:
            sys.exit(f"editor_speed: {method}: {answer['error']['message']}")
        return answer["result"], took

    def show(self, text, version):
        """Opens or changes the document; seconds until its diagnostics were there."""
        start = time.perf_counter()
        if version == 1:
            self.send({"method": "textDocument/didOpen", "params": {"textDocument": {
                "uri": URI, "languageId": "flashlab", "version": 1, "text": text}}})
        else:
            self.send({"method": "textDocument/didChange", "params": {
                "textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": text}]}})
        answer = json.loads(self.read())
        took = time.perf_counter() - start
        if answer["params"]["diagnostics"]:
            sys.exit(f"editor_speed: {answer['params']['diagnostics'][0]['message']}")
        return took


def spread(times):
    return {"median_ms": 1e3 * statistics.median(times), "longest_ms": 1e3 * max(times)}


def measure_server(flashlab, lines, repeat):
    server, text = Server(flashlab), program(lines)
    server.show(text, 1)
    document = {"textDocument": {"uri": URI}}
    screen = {"start": {"line": 0, "character": 0}, "end": {"line": 60, "character": 0}}
    diagnostics, hints, references, processor = [], [], [], []
    for version in range(2, repeat + 2):
        text = text.replace(f" ; {version - 1}\n", "\n") if version > 2 else text
        text = text.replace("\n", f" ; {version}\n", 1)  # a keystroke
        before = server.processor_seconds()
        diagnostics.append(server.show(text, version))
        result, took = server.request("textDocument/inlayHint", {**document, "range": screen})
        hints.append(diagnostics[-1] + took)
        processor.append(server.processor_seconds() - before)
        found, took = server.request("textDocument/references", {
            **document, "position": {"line": 5, "character": 12}, "context": {"includeDeclaration": True}})
        references.append(took)
    server.process.kill()
    return {"lines": text.count("\n"), "bytes": len(text), "hints": len(result), "places": len(found),
            "diagnostics": spread(diagnostics), "hints_after_key": spread(hints),
            "processor": spread(processor), "references": spread(references)}


def first_screen(flashlab, words):
    """Seconds from the start of the debugger to the end of its first frame."""
    start = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execv(flashlab, [flashlab, "debug", *words])
    output = b""
    while b"\x1b[J" not in output:
        output += os.read(terminal, 65536)
    took = time.perf_counter() - start
    os.write(terminal, b"q")
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass  # closed
    os.waitpid(child, 0)
    os.close(terminal)
    return took


def page_opens(flashlab, repeat):
    """The page of 140 000 steps in headless Chromium: seconds until the player is there, and until all is
    read. None without Chromium."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/playground"))
    from browser import Browser, find_browser
    if find_browser() is None:
        return None
    watch = """new MutationObserver(() => {
      const player = document.getElementById("player");
      if (player && !player.hidden) window.benchShown ??= performance.now();
      const notice = document.getElementById("notice");
      if (window.benchShown && !notice.textContent.startsWith("Reading")) window.benchRead ??= performance.now();
    }).observe(document, { subtree: true, childList: true, attributes: true });"""
    shown, read = [], []
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        subprocess.run([flashlab, "trace", "softmax_online", "-D", "n=10000", "--html", page], check=True,
                       stderr=subprocess.DEVNULL)
        for _ in range(repeat):
            with Browser(page.as_uri(), before=watch) as browser:
                browser.wait("window.benchRead", 120)
                shown.append(browser.evaluate("window.benchShown") / 1e3)
                read.append(browser.evaluate("window.benchRead") / 1e3)
        return {"steps": 139_996, "bytes": page.stat().st_size, "shown": spread(shown), "read": spread(read)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("flashlab")
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    servers = [measure_server(arguments.flashlab, lines, repeat)
               for lines, repeat in ((1000, arguments.repeat), (60_000, max(arguments.repeat // 10, 1)))]
    screens = [{"run": " ".join(words),
                **spread([first_screen(arguments.flashlab, words) for _ in range(arguments.repeat)])}
               for words in (["softmax_online"], ["matmul_naive", "-D", "m=694,k=694,n=694"],
                             ["flash2", "-D", "n=16384,d=64,B=64,Bk=64"],
                             ["softmax_online", "-D", "n=50000000"])]
    print("language server, milliseconds, median (longest); processor: its own time of both, whatever else runs")
    print(f"{'lines':>7} {'KB':>6} | {'diagnostics':>16} {'and hints':>16} {'processor':>16} {'references':>16} {'places':>7}")

    def cell(one):
        return f"{one['median_ms']:.1f} ({one['longest_ms']:.1f})"
    for one in servers:
        print(f"{one['lines']:7} {one['bytes'] // 1000:6} | {cell(one['diagnostics']):>16} "
              f"{cell(one['hints_after_key']):>16} {cell(one['processor']):>16} "
              f"{cell(one['references']):>16} {one['places']:7}")
    print("\nfirst screen of the debugger, milliseconds, median (longest)")
    for one in screens:
        print(f"{one['run']:40} {cell(one):>16}")
    page = page_opens(arguments.flashlab, max(arguments.repeat // 6, 1))
    if page:
        print("\npage of a trace in headless Chromium, milliseconds, median (longest)")
        print(f"{page['steps']} steps, {page['bytes'] / 1e6:.0f} MB: the player is there {cell(page['shown'])}, "
              f"all is read {cell(page['read'])}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": platform.processor() or platform.machine(), "cores": os.cpu_count(),
                       "date": time.strftime("%Y-%m-%d"), "repeat": arguments.repeat,
                       "server": servers, "first_screen": screens, "page": page}, file, indent=1)
            file.write("\n")


main()
