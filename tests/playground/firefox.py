"""Drives a headless Firefox through its Marionette protocol, with the methods of browser.Browser."""
import base64
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from browser import Waiting

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the name of references to elements in WebDriver

NARROWEST = 500  # pixels of a window

# Runs in the page: Firefox evaluates a test's scripts apart from the page's own, so this one adds an element
# <script>, as the page's rules allow.
RUN = """
const done = arguments[arguments.length - 1];
document.addEventListener("test-answer", () => done(document.documentElement.dataset.answer), {once: true});
const script = document.createElement("script");
script.textContent = arguments[0];
document.head.append(script);
script.remove();
"""
EVALUATE = """(async () => {
  let answer;
  try { answer = {value: await (%s)}; } catch (error) { answer = {error: String(error) + error.stack}; }
  document.documentElement.dataset.answer = JSON.stringify(answer);
  document.dispatchEvent(new Event("test-answer"));
})()"""
COLLECT = """document.testErrors || (document.testErrors = [], addEventListener("error", (event) =>
  document.testErrors.push(event.message)), null)"""


def find_firefox():
    """Returns the path of a Firefox, or None."""
    return next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)


class Firefox(Waiting):
    """One page in a browser of its own, which ends with the object."""

    def __init__(self, address, width=1280, height=900, dark=False):
        self._profile = pathlib.Path(tempfile.mkdtemp(prefix="flashlab-page-"))
        preferences = {"marionette.port": 0, "ui.systemUsesDarkTheme": int(dark), "network.proxy.type": 0,
                       "app.update.enabled": False, "datareporting.policy.dataSubmissionEnabled": False}
        (self._profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        self._process = subprocess.Popen(
            [find_firefox(), "--headless", "--marionette", "--remote-allow-system-access", "--no-remote",
             "--profile", str(self._profile), f"--width={width}", f"--height={height}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._socket, self._rest, self._next = self._connected(), b"", 1
        self._message()  # the greeting
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"pageLoadStrategy": "normal"}})
        self.call("WebDriver:SetTimeouts", script=600000, pageLoad=120000, implicit=0)
        zoom = max(1, NARROWEST / width)  # a phone's pixels are larger
        self.call("WebDriver:SetWindowRect", width=round(width * zoom), height=round(height * zoom))
        self.call("WebDriver:Navigate", url=address)
        if zoom > 1:
            self.call("Marionette:SetContext", value="chrome")
            self.call("WebDriver:ExecuteScript", script=f"ZoomManager.zoom = {zoom}", args=[])
            self.call("Marionette:SetContext", value="content")
        self.evaluate(COLLECT)

    def _connected(self):
        place = self._profile / "MarionetteActivePort"
        end = time.monotonic() + 120
        while True:
            try:
                return socket.create_connection(("127.0.0.1", int(place.read_text())))
            except (OSError, ValueError):
                if time.monotonic() > end or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    def _message(self):
        """The protocol: the number of bytes, a colon, JSON."""
        while b":" not in self._rest:
            self._receive()
        digits, self._rest = self._rest.split(b":", 1)
        while len(self._rest) < int(digits):
            self._receive()
        text, self._rest = self._rest[:int(digits)], self._rest[int(digits):]
        return json.loads(text)

    def _receive(self):
        part = self._socket.recv(1 << 16)
        if not part:
            raise RuntimeError("the browser ended")
        self._rest += part

    def call(self, command, **parameters):
        text = json.dumps([0, self._next, command, parameters]).encode()
        self._next += 1
        self._socket.sendall(str(len(text)).encode() + b":" + text)
        _, _, error, result = self._message()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def evaluate(self, script):
        """Returns the value of an expression, after waiting for a promise."""
        text = self.call("WebDriver:ExecuteAsyncScript", script=RUN, args=[EVALUATE % script])["value"]
        answer = json.loads(text)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    @property
    def errors(self):
        return self.evaluate("document.testErrors")

    def click(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)})?.getClientRects().length")
        found = self.call("WebDriver:FindElement", using="css selector", value=selector)["value"]
        self.call("WebDriver:ElementClick", id=found[ELEMENT])

    def type(self, selector, text):
        """Replaces what stands in a field by a text, as one input."""
        self.click(selector)
        self.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
        self.evaluate(f"document.execCommand('insertText', false, {json.dumps(text)})")

    def control_enter(self):
        keys = [("keyDown", "\ue009"), ("keyDown", "\ue007"), ("keyUp", "\ue007"), ("keyUp", "\ue009")]
        self.call("WebDriver:PerformActions", actions=[
            {"type": "key", "id": "keyboard", "actions": [{"type": kind, "value": key} for kind, key in keys]}])

    def screenshot(self, path):
        data = self.call("WebDriver:TakeScreenshot", full=False)["value"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self._process.kill()
        self._process.wait()
        self._socket.close()
        shutil.rmtree(self._profile, ignore_errors=True)
