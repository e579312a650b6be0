"""Drives a headless Chromium over its debugging pipe, as a user would: mouse, keys, text."""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time


def find_browser():
    """Returns the path of a Chromium, or None."""
    named = os.environ.get("FLASHLAB_BROWSER")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


ANOTHER_PAGE = re.compile("context|unloaded|navigat")  # errors while the page is being replaced


class Waiting:
    """What both browsers have: a page, and waiting for something in it."""

    def wait(self, script, seconds=60):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self._is_true(script):
            if time.monotonic() > end:
                raise TimeoutError(f"{script} is not true after {seconds} s; the notice: " +
                                   str(self.evaluate("document.getElementById('notice').textContent")))
            time.sleep(0.03)

    def _is_true(self, script):
        try:
            return self.evaluate(f"Boolean({script})")
        except RuntimeError as error:
            if ANOTHER_PAGE.search(str(error)):
                return False
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Browser(Waiting):
    """One page in a browser of its own, which ends with the object."""

    def __init__(self, address, width=1280, height=900, dark=False, before=""):
        """`before`: a script that runs in the page before the page's own."""
        self._profile = tempfile.mkdtemp(prefix="flashlab-page-")
        to_browser, write = os.pipe()
        read, from_browser = os.pipe()
        self._write, self._read = os.fdopen(write, "wb"), os.fdopen(read, "rb")

        def pipes():  # Chromium reads from 3 and writes to 4
            high = [os.dup2(fd, 20 + i) for i, fd in enumerate((to_browser, from_browser))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [find_browser(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir=" + self._profile],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._next, self._session, self._rest, self.errors = 1, None, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Page.enable")
        self.resize(width, height, dark)
        if before:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.call("Page.navigate", url=address)

    def resize(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, **params):
        number, self._next = self._next, self._next + 1
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._write.write(json.dumps(message).encode() + b"\0")
        self._write.flush()
        while True:
            answer = json.loads(self._message())
            if answer.get("method") == "Runtime.exceptionThrown":
                details = answer["params"]["exceptionDetails"]
                self.errors.append(details.get("exception", {}).get("description", details["text"]))
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _message(self):
        while b"\0" not in self._rest:
            part = os.read(self._read.fileno(), 1 << 16)
            if not part:
                raise RuntimeError("the browser ended")
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return message

    def evaluate(self, script):
        """Returns the value of an expression, after waiting for a promise."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def click(self, selector):
        """Moves the mouse to the middle of an element, once it is there to be clicked, and clicks."""
        middle = f"""(() => {{
          const found = document.querySelector({json.dumps(selector)});
          if (!found) return null;
          found.scrollIntoView({{block: "center"}});
          const box = found.getBoundingClientRect();
          const place = {{x: box.x + box.width / 2, y: box.y + box.height / 2}};
          const hit = document.elementFromPoint(place.x, place.y);
          return hit && (found.contains(hit) || hit.contains(found)) && box.width ? place : null;
        }})()"""
        self.wait(middle)
        place = self.evaluate(middle)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def type(self, selector, text):
        """Replaces what stands in a field by a text, as one input."""
        self.click(selector)
        self.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
        self.call("Input.insertText", text=text)

    def key(self, key, code, number, modifiers=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, modifiers=modifiers,
                      windowsVirtualKeyCode=number)

    def control_enter(self):
        self.key("Enter", "Enter", 13, modifiers=2)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self._process.kill()
        self._process.wait()
        self._write.close()
        self._read.close()
        shutil.rmtree(self._profile, ignore_errors=True)
