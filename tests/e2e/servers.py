# SPDX-License-Identifier: Apache-2.0
"""Real servers for git on loopback: `git daemon`, sshd and smart HTTP.  Each serves a directory of
the test on a free port, and is stopped by its process id at the end of the test."""
import base64
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import ssl
import subprocess
import threading

WAIT_SECONDS = 540  # a server that is not there by then is broken
PORTS_MAX = 5  # tried before a server that does not start counts as broken


class NotStarted(AssertionError):
    """A server that was not ready in time."""


def free_port():
    """A port nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def on_a_free_port(start):
    """Call start(port) with a free port; gives the port and the process.  Another test may take the
    port first, so a server that does not start is tried again on another port."""
    for _ in range(PORTS_MAX - 1):
        with contextlib.suppress(NotStarted):
            port = free_port()
            return port, start(port)
    port = free_port()
    return port, start(port)


def program(name, *places):
    """Where a program is; the test fails when it is nowhere."""
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))
    if not found:
        raise AssertionError(f"{name} is missing: run 'make test-deps'")
    return found


class Process:
    """A server in the foreground; `ready` is what it prints when it is ready."""

    def __init__(self, case, argv, ready, env=None):
        self.process = subprocess.Popen(argv, env=env or case.env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        start_new_session=True)
        self.said, self.is_ready = [], False
        case.addCleanup(self.stop)
        came = threading.Event()
        self.reader = threading.Thread(target=self.read, args=(ready, came), daemon=True)
        self.reader.start()
        if not came.wait(WAIT_SECONDS) or not self.is_ready:
            raise NotStarted(f"{argv[0]} did not start: {b''.join(self.said).decode()}")

    def read(self, ready, came):
        """Collect what it prints, so that its pipe never fills up."""
        for line in self.process.stderr:
            self.said.append(line)
            if ready in line:
                self.is_ready = True
                came.set()
        came.set()

    def stop(self):
        """End it with everything it started, which is in its session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=WAIT_SECONDS)
        self.reader.join(WAIT_SECONDS)
        self.process.stderr.close()


class Daemon:
    """`git daemon`: git://127.0.0.1:PORT/NAME, pushing allowed."""

    def __init__(self, case, base):
        self.port, self.process = on_a_free_port(lambda port: Process(
            case, [program("git"), "daemon", "--verbose", "--reuseaddr", "--export-all",
                   "--listen=127.0.0.1", f"--port={port}", f"--base-path={base}",
                   "--enable=receive-pack", str(base)], b"Ready to rumble"))

    def url(self, name):
        """The address of a repository."""
        return f"git://127.0.0.1:{self.port}/{name}"


SSHD_CONFIG = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {keys}/host
AuthorizedKeysFile {keys}/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
"""


class Sshd:
    """sshd for the user who runs the test, with keys made for it; ssh://127.0.0.1:PORT/PATH.

    ssh looks the home directory up in /etc/passwd and not in the environment, so airlock is run
    where /etc/passwd names the test's home: `at_home()`.
    """

    def __init__(self, case, base):
        self.case, self.base = case, base
        self.keys = case.base / "sshd"
        self.keys.mkdir()
        dot_ssh = case.home / ".ssh"
        dot_ssh.mkdir(mode=0o700)
        for path in (self.keys / "host", dot_ssh / "id_ed25519"):
            subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f",
                            str(path)], check=True)
        shutil.copy(dot_ssh / "id_ed25519.pub", self.keys / "authorized")
        config = self.keys / "config"
        argv = [program("sshd", "/usr/sbin"), "-D", "-e", "-f", str(config)]
        if os.geteuid() == 0:  # privilege separation wants a directory that only an install makes
            argv = [program("unshare"), "--mount", "sh", "-c",
                    'mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec "$@"', "sh", *argv]

        def start(port):
            config.write_text(SSHD_CONFIG.format(port=port, keys=self.keys), encoding="utf-8")
            return Process(case, argv, b"Server listening on")

        self.port, self.process = on_a_free_port(start)
        self.passwd = case.base / "passwd"
        name = pwd.getpwuid(os.geteuid()).pw_name
        entry = ":".join((name, "x", "0", "0", "", str(case.home), "/bin/sh"))
        self.passwd.write_text(entry + "\n", encoding="utf-8")

    def url(self, name):
        """The address of a repository."""
        return f"ssh://127.0.0.1:{self.port}{self.base}/{name}"

    def trust(self):
        """Accept the host key, as a user does at the first connection."""
        kind, key = (self.keys / "host.pub").read_text(encoding="utf-8").split()[:2]
        (self.case.home / ".ssh/known_hosts").write_text(
            f"[127.0.0.1]:{self.port} {kind} {key}\n", encoding="utf-8")

    def at_home(self, argv):
        """A command line that runs where the test's home is the one ssh looks in."""
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        return [program("unshare"), *user, "--mount", "sh", "-c",
                'mount --bind "$0" /etc/passwd && exec "$@"', str(self.passwd), *argv]


LIGHTTPD_CONFIG = """\
server.modules = ("mod_alias", "mod_setenv", "mod_cgi")
server.document-root = "{base}"
server.bind = "127.0.0.1"
server.port = {port}
server.max-request-size = 0
server.stream-response-body = 2
alias.url = ("/git" => "{backend}", "/private" => "{door}")
cgi.assign = ("" => "")
setenv.set-environment = ("GIT_PROJECT_ROOT" => "{base}", "GIT_HTTP_EXPORT_ALL" => "1",
                          "PATH" => "{path}", "HOME" => "{home}")
"""

# lighttpd's own waits for a second before it says no.
DOOR = """\
#!/bin/sh
if [ "$HTTP_AUTHORIZATION" = "Basic {token}" ]; then
    export REMOTE_USER={user}
    exec '{backend}'
fi
printf 'Status: 401 Unauthorized\\r\\nWWW-Authenticate: Basic realm="git"\\r\\n\\r\\n'
"""


class Http:
    """`git http-backend` behind lighttpd: /git/NAME for all, /private/NAME for user:password."""

    user, password = "person", "pass:word@1"

    def __init__(self, case, base):
        exec_path = subprocess.run([program("git"), "--exec-path"], check=True,
                                   capture_output=True, text=True).stdout.strip()
        backend = pathlib.Path(exec_path) / "git-http-backend"
        door, config = case.base / "door", case.base / "lighttpd.conf"
        token = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        door.write_text(DOOR.format(token=token, user=self.user, backend=backend), encoding="utf-8")
        door.chmod(0o755)

        def start(port):
            config.write_text(LIGHTTPD_CONFIG.format(
                base=base, port=port, door=door, home=case.home, path=os.environ["PATH"],
                backend=backend), encoding="utf-8")
            return Process(case, [program("lighttpd", "/usr/sbin"), "-D", "-f", str(config)],
                           b"server started")

        self.port, self.process = on_a_free_port(start)

    def url(self, name, user=""):
        """The address of a repository that everybody may read."""
        return f"http://{user}127.0.0.1:{self.port}/git/{name}"

    def private(self, name, user=""):
        """The address of a repository behind a password."""
        return f"http://{user}127.0.0.1:{self.port}/private/{name}"


class Silent:
    """Accepts connections and never sends a byte."""

    def __init__(self, case):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        case.addCleanup(self.listener.close)


class Cut:
    """Forwards connections to another port, and cuts each after a number of bytes came back."""

    def __init__(self, case, port, after):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.target, self.after = self.listener.getsockname()[1], port, after
        # Not closed before its thread is done with it: that would take connections of the next
        # listener of the same number.
        case.addCleanup(self.listener.shutdown, socket.SHUT_RDWR)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        """One connection after the other, until the listener is closed."""
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.target))
                threading.Thread(target=self.forward, args=(client, server), daemon=True).start()
                self.back(server, client)

    @staticmethod
    def forward(source, target):
        """Forward all that the client sends."""
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                target.sendall(piece)

    def back(self, server, client):
        """Forward what the server sends, up to the cut."""
        left = self.after
        with contextlib.suppress(OSError):
            while left and (piece := server.recv(min(left, 65536))):
                client.sendall(piece)
                left -= len(piece)
        for end in (client, server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Held(Cut):
    """Forwards connections, and holds back what follows a number of bytes until `go` is set."""

    def __init__(self, case, port, after):
        self.go = threading.Event()
        super().__init__(case, port, after)

    def back(self, server, client):
        left = self.after
        with contextlib.suppress(OSError):
            while piece := server.recv(min(left, 65536) or 65536):
                client.sendall(piece)
                left -= min(left, len(piece))
                if not left:
                    self.go.wait(WAIT_SECONDS)
        client.close()


class Tls(Cut):
    """https in front of a server of http, with a certificate of its own for localhost."""

    def __init__(self, case, port):
        self.certificate, key = case.base / "certificate.pem", case.base / "key.pem"
        subprocess.run([program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
                        "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-keyout", str(key), "-out", str(self.certificate)], check=True,
                       stderr=subprocess.DEVNULL)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)
        super().__init__(case, port, 0)

    def serve(self):
        while True:
            try:
                plain = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.terminate, args=(plain,), daemon=True).start()

    def terminate(self, plain):
        """One connection, until either side closes it."""
        with contextlib.suppress(OSError):
            client = self.context.wrap_socket(plain, server_side=True)
            server = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self.forward, args=(client, server), daemon=True).start()
            while piece := server.recv(65536):
                client.sendall(piece)
            client.unwrap()
        plain.close()
