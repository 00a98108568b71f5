"""Chromium without a screen, spoken to by its DevTools protocol: pages are opened and looked at."""

import base64
import contextlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import threading

import pytest

#: What the browser may be called.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--use-gl=angle"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--no-first-run", "--hide-scrollbars", "--force-device-scale-factor=1", "--mute-audio"),
    *("--remote-debugging-port=0", "--allow-file-access-from-files"),
)


def found_browser():
    """Where Chromium is; the test is skipped where it is absent."""
    places = (shutil.which(name) for name in NAMES)
    place = next((one for one in places if one), None)
    if place is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    pytest.importorskip("websockets", reason="the package websockets is not installed")
    return place


@contextlib.contextmanager
def browser(width=960, height=720, *more):
    """A browser with one empty page of that size."""
    place = found_browser()
    size = f"--window-size={width},{height}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
        command = [place, *OPTIONS, *more, size, f"--user-data-dir={own}", "about:blank"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            yield Page(_address(process), width, height)
        finally:
            process.terminate()
            process.wait()


def _address(process):
    """Where the browser listens: it says so when it does."""
    said = []
    for line in process.stderr:
        said.append(line)
        if "DevTools listening on" in line:
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return line.split()[-1]
    raise RuntimeError(f"the browser did not start: {''.join(said[-5:])}")


class Page:
    """The page of a browser."""

    def __init__(self, address, width, height):
        from websockets.sync.client import connect

        self._socket = connect(address, max_size=None, open_timeout=None, ping_interval=None)
        self._number = 0
        self.events = []
        (target,) = [
            one for one in self.ask("Target.getTargets")["targetInfos"] if one["type"] == "page"
        ]
        given = {"targetId": target["targetId"], "flatten": True}
        self._session = self.ask("Target.attachToTarget", **given)["sessionId"]
        for room in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{room}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)

    def ask(self, method, **given):
        """One command, and what came of it."""
        self._number += 1
        told = {"id": self._number, "method": method, "params": given}
        if session := getattr(self, "_session", None):
            told["sessionId"] = session
        self._socket.send(json.dumps(told))
        while True:
            said = json.loads(self._socket.recv())
            if said.get("id") == self._number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return said["result"]
            self.events.append(said)

    def open(self, file, hash=""):
        """Open a file and wait until its viewers are ready."""
        before = len(self.events)
        self.ask("Page.navigate", url=pathlib.Path(file).resolve().as_uri() + hash)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events[before:]):
            self.events.append(json.loads(self._socket.recv()))
        return self.run("(await window.alightViewers ?? []).length")

    def run(self, code):
        """The value of an expression, which may await."""
        whole = f"(async () => ({code}))()"
        given = {"expression": whole, "awaitPromise": True, "returnByValue": True}
        said = self.ask("Runtime.evaluate", **given)
        if "exceptionDetails" in said:
            raise RuntimeError(json.dumps(said["exceptionDetails"])[:800])
        return said["result"].get("value")

    def picture(self):
        """The page as a PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    @property
    def requests(self):
        """Addresses that were asked for."""
        sent = [e for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [e["params"]["request"]["url"] for e in sent]

    @property
    def complaints(self):
        """Errors on the console, and those that no one caught."""
        out = [e["params"] for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        logs = [e["params"] for e in self.events if e.get("method") == "Log.entryAdded"]
        return [*out, *(one for one in logs if one["entry"]["level"] == "error")]
