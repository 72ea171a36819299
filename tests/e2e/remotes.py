# SPDX-License-Identifier: Apache-2.0
"""The base of tests of remotes: a repository, and a bare one beside it."""
import harness
import workflow


class Case(workflow.Case):
    """`repo` with one commit, and the bare repository `hub.git` beside it, both inside the root."""

    def setUp(self):
        super().setUp()
        self.top, self.root = self.root, self.root / "repo"
        self.init(self.root)
        self.hub = self.top / "hub.git"
        self.git("init", "-q", "--bare", str(self.hub))

    def call(self, tool, arguments=None, *options, **named):
        arguments = {"cwd": str(self.root), **(arguments or {})}
        return super().call(tool, arguments, *options, root=named.pop("root", self.top), **named)

    def with_origin(self):
        """`origin` is the hub, and has main."""
        self.git("remote", "add", "origin", str(self.hub))
        self.git("push", "-q", "-u", "origin", "main")

    def list_servers(self, *hosts):
        """What the user writes down for servers that get credentials."""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"[tools.git]\ncredential_hosts = {list(hosts)}\n", encoding="utf-8")

    def elsewhere(self, name="b.txt", content="b\n", branch="main"):
        """Another user commits to the hub; gives the commit."""
        other = self.base / "other"
        if not other.exists():
            self.git("clone", "-q", str(self.hub), str(other), cwd=self.base)
        self.git("fetch", "-q", cwd=other)
        self.git("checkout", "-q", "-B", branch, "origin/main", cwd=other)
        commit = self.commit(name, content, "elsewhere", other)
        self.git("push", "-q", "origin", branch, cwd=other)
        return commit

    def at_hub(self, branch="main"):
        """What a branch of the hub is."""
        return self.out("rev-parse", "--verify", "refs/heads/" + branch, cwd=self.hub).strip()

    def here(self, name="HEAD"):
        """What a revision is here."""
        return self.out("rev-parse", "--verify", name).strip()


class Session(Case):
    """A session in which the user can be asked."""

    def setUp(self):
        super().setUp()
        self.with_origin()
        self.session = None

    def start(self, *options, kind=harness.AskingServer):
        """The session begins."""
        self.session = kind(self, "--toolset", "workflow", "--root", str(self.top), *options)

    def arguments(self, arguments):
        """With the repository they are for."""
        return {"cwd": str(self.root), **(arguments or {})}

    def quiet(self, tool, arguments=None):
        """A call that works and asks nothing."""
        return self.session.ok(tool, self.arguments(arguments))

    def asked(self, decision, tool, arguments=None):
        """A call that is asked about; gives what is shown, and the result."""
        return self.session.decided(decision, tool, self.arguments(arguments))

    def add(self, url, name="mine"):
        """What an agent does."""
        self.quiet("git_remote", {"action": "add", "name": name, "url": str(url)})

    def second(self):
        """Another repository of the same root."""
        second = self.top / "second.git"
        self.git("init", "-q", "--bare", str(second))
        return second

    def rename(self, old, new):
        """What an agent does, too."""
        self.quiet("git_remote", {"action": "rename", "name": old, "newName": new})

    def configured(self, text):
        """The user's configuration, of the sessions that follow."""
        config = self.base / "config.toml"
        config.write_text(text, encoding="utf-8")
        return "--config", str(config)
