#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Try every package as its users would get it, without a network: test_dist.py DIST [CASE...].

What needs a tool, a program from npm or a base system that is not here is skipped and named.
AIRLOCK_CHROOT=DIR: a Debian system to install the Debian package into (a copy of it is changed);
without it, one is made once with debootstrap and kept in the user's cache.
"""
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import pty
import re
import select
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent
sys.path[:0] = [str(HERE), str(TOP / "tests/e2e")]
sys.dont_write_bytecode = True
DIST = pathlib.Path(sys.argv[1]).resolve()
sys.argv[1] = str(DIST / "install.sh")  # where the harness wants a program
import checks
import harness
import manifests
import npm

NAME, PROGRAM, VERSION = manifests.NAME, manifests.PROGRAM, manifests.VERSION
TARBALL_MAX_BYTES = 6 << 20
HELLO = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}},
         {"jsonrpc": "2.0", "method": "notifications/initialized"},
         {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
         {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "git_status", "arguments": {}}}]
MOUNT = ('mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && root=$0 where=$1 && shift &&'
         ' exec unshare --root="$root" --wd="$where" -- "$@"')
DEPENDS = ("git,libjansson4,libnettle8,zlib1g,libyaml-0-2,libmicrohttpd12,libncursesw6,"
           "openssh-client,ca-certificates")


def run(*command, good=True, **options):
    """Run a command; what it says, both ways."""
    done = subprocess.run([str(word) for word in command], stdin=options.pop("stdin", subprocess.DEVNULL),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True,
                          errors="replace", **options)
    if good and done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout if good else (done.returncode, done.stdout)


def inside(root, where, *command):
    """A command line that runs in a directory of another root, in namespaces of its own."""
    return ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child",
            "sh", "-c", MOUNT, str(root), where, *map(str, command)]


def tools_of(command, **options):
    """The names of the tools that a server offers on its standard output; one of them, called, works."""
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, **options) as server:
        timer = threading.Timer(60, server.kill)
        timer.start()
        for line in HELLO:
            server.stdin.write(json.dumps(line) + "\n")
        server.stdin.flush()
        answers = {}
        while len(answers) < 3 and (line := server.stdout.readline()):
            answers[json.loads(line)["id"]] = json.loads(line)
        server.stdin.close()
        said = server.stderr.read()
        timer.cancel()
    if len(answers) < 3 or answers[3]["result"].get("isError"):
        raise AssertionError(f"no list of tools, or no status: {answers}{said[-2000:]}")
    return {tool["name"] for tool in answers[2]["result"]["tools"]}


def base_system():
    """A Debian system with what the package depends on; None, and why not."""
    given = os.environ.get("AIRLOCK_CHROOT")
    if os.geteuid():
        return None, "this is not root"
    if given:
        return pathlib.Path(given), ""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    base = cache / "git-airlock/bookworm"
    if base.is_dir():
        return base, ""
    if not shutil.which("debootstrap"):
        return None, "debootstrap is not installed"
    half = base.with_suffix(".half")
    shutil.rmtree(half, ignore_errors=True)
    base.parent.mkdir(parents=True, exist_ok=True)
    code, text = run("debootstrap", "--variant=minbase", f"--include={DEPENDS}", "bookworm", half,
                     good=False)
    if code:
        return None, f"debootstrap failed: {text.splitlines()[-1:]}"
    half.rename(base)
    return base, ""


class Serving(http.server.ThreadingHTTPServer):
    """A directory on loopback."""

    def __init__(self, directory):
        class Handler(http.server.SimpleHTTPRequestHandler):
            """Serves it and says nothing."""

            def __init__(self, *args, **named):
                super().__init__(*args, directory=str(directory), **named)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Case(unittest.TestCase):
    """A directory of its own, and no network in what it starts."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="airlock-dist-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.home = self.dir / "home"
        self.home.mkdir()
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
                    "GIT_CONFIG_NOSYSTEM": "1", "TMPDIR": str(self.dir),
                    "npm_config_registry": "http://127.0.0.1:9/", "npm_config_fetch_retries": "0",
                    "npm_config_audit": "false", "npm_config_update_notifier": "false"}

    def needs(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")

    def serving(self, directory):
        server = Serving(directory)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.url

    def unpacked(self, name):
        """The one directory that is in an archive."""
        where = self.dir / f"unpacked-{len(list(self.dir.iterdir()))}"
        with tarfile.open(DIST / name) as tar:
            tar.extractall(where)
        return next(where.iterdir())

    def repository(self):
        path = self.dir / "repository"
        run("git", "init", "-q", path, env=self.env)
        (path / "a.txt").write_text("one\n")
        run("git", "-C", path, "-c", "user.name=t", "-c", "user.email=t@localhost", "add", ".", env=self.env)
        run("git", "-C", path, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "one",
            env=self.env)
        return path

    def clients(self):
        def stop(reason):
            self.skipTest(reason)
        return npm.install(HERE / "clients", stop=stop) / "node_modules"


class Static(Case):
    """The tarball with the static program."""

    def test_size(self):
        """the tarball has at most 6 MB: program, names, man page, completions, licences"""
        self.assertLessEqual((DIST / manifests.TARBALL).stat().st_size, TARBALL_MAX_BYTES)
        with tarfile.open(DIST / manifests.TARBALL) as tar:
            names = {member.name.partition("/")[2] for member in tar}
            self.assertEqual({(entry.uid, entry.gid, entry.uname) for entry in tar}, {(0, 0, "root")})
        for name in ("bin/airlock", "bin/git-airlock", "libexec/airlock/bin/git", "share/man/man1/airlock.1",
                     "share/bash-completion/completions/airlock", "share/zsh/site-functions/_airlock",
                     "share/fish/vendor_completions.d/airlock.fish", f"share/doc/{NAME}/LICENSE",
                     f"share/doc/{NAME}/licences/libmicrohttpd-dev.txt"):
            self.assertIn(name, names)

    def test_static(self):
        """the program needs no library"""
        self.needs("readelf")
        headers = run("readelf", "-d", "-l", self.unpacked(manifests.TARBALL) / "bin/airlock")
        self.assertNotIn("NEEDED", headers)
        self.assertNotIn("INTERP", headers)
        self.assertIn("Elf file type is DYN", headers)  # at any address
        self.assertNotIn("RWE", headers)

    def root(self):
        """A root directory with git, what git needs, and the program."""
        root = self.dir / "root"
        for name in ("dev", "proc", "tmp", "bin", "etc", "run"):
            (root / name).mkdir(parents=True)
        core = pathlib.Path(run("git", "--exec-path").strip())
        programs = [pathlib.Path(shutil.which("git")), *(core / name for name in (
            "git", "git-remote-http", "git-sh-setup") if (core / name).exists())]
        libraries = set(re.findall(r"(/\S+\.so\S*)", "".join(run("ldd", one) for one in programs[:2])))
        for path in [*programs, *map(pathlib.Path, libraries)]:
            target = root / str(path).lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy2(path, target)
        terminal = next(path for path in map(pathlib.Path, (
            "/lib/terminfo/x/xterm", "/usr/share/terminfo/x/xterm")) if path.exists())
        (root / str(terminal).lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(terminal, root / str(terminal).lstrip("/"))
        shutil.copytree(self.unpacked(manifests.TARBALL), root / "opt", symlinks=True)
        (root / "srv").mkdir()
        shutil.move(self.repository(), root / "srv/repository")
        return root

    def started(self, root, *words):
        """A command of the program in that root, in the repository."""
        env = {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        return inside(root, "/srv/repository", "/opt/bin/airlock", *words), env

    def test_alone(self):
        """in an empty root with git alone: tools, a commit, a rollback"""
        self.needs("unshare")
        root = self.root()
        command, env = self.started(root, "serve", "--root", "/srv/repository")
        self.assertIn("git_commit", tools_of(command, env=env))
        for words in (("--version",), ("call", "--root", "/srv/repository", "git_status")):
            command, env = self.started(root, *words)
            run(*command, env=env)
        (root / "srv/repository/a.txt").write_text("two\n")
        git = (root / "srv/repository/.git/config").open("a")
        with git:
            git.write("[user]\n\tname = t\n\temail = t@localhost\n")
        command, env = self.started(root, "call", "--approval", "allow", "--root", "/srv/repository",
                                    "git_commit", "message=two", "all=true")
        self.assertIn("two", run(*command, env=env))
        command, env = self.started(root, "rollback")
        run(*command, env=env)
        self.assertEqual(run("git", "-C", root / "srv/repository", "log", "--format=%s", env=self.env),
                         "one\n")

    def test_http(self):
        """HTTP is linked in: a server on loopback answers"""
        self.needs("unshare")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command, env = self.started(self.root(), "serve", "--http", f"127.0.0.1:{port}", "--no-token",
                                    "--root", "/srv/repository")
        server = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            answer = self.posted(f"http://127.0.0.1:{port}/mcp", server)
        finally:
            server.kill()  # unshare, which ends the server with it
            server.wait()
        self.assertIn("serverInfo", answer)

    def posted(self, url, server):
        """What the server answers to `initialize`, as soon as it listens."""
        import urllib.request
        request = urllib.request.Request(url, json.dumps(HELLO[0]).encode(), {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
        for _ in range(200):
            with contextlib.suppress(OSError):
                with urllib.request.urlopen(request, timeout=20) as response:
                    return response.readline().decode()
            self.assertIsNone(server.poll(), "the server ended")
            time.sleep(0.1)
        self.fail("the server does not listen")

    def test_screen(self):
        """the screen is linked in: airlock review draws one"""
        self.needs("unshare")
        command, env = self.started(self.root(), "review")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe(command[0], command, env)
        text, end = b"", time.monotonic() + 60
        while b"\x1b[?1049h" not in text and time.monotonic() < end:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                text += os.read(terminal, 65536)
            except OSError:
                break
        with contextlib.suppress(OSError):
            os.write(terminal, b"q")
        os.close(terminal)
        os.waitpid(pid, 0)
        self.assertIn(b"\x1b[?1049h", text, text[-2000:])

    def test_spdx(self):
        """the SPDX list names each archive's package, its version and its licence"""
        listed = json.loads((DIST / manifests.SPDX).read_text())
        self.assertEqual(listed["spdxVersion"], "SPDX-2.3")
        names = {item["name"] for item in listed["packages"]}
        self.assertLessEqual({NAME, "glibc", "jansson", "nettle", "zlib", "libyaml", "ncurses",
                              "libmicrohttpd"}, names)
        digest = hashlib.sha256((DIST / manifests.TARBALL).read_bytes()).hexdigest()
        self.assertEqual(listed["packages"][0]["checksums"][0]["checksumValue"], digest)
        identifiers = {item["SPDXID"] for item in listed["packages"]} | {"SPDXRef-DOCUMENT"}
        for relation in listed["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, identifiers)


class Deb(Case):
    """The Debian package."""

    def test_lintian(self):
        """lintian finds no error"""
        self.needs("lintian")
        run("lintian", "--fail-on", "error", "--allow-root", DIST / manifests.DEB)

    def test_links(self):
        """libyaml is linked as a library; the libraries that are loaded are recommended"""
        self.needs("dpkg-deb")
        self.assertIn("libyaml-0-2", run("dpkg-deb", "-f", DIST / manifests.DEB, "Depends"))
        self.assertIn("libmicrohttpd12", run("dpkg-deb", "-f", DIST / manifests.DEB, "Recommends"))

    def older(self, archive):
        """The same package with a version before it, for an upgrade."""
        work = self.dir / "older"
        run("dpkg-deb", "-R", DIST / manifests.DEB, work)
        control = work / "DEBIAN/control"
        control.write_text(re.sub(r"(?m)^Version: .*$", "Version: 0.0.1", control.read_text()))
        (work / f"usr/share/doc/{NAME}/of-the-old-one").write_text("x\n")
        run("dpkg-deb", "--root-owner-group", "-b", work, archive / f"{NAME}_0.0.1_amd64.deb")

    def in_system(self, root, *words):
        """A command line that runs in a Debian system."""
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", MOUNT, root, "/", *words]

    def test_apt(self):
        """apt installs it from a small archive on loopback, upgrades it and purges it"""
        self.needs("apt-ftparchive", "dpkg-deb")
        base, why = base_system()
        if not base:
            self.skipTest(f"no Debian system to install into: {why}")
        root, archive = self.dir / "system", self.dir / "archive"
        run("cp", "-a", "--reflink=auto", base, root)
        archive.mkdir()
        self.older(archive)

        def publish():
            (archive / "Packages").write_text(run("apt-ftparchive", "packages", ".", cwd=archive))
            (archive / "Release").write_text(run("apt-ftparchive", "release", ".", cwd=archive))
        publish()
        for old in (root / "etc/apt/sources.list.d").iterdir():
            old.unlink()
        (root / "etc/apt/sources.list").write_text(f"deb [trusted=yes] {self.serving(archive)} ./\n")
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive",
               "LC_ALL": "C.UTF-8"}

        def there(*words, good=True):
            return run(*self.in_system(root, *words), env=env, good=good)
        update = ("apt-get", "update", "-qq", "--error-on=any")
        there(*update)
        there("apt-get", "install", "-y", "-qq", NAME)
        self.assertTrue((root / f"usr/share/doc/{NAME}/of-the-old-one").exists())
        shutil.copy(DIST / manifests.DEB, archive)
        publish()
        there(*update)
        said = there("apt-get", "install", "-y", "-qq", NAME)
        self.assertFalse((root / f"usr/share/doc/{NAME}/of-the-old-one").exists(), said)
        self.assertTrue(there("airlock", "--version").startswith(f"airlock {VERSION}\n"))
        there("sh", "-c", "git init -q /srv/r && cd /srv/r && git airlock call git_status")
        self.assertIn("git_commit", tools_of(self.in_system(root, "git", "airlock", "serve", "--root", "/srv/r"), env=env))
        for name in ("usr/share/man/man1/airlock.1.gz", "usr/share/bash-completion/completions/airlock"):
            self.assertTrue((root / name).exists(), name)
        there("apt-get", "purge", "-y", "-qq", NAME)
        left = run("find", root / "usr", root / "etc", "-name", "*airlock*").split()
        self.assertEqual([name for name in left if "/var/lib/apt" not in name], [])


class Npm(Case):
    """The npm packages."""

    def test_pack(self):
        """npm pack would put the same files into each package"""
        self.needs("npm")
        for name in (NAME, manifests.NATIVE):
            package = self.unpacked(f"{name}-{VERSION}.tgz")
            said = json.loads(run("npm", "pack", "--dry-run", "--json", "--silent", cwd=package, env=self.env))
            packed = said[0] if isinstance(said, list) else next(iter(said.values()))
            self.assertEqual(sorted(entry["path"] for entry in packed["files"]),
                             sorted(path.relative_to(package).as_posix()
                                    for path in package.rglob("*") if path.is_file()))

    def installed(self):
        """A project with both packages, from their files and with the registry off."""
        self.needs("npm", "node")
        project = self.dir / "project"
        project.mkdir()
        (project / "package.json").write_text('{"name": "project", "version": "1.0.0"}')
        run("npm", "install", "--no-fund", DIST / f"{manifests.NATIVE}-{VERSION}.tgz",
            DIST / f"{NAME}-{VERSION}.tgz", cwd=project, env=self.env)
        return project

    def test_npx(self):
        """installed with the registry off, npx git-airlock works, in a client's settings by its own path"""
        project, repository = self.installed(), self.repository()
        says = run("npx", "--no-install", NAME, "--version", cwd=project, env=self.env)
        self.assertEqual(says.splitlines()[0], f"airlock {VERSION}")
        program = project / "node_modules/.bin" / NAME
        code, text = run("npx", "--no-install", NAME, "doctor", "--root", repository, good=False, cwd=project,
                         env=self.env)
        self.assertIn("landlock", text)
        self.assertIn(code, (0, 1))
        run(program, "install", "claude-code", "--yes", cwd=repository, env=self.env)
        entry = json.loads((repository / ".mcp.json").read_text())["mcpServers"][PROGRAM]
        self.assertTrue(entry["command"].endswith(f"{manifests.NATIVE}/bin/{PROGRAM}"), entry)
        self.assertIn("git_commit", tools_of([entry["command"], *entry["args"]], env=self.env))
        run("npm", "uninstall", NAME, manifests.NATIVE, cwd=project, env=self.env)
        self.assertEqual([path for path in project.rglob("*airlock*")], [])

    def test_ends(self):
        """the launcher ends as the program does, by code and by signal"""
        project = self.installed()
        program = project / "node_modules/.bin" / NAME
        self.assertEqual(run(program, "nonsense", good=False, env=self.env)[0], 2)
        server = subprocess.Popen([program, "serve", "--root", self.repository()], env=self.env,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with server:
            server.stdin.write((json.dumps(HELLO[0]) + "\n").encode())
            server.stdin.flush()
            self.assertIn(b"serverInfo", server.stdout.readline())
            server.terminate()
            self.assertIn(server.wait(timeout=20), (-15, 128 + 15))

    def test_sdk(self):
        """the official SDK lists the tools, started as clients do"""
        project, repository = self.installed(), self.repository()

        def stop(reason):
            self.skipTest(reason)
        modules = npm.install(TOP / "tests/e2e/sdk", stop=stop) / "node_modules"
        (self.dir / "node_modules").symlink_to(modules)
        (self.dir / "list.mjs").write_text("""
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
const client = new Client({ name: 'test', version: '1' });
const [command, root] = process.argv.slice(2);
await client.connect(new StdioClientTransport({ command, args: ['serve', '--root', root] }));
console.log((await client.listTools()).tools.map((tool) => tool.name).join(' '));
await client.close();
""")
        listed = run("node", self.dir / "list.mjs", project / "node_modules/.bin" / NAME, repository, env=self.env)
        self.assertIn("git_commit", listed.split())


class Bundle(Case):
    """The MCP bundle and the registry's entry."""

    def test_bundle(self):
        """unpacked and started with substituted arguments, it offers its tools"""
        place, repository = self.dir / "bundle", self.repository()
        run("unzip", "-q", DIST / manifests.BUNDLE, "-d", place) if shutil.which("unzip") else self.extract(place)
        manifest = json.loads((place / "manifest.json").read_text())
        values = {"${__dirname}": str(place), "${user_config.root}": str(repository)}
        config = manifest["server"]["mcp_config"]
        command = [config["command"], *config["args"]]
        for name, value in values.items():
            command = [word.replace(name, value) for word in command]
        self.assertFalse([word for word in command if "${" in word])
        self.assertIn("git_commit", tools_of(command, env=self.env))

    def extract(self, place):
        with zipfile.ZipFile(DIST / manifests.BUNDLE) as archive:
            for entry in archive.infolist():
                archive.extract(entry, place)
                (place / entry.filename).chmod(entry.external_attr >> 16)

    def test_mcpb(self):
        """mcpb validates the manifest, and packs the same files"""
        self.needs("node")
        tool, place = self.clients() / ".bin/mcpb", self.dir / "bundle"
        self.extract(place)
        run("node", tool, "validate", place / "manifest.json", env=self.env)
        run("node", tool, "pack", place, self.dir / "again.mcpb", env=self.env)
        with zipfile.ZipFile(self.dir / "again.mcpb") as again, zipfile.ZipFile(DIST / manifests.BUNDLE) as ours:
            self.assertEqual({entry.filename: entry.CRC for entry in again.infolist() if not entry.is_dir()},
                             {entry.filename: entry.CRC for entry in ours.infolist()})

    def test_registry(self):
        """server.json fits its schema and the registry's other rules, and has the bundle's sum"""
        entry = json.loads((DIST / "server.json").read_text())
        package = json.loads((self.unpacked(f"{NAME}-{VERSION}.tgz") / "package.json").read_text())
        self.assertEqual(checks.server(entry, package["mcpName"]), [])
        bundle = next(item for item in entry["packages"] if item["registryType"] == "mcpb")
        self.assertEqual(bundle["fileSha256"], hashlib.sha256((DIST / manifests.BUNDLE).read_bytes()).hexdigest())
        self.assertTrue(bundle["identifier"].endswith("/" + manifests.BUNDLE))


class Plugins(Case):
    """The directory of plugins, with the clients from npm."""

    def setUp(self):
        super().setUp()
        self.place = self.unpacked(manifests.PLUGINS)
        self.env["PATH"] = f"{self.unpacked(manifests.TARBALL)}/bin:{self.env['PATH']}"
        self.env |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        self.project = self.repository()

    def said(self, *command, **options):
        """What a client says in a repository."""
        return run(*command, env=self.env, cwd=self.project, timeout=120, **options)

    def test_claude(self):
        """claude plugin validate --strict takes plugin and marketplace; installed, its server is connected; removed, it is gone"""
        claude = self.clients() / "@anthropic-ai/claude-code-linux-x64/claude"
        if not claude.exists():
            self.skipTest("Claude Code is not to be had for this machine")
        self.said(claude, "plugin", "validate", "--strict", self.place)
        self.said(claude, "plugin", "marketplace", "add", self.place)
        self.said(claude, "plugin", "install", f"{NAME}@{NAME}")
        self.assertRegex(self.said(claude, "mcp", "list"), f"{PROGRAM} serve .*Connected")
        self.said(claude, "plugin", "uninstall", f"{NAME}@{NAME}")
        self.said(claude, "plugin", "marketplace", "remove", NAME)
        self.assertNotIn(PROGRAM, self.said(claude, "plugin", "list") + self.said(claude, "mcp", "list"))

    def test_codex(self):
        """codex plugin marketplace add takes it; the plugin is installed, and removed again"""
        self.needs("node")
        codex = ["node", self.clients() / ".bin/codex"]
        self.said(*codex, "plugin", "marketplace", "add", self.place)
        self.said(*codex, "plugin", "add", f"{NAME}@{NAME}")
        self.assertRegex(self.said(*codex, "plugin", "list"), f"{NAME}@{NAME} +installed")
        self.assertRegex(self.said(*codex, "mcp", "list"), f"{PROGRAM} +{PROGRAM} +serve")
        self.said(*codex, "plugin", "remove", f"{NAME}@{NAME}")
        self.said(*codex, "plugin", "marketplace", "remove", NAME)
        self.assertNotIn(NAME, self.said(*codex, "plugin", "list").replace(str(self.home), ""))

    def test_gemini(self):
        """gemini extensions validate takes it; installed, its server is connected; removed, it is gone"""
        modules = self.clients()
        node = npm.node_of(modules.parent, 20, stop=self.skipTest)
        gemini = [node, modules / ".bin/gemini"]
        self.said(*gemini, "extensions", "validate", self.place)
        with open(self.dir / "yes", "w+") as yes:
            yes.write("y\n" * 10)
            yes.seek(0)
            self.said(*gemini, "extensions", "install", self.place, "--consent", stdin=yes)
        self.assertRegex(self.said(*gemini, "mcp", "list"), f"{PROGRAM} serve .*Connected")
        self.said(*gemini, "extensions", "uninstall", NAME)
        self.assertNotIn(PROGRAM, self.said(*gemini, "extensions", "list") + self.said(*gemini, "mcp", "list"))

    def test_portable(self):
        """the files fit Agent Plugins 1.0.0"""
        place = self.place
        self.assertEqual(checks.plugin(json.loads((place / "plugin.json").read_text()),
                                       json.loads((place / "mcp.json").read_text())), [])
        self.assertEqual(checks.skill((place / "skills/airlock/SKILL.md").read_text(), "airlock"), [])


class Install(Case):
    """install.sh, from a server on loopback."""

    def setUp(self):
        super().setUp()
        self.files = self.dir / "release"
        self.files.mkdir()
        for path in (*DIST.glob("SHA256SUMS*"), DIST / manifests.TARBALL):
            shutil.copy(path, self.files)
        self.env |= {"AIRLOCK_BASE_URL": self.serving(self.files)}
        self.user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if not os.geteuid() else []
        if self.user:
            self.needs("setpriv")
            for path in (self.dir, self.home):
                os.chown(path, 65534, 65534)
        self.prefix = self.home / ".local"

    def script(self, *words, good=True, shell="sh", script=None):
        return run(*self.user, shell, script or DIST / "install.sh", *words, env=self.env, good=good)

    def tree(self):
        return sorted(path.relative_to(self.home).as_posix() for path in self.home.rglob("*"))

    def test_life(self):
        """installed, installed again over an older one, and uninstalled: nothing is left"""
        (self.prefix / "bin").mkdir(parents=True)
        (self.prefix / "bin/mine").write_text("mine\n")
        for path in (self.prefix, self.prefix / "bin"):
            os.chown(path, *((65534, 65534) if self.user else (-1, -1)))
        before = self.tree()
        said = self.script()
        self.assertIn(f"Installed airlock {VERSION}", said)
        self.assertIn("airlock install claude-code", said)
        self.assertIn("PATH", said)
        self.assertEqual(run(self.prefix / "bin/airlock", "--version", env=self.env).splitlines()[0],
                         f"airlock {VERSION}")
        first = self.tree()
        listed = self.prefix / f"share/{NAME}/installed"
        (self.prefix / "share/of-the-old-one").write_text("x\n")
        listed.write_text(listed.read_text() + "share/of-the-old-one\n")
        self.script()
        self.assertEqual(self.tree(), first)
        self.script("--uninstall")
        self.assertEqual(self.tree(), before)
        self.assertEqual(self.script("--uninstall", good=False)[0], 1)

    def test_shells(self):
        """it works in every shell that is here, with curl and with wget"""
        for shell in (["dash"], ["bash", "--posix"], ["busybox", "sh"]):
            if shutil.which(shell[0]):
                run(*self.user, *shell, DIST / "install.sh", env=self.env)
                run(*self.user, *shell, DIST / "install.sh", "--uninstall", env=self.env)
        if shutil.which("wget") and shutil.which("curl"):
            bins = self.dir / "bin"
            bins.mkdir()
            for name in ("sh", "id", "uname", "mktemp", "rm", "wget", "grep", "sha256sum", "tar", "xz", "mkdir",
                         "find", "cut", "cp", "mv", "dirname", "head", "sort", "rmdir"):
                (bins / name).symlink_to(shutil.which(name))
            self.env["PATH"] = str(bins)
            run(*[shutil.which(word) or word for word in self.user[:1]], *self.user[1:],
                bins / "sh", DIST / "install.sh", env=self.env)

    def refused(self, reason):
        code, text = self.script(good=False)
        self.assertEqual(code, 1, text)
        self.assertIn(reason, text)
        self.assertEqual(self.tree(), [])

    def test_truncated(self):
        """a file that is cut short is not installed"""
        path = self.files / manifests.TARBALL
        path.write_bytes(path.read_bytes()[:-1000])
        self.refused("is not what SHA256SUMS says")

    def test_wrong_sum(self):
        """a wrong sum, and a list without the file, are refused"""
        sums = self.files / "SHA256SUMS"
        for change in (lambda text: re.sub(r"(?m)^[0-9a-f]{8}", "00000000", text), lambda text: ""):
            sums.write_text(change((DIST / "SHA256SUMS").read_text()))
            code, text = self.script(good=False)
            self.assertEqual((code, self.tree()), (1, []), text)

    def test_missing(self):
        """a server without the file is named"""
        (self.files / manifests.TARBALL).unlink()
        self.refused("cannot get http://127.0.0.1")

    def test_no_permission(self):
        """without permission to write nothing is written, and it says where"""
        self.home.chmod(0o500)
        if not self.user:
            self.addCleanup(self.home.chmod, 0o700)
        self.refused("cannot write below")

    def test_other_machine(self):
        """another CPU is told that there is no program for it"""
        bins = self.dir / "bin"
        bins.mkdir()
        (bins / "uname").write_text("#!/bin/sh\n[ \"$1\" = -s ] && echo Linux || echo aarch64\n")
        (bins / "uname").chmod(0o755)
        self.env["PATH"] = f"{bins}:{self.env['PATH']}"
        self.refused("there is no program for Linux on aarch64")

    def test_signature(self):
        """with a signer in the script, the list of sums must have a good signature"""
        self.needs("ssh-keygen")
        key = self.dir / "key"
        for name in ("key", "other"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.dir / name)
        script = self.dir / "install.sh"
        public = " ".join((self.dir / "key.pub").read_text().split()[:2])
        script.write_text(manifests.filled("install.sh", signer=public))
        sign = lambda file: run("ssh-keygen", "-Y", "sign", "-n", NAME, "-f", file, self.files / "SHA256SUMS")
        (self.files / "SHA256SUMS.sig").unlink(missing_ok=True)
        self.assertIn("cannot get", self.script(script=script, good=False)[1])
        sign(self.dir / "other")
        self.assertIn("signature", self.script(script=script, good=False)[1])
        self.assertEqual(self.tree(), [])
        (self.files / "SHA256SUMS.sig").unlink()
        sign(key)
        self.script(script=script)
        self.assertTrue((self.prefix / "bin/airlock").exists())


class Again(Case):
    """The release as a whole."""

    def test_sums(self):
        """SHA256SUMS has every file with its sum, and the signature is good if there is one"""
        listed = dict(reversed(line.split("  ")) for line in (DIST / "SHA256SUMS").read_text().splitlines())
        there = {path.name for path in DIST.iterdir()} - {"SHA256SUMS", "SHA256SUMS.sig"}
        self.assertEqual(set(listed), there)
        for name, digest in listed.items():
            self.assertEqual(hashlib.sha256((DIST / name).read_bytes()).hexdigest(), digest, name)

    def test_same_bytes(self):
        """made again in another directory, with another umask, time zone and locale, all is the same"""
        out = self.dir / "another place/dist"
        env = os.environ | {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "LANG": "tr_TR.UTF-8", "USER": "other",
                            "HOME": os.environ["HOME"]}
        os.umask(0o077)
        run(sys.executable, HERE / "dist.py", out, self.dir / "elsewhere/made", env=env)
        os.umask(0o022)
        names = sorted(path.name for path in DIST.iterdir())
        self.assertEqual(sorted(path.name for path in out.iterdir()), names)
        self.assertEqual([name for name in names if (DIST / name).read_bytes() != (out / name).read_bytes()], [])

    def test_left_out(self):
        """a build without libmicrohttpd, ncurses and libyaml says so, and works"""
        self.needs("meson", "ninja")
        build = self.dir / "build"
        run("meson", "setup", build, TOP, "-Dhttp=disabled", "-Dscreen=disabled", "-Dworkers=disabled",
            "-Dbuildtype=debug")
        run("ninja", "-C", build, "airlock")
        repository = self.repository()
        program = build / "airlock"
        self.assertIn("built without http screen workers\n", run(program, "--version", env=self.env))
        self.assertIn("git_commit", tools_of([program, "serve", "--root", repository], env=self.env))
        self.assertIn("built without libmicrohttpd", run(
            program, "serve", "--http", "127.0.0.1:0", "--no-token", "--root", repository, good=False,
            env=self.env)[1])
        worker = self.dir / "worker.md"
        worker.write_text("---\nname: w\n---\n")
        self.assertIn("built without libyaml", run(
            program, "serve", "--worker", worker, "--root", repository, good=False, env=self.env)[1])
        run(program, "review", "--list", env=self.env)


harness.main()
