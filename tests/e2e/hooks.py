# SPDX-License-Identifier: Apache-2.0
"""A client whose hooks are airlock's, with the events that clients were recorded to send."""
import json
import os
import pathlib
import shutil
import subprocess

import harness

RECORDED = pathlib.Path(__file__).parent / "hooks"


class Case(harness.Case):
    """One repository, and a client in it; airlock as it is installed, with the link that is git."""
    toolsets = ()
    client = "claude-code"

    def setUp(self):
        super().setUp()
        self.init()
        self.prefix = self.base / "prefix"
        self.airlock_path = self.prefix / "bin/airlock"
        self.shim = self.prefix / "libexec/airlock/bin"
        self.airlock_path.parent.mkdir(parents=True)
        self.shim.mkdir(parents=True)
        try:
            os.link(harness.AIRLOCK, self.airlock_path)
        except OSError:
            shutil.copy(harness.AIRLOCK, self.airlock_path)
        (self.shim / "git").symlink_to("../../../bin/airlock")
        self.sessions = {"s1"}
        self.addCleanup(self.end_all)

    def end_all(self):
        for session in self.sessions:
            self.send(self.recorded("stop", session=session))

    def recorded(self, name, client=None, session="s1", cwd=None, **changes):
        """An event as it was recorded, here and now."""
        self.sessions.add(session)
        text = (RECORDED / f"{client or self.client}.json").read_text(encoding="utf-8")
        text = text.replace("SESSION", session).replace("CWD", str(cwd or self.root))
        return json.loads(text)[name] | changes

    def send(self, event, client=None, code=0, env=(), late=False, cwd="/"):
        """Send an event.  (the answer or None).  Under load a checkpoint may take longer than a client waits: the event
        is sent again, unless the test is about that."""
        text = event if isinstance(event, bytes) else json.dumps(event).encode()
        self.said = None
        while self.said is None or ("it took too long" in self.said and not late):
            done = subprocess.run([self.airlock_path, "hook", client or self.client], cwd=cwd,
                                  env=self.env | dict(env), input=text, capture_output=True, check=False,
                                  timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, code, done)
            self.said = done.stderr.decode()
        return json.loads(done.stdout) if done.stdout else None

    def around(self, action, name="", session="s1", call=None, **changes):
        """An action between the two events of a tool.  The answer to the second."""
        if call:
            changes["tool_use_id"] = call
        self.assertIsNone(self.send(self.recorded("before" + name, session=session, **changes)))
        action()
        return self.send(self.recorded("after" + name, session=session, **changes))

    def config(self, text):
        path = self.home / ".config/airlock/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def airlock(self, *words, cwd=None, code=0, env=()):
        done = subprocess.run([harness.AIRLOCK, *words], cwd=cwd or self.root, env=self.env | dict(env),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done)
        return done.stdout.decode(), done.stderr.decode()

    def log(self, tool=None):
        path = self.home / ".local/state/airlock/tool_log.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
        return [line for line in lines if tool in (None, line["tool"])]

    def running(self):
        return [line for line in self.airlock("log", "--running")[0].splitlines() if "  hook  " in line]

    def text(self, name="a.txt"):
        return (self.root / name).read_text(encoding="ascii")
