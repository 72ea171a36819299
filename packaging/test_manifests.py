#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the packages say is made from the facts, fits the rules of those who take them, and the
install script is small and portable: test_manifests.py AIRLOCK.  Nothing is built."""
import hashlib
import http.server
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests/e2e")]
sys.dont_write_bytecode = True
import checks
import harness
import manifests

FACTS = manifests.FACTS
LATEST = f"{FACTS['homepage']}/releases/latest/download/install.sh"


class Release(http.server.BaseHTTPRequestHandler):
    """A release on loopback, whose program says that it is there."""

    program = tarfile.TarInfo(f"git-airlock/bin/{FACTS['program']}")
    program.mode, text = 0o755, b"#!/bin/sh\necho it is here\n"
    program.size = len(text)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as tar:
        tar.addfile(program, io.BytesIO(text))
    sums = f"{hashlib.sha256(packed.getvalue()).hexdigest()}  {manifests.TARBALL}\n"
    files = {f"/{manifests.TARBALL}": packed.getvalue(), "/SHA256SUMS": sums.encode(),
             "/install.sh": manifests.filled("install.sh", signer="").encode()}

    def do_GET(self):
        self.send_response(200 if self.path in self.files else 404)
        self.end_headers()
        self.wfile.write(self.files.get(self.path, b""))

    def log_message(self, *_):
        pass


class Manifests(unittest.TestCase):
    """The files that need no build."""

    def test_server_json(self):
        """server.json fits the registry's schema and the rules that it lacks"""
        npm = json.loads(manifests.npm_launcher()["package.json"])
        self.assertEqual(checks.server(manifests.server_json("0" * 64), npm["mcpName"]), [])

    def test_npm(self):
        """the npm packages run no script at their installation and name each other's version"""
        one = json.loads(manifests.npm_launcher()["package.json"])
        other = json.loads(manifests.npm_native()["package.json"])
        self.assertNotIn("scripts", one | other)
        self.assertEqual(one["optionalDependencies"], {other["name"]: other["version"]})
        self.assertEqual((other["os"], other["cpu"]), (["linux"], ["x64"]))

    def test_plugins(self):
        """the plugin fits Agent Plugins 1.0.0, and every client's part has the same name and version"""
        files = manifests.plugins()
        self.assertEqual(checks.plugin(json.loads(files["plugin.json"]),
                                       json.loads(files["mcp.json"])), [])
        self.assertEqual(checks.skill(files["skills/airlock/SKILL.md"], "airlock"), [])
        for name in ("plugin.json", ".claude-plugin/plugin.json", "gemini-extension.json"):
            part = json.loads(files[name])
            self.assertEqual((part["name"], part["version"]), (FACTS["name"], FACTS["version"]), name)
        for name, content in files.items():
            if name.endswith(".json"):
                json.loads(content)

    def test_bundle(self):
        """the MCP bundle's manifest starts the program that is in it"""
        server = manifests.bundle()["server"]
        self.assertEqual(server["mcp_config"]["command"], "${__dirname}/" + server["entry_point"])

    def test_clients(self):
        """the clients of the facts are those that airlock install knows"""
        help_text = subprocess.run([sys.argv[1], "install", "--help"], check=True,
                                   capture_output=True, text=True).stdout
        listed = re.search(r"CLIENT is (.*?)\.\s", help_text, re.S).group(1)
        self.assertEqual(sorted(re.split(r",\s+|\s+or\s+", " ".join(listed.split()))),
                         sorted(FACTS["clients"]))

    def test_version(self):
        """the program has the version of the facts, and the changelog has it with a date"""
        said = subprocess.run([sys.argv[1], "--version"], check=True, capture_output=True, text=True)
        self.assertEqual(said.stdout.splitlines()[0], f"airlock {FACTS['version']}")
        changelog = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
        self.assertRegex(changelog, rf"(?m)^## \[{re.escape(FACTS['version'])}\] - \d{{4}}-\d\d-\d\d$")

    def test_scripts(self):
        """the shell scripts are POSIX sh, and install.sh has at most 80 lines"""
        script = manifests.filled("install.sh", signer="ssh-ed25519 AAAA")
        self.assertNotRegex(script, r"@[a-z_]+@")
        self.assertLessEqual(len(script.splitlines()), 80)
        scripts = {"install.sh": script, "source.sh": (HERE / "source.sh").read_text(),
                   "release.sh": (HERE / "release.sh").read_text(),
                   "session-start.sh": manifests.plugins()["hooks/session-start.sh"]}
        for name, content in scripts.items():
            for checker in (["sh", "-n"], ["dash", "-n"], ["shellcheck", "-s", "sh", "-"]):
                if shutil.which(checker[0]):
                    done = subprocess.run(checker, input=content, text=True, check=False,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    self.assertEqual(done.returncode, 0, f"{name}: {done.stdout}")

    def user(self):
        """A home, and the environment of a user who is not root in it."""
        base = pathlib.Path(tempfile.mkdtemp(prefix="airlock-packaging-"))
        self.addCleanup(shutil.rmtree, base)
        for name in ("home", "bin"):
            (base / name).mkdir()
        (base / "bin/id").write_text("#!/bin/sh\necho 1000\n")
        (base / "bin/id").chmod(0o755)
        return base / "home", {"HOME": str(base / "home"), "PATH": f"{base / 'bin'}:/usr/bin:/bin", "TMPDIR": str(base)}

    def test_readme_line(self):
        """the README's line installs from the release that the facts name, and what it put is removed again"""
        for name in ("curl", "xz"):
            if not shutil.which(name):
                self.skipTest(f"{name} is not installed")
        readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
        line = re.search(r"(?m)^ {4}(curl .*install\.sh \| sh)$", readme).group(1)
        removing = re.search(r"`(curl [^`]*--uninstall)`", (HERE.parent / "docs/CONNECTING.md").read_text("utf-8")).group(1)
        home, env = self.user()
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Release) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}"
            for command, rest in (line, ["it is here"]), (removing.replace("\\|", "|"), []):
                self.assertIn(LATEST, command)
                subprocess.run(["sh", "-c", command.replace(LATEST, f"{url}/install.sh")], check=True,
                               env=env | {"AIRLOCK_BASE_URL": url}, capture_output=True)
                self.assertEqual([subprocess.check_output([path], text=True).strip()
                                  for path in home.glob(f".local/bin/{FACTS['program']}")], rest)
            server.shutdown()
        self.assertEqual(list(home.iterdir()), [])

    def test_script_in_part(self):
        """an install script of which only a part came does nothing"""
        script = manifests.filled("install.sh", signer="")
        home, env = self.user()
        for size in range(300, len(script) - 1, 97):
            done = subprocess.run(["sh"], input=script[:size], env=env | {"AIRLOCK_BASE_URL": "file:///nowhere"},
                                  text=True, capture_output=True, check=False)
            self.assertEqual((done.stdout, list(home.iterdir())), ("", []), script[:size])
            self.assertNotIn("install.sh:", done.stderr)

    def test_hook(self):
        """the hook tells a session at most 400 bytes, with and without the program"""
        script = manifests.plugins()["hooks/session-start.sh"]
        for path in (str(pathlib.Path(sys.argv[1]).resolve().parent), "/nowhere"):
            done = subprocess.run(["/bin/sh", "-c", script], env={"PATH": path}, check=True,
                                  capture_output=True)
            self.assertTrue(0 < len(done.stdout) <= 400)


harness.main()
