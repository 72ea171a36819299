# SPDX-License-Identifier: Apache-2.0
"""A real browser for tests: headless Chromium, driven by the DevTools protocol over two pipes.

Messages are JSON, each ended by a NUL byte: Chromium reads file descriptor 3 and writes 4.  Nothing
listens, and no other package is needed.  A test that finds no Chromium is skipped.
Source: https://chromedevtools.github.io/devtools-protocol/ and --remote-debugging-pipe.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import tempfile
import time

import harness

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")

# A browser starts many processes, on machines that do other things too.
DEADLINE_SECONDS = harness.WATCHDOG_SECONDS

OPTIONS = [
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
    # It opens pages of the test only, and root and many containers can have no sandbox.
    "--no-sandbox",
    # It talks to loopback only, and to nobody about itself.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-breakpad", "--disable-extensions", "--metrics-recording-only",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    # No window, no sound, no place in /dev/shm, no key ring of the user's.
    "--disable-gpu", "--mute-audio", "--disable-dev-shm-usage", "--password-store=basic",
]

# The keys that a test presses: name, then code, number and text.
KEYS = {"Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), " ": ("Space", 32, " "),
        "Escape": ("Escape", 27, "")}

# A mouse would reach it: what is at its middle is the element, or a part of it.
CLICK = """(() => {
  const found = document.querySelector(%s);
  if (!found) return 'is not there';
  found.scrollIntoView({block: 'center'});
  const box = found.getBoundingClientRect();
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  if (!top || !found.contains(top)) return 'is out of reach';
  found.click();
  return '';
})()"""


# Whether the page has to be scrolled to the side.
OVERFLOW = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


class Browser:
    """One Chromium with a profile of its own, which ends with the test."""

    def __init__(self, case):
        if not PROGRAM:
            case.skipTest("there is no Chromium")
        self.pending, self.answers, self.pages, self.number = b"", {}, {}, 0
        profile = case.base / "chromium"
        profile.mkdir()
        # It makes a socket there, whose path may have 107 bytes (unix(7)).
        short = tempfile.mkdtemp(prefix="al-", dir="/tmp")
        case.addCleanup(shutil.rmtree, short, ignore_errors=True)
        their_input, self.writer = high(os.pipe())
        self.reader, their_output = high(os.pipe())
        quiet = os.open(os.devnull, os.O_RDWR)
        self.pid = os.posix_spawn(
            PROGRAM, [PROGRAM, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            {"PATH": os.environ["PATH"], "HOME": str(profile), "TMPDIR": short,
             "LANG": "C.UTF-8"},
            file_actions=[(os.POSIX_SPAWN_DUP2, quiet, 0), (os.POSIX_SPAWN_DUP2, quiet, 1),
                          (os.POSIX_SPAWN_DUP2, quiet, 2), (os.POSIX_SPAWN_DUP2, their_input, 3),
                          (os.POSIX_SPAWN_DUP2, their_output, 4)], setsid=True)
        case.addCleanup(self.end)
        for number in (their_input, their_output, quiet):
            os.close(number)

    def end(self):
        """End it: it leaves when nobody is at the other end of its pipes; else by its process group."""
        os.close(self.writer)
        while self.read():
            pass
        os.close(self.reader)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        while self.processes():  # they are not our children, so there is nothing to wait on
            select.select([], [], [], 0.01)

    def processes(self):
        """The ids of its processes that live."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                state, _, group = path.read_text(encoding="utf-8").rpartition(")")[2].split()[:3]
                if int(group) == self.pid and state not in "ZX":
                    found.append(int(path.parent.name))
        return found

    def read(self, patience_s=DEADLINE_SECONDS):
        """Take in what it says within that time; whether it said anything."""
        if not select.select([self.reader], [], [], patience_s)[0]:
            return False
        more = os.read(self.reader, 1 << 20)
        *lines, self.pending = (self.pending + more).split(b"\0")
        for line in lines:
            message = json.loads(line)
            if "id" in message:
                self.answers[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].happened(message["method"], message["params"])
        return bool(more)

    def start(self, method, session=None, **params):
        """Send a command; gives its number."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data):]
        return self.number

    def send(self, method, session=None, **params):
        """A command and its result."""
        number = self.start(method, session, **params)
        while number not in self.answers:
            if not self.read():
                raise AssertionError(f"{method}: Chromium does not answer")
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Refused(f"{method}: {answer['error']}")
        return answer["result"]

    def page(self, **named):
        """A tab of its own; all tabs share their cookies."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, **named)


class Refused(AssertionError):
    """A command that Chromium cannot carry out, such as one about a page that is being left."""


def high(pipe):
    """The ends of a pipe with numbers that are not in the way of 3 and 4; closed in programs."""
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe]
    for end in pipe:
        os.close(end)
    return moved


class Page:
    """A tab.  `scripts`: JavaScript runs; `scheme`: what the system prefers; `width` in CSS pixels.

    `complaints` collects what the page logs, throws, or violates of its policy, and its dialogs.
    """

    def __init__(self, browser, session, scripts=True, scheme="light", width=1000, height=800):
        self.browser, self.session, self.complaints = browser, session, []
        browser.pages[session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 500)

    def send(self, method, **params):
        """A command about this page."""
        return self.browser.send(method, self.session, **params)

    def happened(self, method, params):
        """An event of this page."""
        if method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {params['message']}")
            self.browser.start("Page.handleJavaScriptDialog", self.session, accept=False)
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(f"exception: {params['exceptionDetails']}")
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console: {params['args']}")
        elif method == "Log.entryAdded":
            entry = params["entry"]
            self.complaints.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Network.responseReceived" and params["type"] == "Document":
            self.status = params["response"]["status"]

    status = None  # of the newest document

    def open(self, url):
        """Go to an address; gives what went wrong, if anything, once the document is there."""
        failed = self.send("Page.navigate", url=url).get("errorText", "")
        if not failed:
            self.until("document.readyState === 'complete'")
        return failed

    def get(self, expression):
        """The value of an expression in the page, also where the page's own scripts are off."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Refused(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression):
        """Wait until an expression is true; gives its value."""
        end, value = time.monotonic() + DEADLINE_SECONDS, None
        while not value:
            if time.monotonic() > end:
                raise AssertionError(f"never {expression}; {self.text()!r}; {self.complaints}")
            with contextlib.suppress(Refused):  # the page is being left
                value = self.get(expression)
            if not value:
                self.browser.read(0.05)  # until something happens, or it is time to look again
        return value

    def text(self):
        """What the page says."""
        return self.get("document.body ? document.body.innerText : ''")

    def until_text(self, words):
        """Wait until the page says this."""
        return self.until(f"document.body && document.body.innerText.includes({json.dumps(words)})")

    def count(self, selector):
        """How many elements there are."""
        return self.get(f"document.querySelectorAll({json.dumps(selector)}).length")

    def click(self, selector):
        """Click on an element that can be seen."""
        problem = self.get(CLICK % json.dumps(selector))
        if problem:
            raise AssertionError(f"{selector} {problem}: {self.text()!r}")

    def press(self, name):
        """A key that is pressed and let go."""
        code, number, text = KEYS[name]
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            words = {"text": text} if text and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=code,
                      windowsVirtualKeyCode=number, **words)

    def type(self, text):
        """Text for the element that has the focus."""
        self.send("Input.insertText", text=text)
