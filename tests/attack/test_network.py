#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tools that talk to other repositories run nothing, read nothing and go nowhere that either
repository asks for.  Plain git does it first: its canary must fire, else the test proves nothing."""
import http.server
import os
import shutil
import subprocess
import threading

from lab import GIT, GIT_VERSION, HOOKS_ARE_CONFIGURED, MARK, SHOUT, git_interpreter, remove, run, write
from vectors import TESTS, Skip, main

FETCH = ("git_fetch", {}, ("fetch", "origin"))
PUSH = ("git_push", {}, ("push", "origin", "main"))
PULL = ("git_pull", {}, ("pull", "--no-edit", "origin", "main"))
REBASE = ("git_pull", {"rebase": True}, ("pull", "--rebase", "origin", "main"))


class Place:
    """A root with `repo` and its remote `hub.git`, each with a commit the other lacks; outside."""

    def __init__(self, lab):
        self.lab = lab
        remove(lab.case)
        self.root, self.outside = (os.path.join(lab.case, name) for name in ("root", "outside"))
        self.repo, self.hub = (os.path.join(self.root, name) for name in ("repo", "hub.git"))
        os.makedirs(self.outside)
        os.makedirs(self.root)
        write(os.path.join(self.outside, "secret"), MARK + "\n")
        run([GIT, "clone", "-q", "--bare", lab.template, self.hub], lab.env())
        run([GIT, "clone", "-q", self.hub, self.repo], lab.env())
        other = os.path.join(lab.case, "other")
        run([GIT, "clone", "-q", self.hub, other], lab.env())
        for where, name in ((self.repo, "mine"), (other, "theirs")):
            write(os.path.join(where, name), name)
            lab.git_ok(where, "add", name)
            lab.git_ok(where, "commit", "-q", "-m", name)
        lab.git_ok(other, "push", "-q", "origin", "HEAD:news", "HEAD:main")
        self.seen = []  # what a server of the test saw
        self.cleanup = []

    def behind(self):
        """The remote has nothing that is not here, so that a push could work."""
        self.lab.git_ok(self.hub, "update-ref", "refs/heads/main",
                        self.lab.git_ok(self.repo, "rev-parse", "HEAD~1").decode().strip())

    def config(self, *pairs, where=None):
        for key, value in pairs:
            self.lab.git_ok(where or self.repo, "config", "--add", key, value)

    def address(self, url):
        """Another address of origin."""
        self.lab.git_ok(self.repo, "config", "remote.origin.url", url)

    def out(self, name):
        return os.path.join(self.outside, name)

    def script(self, path, then="true"):
        """A program that leaves a trace wherever it may."""
        shout = SHOUT.replace("-", "%s")
        write(path, f"#!/bin/sh\n: >'{self.out('fired')}'; : >'{self.root}/fired'; "
                    f"printf '{shout}\\n' - >&2; {then}\n", 0o755)
        return path

    def hook(self, git_dir, name):
        """A hook of a repository, as Scene.hook()."""
        if HOOKS_ARE_CONFIGURED:
            self.config(("hook.evil.command", self.script(os.path.join(self.root, "canary"))),
                        ("hook.evil.event", name), where=git_dir)
        else:
            self.script(os.path.join(git_dir, "hooks", name))

    def canary(self):
        return self.script(os.path.join(self.root, "canary"), "exit 1")

    def fired(self, output):
        """Why the attack worked, or None."""
        for path in (self.out("fired"), os.path.join(self.root, "fired")):
            if os.path.lexists(path):
                return f"{path} is there"
        if MARK.encode() in output or SHOUT.encode() in output:
            return "the mark is in the output"
        with open(os.path.join(self.repo, ".git/config"), encoding="utf-8") as config:
            if SHOUT in config.read():
                return "a server wrote into the configuration"
        if any(MARK in seen or "evil" in seen for seen in self.seen):
            return f"a server saw {self.seen}"
        with open(self.out("secret"), encoding="ascii") as secret:
            if secret.read() != MARK + "\n":
                return "the secret was overwritten"
        said = self.lab.git(self.repo, "log", "-3", "--format=%B").out
        return "the mark is in a message" if MARK.encode() in said else None

    def serve(self, name, status=401, headers=()):
        """A web server that writes down who came; gives its port."""
        place = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                place.seen.append(f"{name} {self.path} {self.headers}")
                self.send_response(status)
                self.send_header("WWW-Authenticate", 'Basic realm="x"')
                for key, value in headers:
                    self.send_header(key, value)
                self.end_headers()

            do_CONNECT = do_POST = do_GET

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.cleanup += [server.shutdown, server.server_close]
        return server.server_port

    def close(self):
        for step in self.cleanup:
            step()


def attack(*verbs, works=False, needs=None):
    """Register a builder: plain git must fire for each verb and airlock must not.

    works   the call succeeds all the same: what the repository asked for has no effect
    needs   words that have to be in a refusal
    """
    def register(build):
        for tool, args, words in verbs:
            def test(lab, controls_only, tool=tool, args=args, words=words):
                place = Place(lab)
                build(place)
                done = lab.git(place.repo, *words)
                why = place.fired(done.all)
                place.close()
                assert why, f"plain git did not fall for it: {done.all.decode()}"
                if controls_only:
                    return
                place = Place(lab)
                build(place)
                answer = lab.airlock(tool, {**args, "cwd": place.repo}, place.root, "--toolset",
                                     "workflow")
                why = place.fired(answer.text.encode())
                place.close()
                assert not why, f"{why}: {answer.text}"
                assert not works or answer.kind is None, answer.text
                assert works or answer.kind, "it was not refused"
                assert not needs or needs in answer.text, answer.text
            TESTS.append((f"{tool}: {build.__doc__}", test))
        return build
    return register


@attack(FETCH, PULL, REBASE, works=True)
def uploadpack(p):
    """remote.origin.uploadpack"""
    p.config(("remote.origin.uploadpack", p.canary()))


@attack(PUSH, works=True)
def receivepack(p):
    """remote.origin.receivepack"""
    p.behind()
    p.config(("remote.origin.receivepack", p.canary()))


@attack(FETCH, PUSH, PULL, needs="helper")
def ext_address(p):
    """an address with ext::"""
    p.address(f"ext::{p.canary()}")
    p.config(("protocol.ext.allow", "always"))


@attack(FETCH, PULL, needs="insteadof")
def instead_of(p):
    """url.*.insteadOf of the repository"""
    p.config((f"url.ext::{p.canary()} .insteadOf", p.hub), ("protocol.ext.allow", "always"))


@attack(PUSH, needs="pushinsteadof")
def push_instead_of(p):
    """url.*.pushInsteadOf of the repository"""
    p.config((f"url.ext::{p.canary()} .pushInsteadOf", p.hub), ("protocol.ext.allow", "always"))


@attack(PUSH, needs="helper")
def push_url(p):
    """remote.origin.pushurl with ext::"""
    p.config(("remote.origin.pushurl", f"ext::{p.canary()}"), ("protocol.ext.allow", "always"))


@attack(FETCH, PUSH)
def ssh_command(p):
    """core.sshCommand"""
    p.address("ssh://127.0.0.1:1/hub")
    p.config(("core.sshCommand", p.canary()))


@attack(FETCH)
def ssh_variant(p):
    """core.sshCommand with ssh.variant"""
    p.address("127.0.0.1:hub")
    p.config(("core.sshCommand", p.canary()), ("ssh.variant", "simple"))


@attack(FETCH)
def git_proxy(p):
    """core.gitProxy"""
    p.address("git://127.0.0.1:1/hub")
    p.config(("core.gitProxy", p.canary()))


@attack(FETCH, PUSH)
def credential_helper(p):
    """credential.helper"""
    p.address(f"http://127.0.0.1:{p.serve('good')}/hub")
    p.config(("credential.helper", "!" + p.canary()))


@attack(FETCH)
def credential_helper_of_the_address(p):
    """credential.<url>.helper"""
    url = f"http://127.0.0.1:{p.serve('good')}"
    p.address(url + "/hub")
    p.config((f"credential.{url}.helper", p.canary()))


@attack(FETCH)
def ask_pass(p):
    """core.askPass"""
    p.address(f"http://127.0.0.1:{p.serve('good')}/hub")
    p.config(("core.askPass", p.canary()))


@attack(FETCH)
def http_proxy(p):
    """http.proxy"""
    p.address(f"http://127.0.0.1:{p.serve('good')}/hub")
    p.config(("http.proxy", f"http://127.0.0.1:{p.serve('evil')}"))


@attack(FETCH)
def http_proxy_of_the_address(p):
    """http.<url>.proxy"""
    url = f"http://127.0.0.1:{p.serve('good')}"
    p.address(url + "/hub")
    p.config((f"http.{url}/hub.proxy", f"http://127.0.0.1:{p.serve('evil')}"))


@attack(FETCH)
def remote_proxy(p):
    """remote.origin.proxy"""
    p.address(f"http://127.0.0.1:{p.serve('good')}/hub")
    p.config(("remote.origin.proxy", f"http://127.0.0.1:{p.serve('evil')}"))


@attack(FETCH)
def cookie_file(p):
    """http.cookieFile, which sends a file to the server"""
    write(p.out("cookies"), f"127.0.0.1\tFALSE\t/\tFALSE\t0\tx\t{MARK}\n")
    p.address(f"http://127.0.0.1:{p.serve('good')}/hub")
    p.config(("http.cookieFile", p.out("cookies")))


@attack(FETCH, works=True)
def save_cookies(p):
    """http.saveCookies, which overwrites a file"""
    p.address(f"http://127.0.0.1:{p.serve('good', 200, [('Set-Cookie', 'a=b; Max-Age=9')])}/hub")
    p.config(("http.cookieFile", p.out("secret")), ("http.saveCookies", "true"))


@attack(FETCH)
def resolve(p):
    """http.curloptResolve, which leads a name to another machine"""
    port = p.serve("evil")
    p.address(f"http://good.invalid:{port}/hub")
    p.config(("http.curloptResolve", f"good.invalid:{port}:127.0.0.1"))


@attack(FETCH)
def extra_header(p):
    """http.extraHeader"""
    p.address(f"http://127.0.0.1:{p.serve('good')}/hub")
    p.config(("http.extraHeader", "X: evil"))


@attack(PUSH, works=True)
def pre_push(p):
    """the hook pre-push"""
    p.behind()
    p.hook(os.path.join(p.repo, ".git"), "pre-push")


def register_hooks():
    for name in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        def build(p, name=name):
            p.behind()
            p.hook(p.hub, name)
        build.__doc__ = f"the hook {name} of a remote on this machine"
        attack(PUSH, works=True)(build)


register_hooks()


@attack(PUSH)
def proc_receive(p):
    """the hook proc-receive of a remote on this machine"""
    p.behind()
    p.config(("receive.procReceiveRefs", "refs/heads"), where=p.hub)
    p.script(os.path.join(p.hub, "hooks/proc-receive"))


def working_tree(p, *config):
    """origin is a working tree that has main, and a push brings the file `fired` into it."""
    p.lab.git_ok(p.repo, "push", "-q", "-f", p.hub, "HEAD~1:main")
    p.lab.git_ok(p.root, "init", "-q", "-b", "main")
    p.lab.git_ok(p.root, "pull", "-q", p.hub, "main")
    p.config(*config, where=p.root)
    write(os.path.join(p.repo, "fired"), "pushed")
    p.lab.git_ok(p.repo, "add", "fired")
    p.lab.git_ok(p.repo, "commit", "-q", "-m", "fired")
    p.address(p.root)


UPDATES = ("receive.denyCurrentBranch", "updateInstead")


@attack(PUSH, needs="checked out")
def update_instead(p):
    """receive.denyCurrentBranch of a working tree, which would get the files of a push"""
    working_tree(p, UPDATES)


@attack(PUSH, needs="checked out")
def update_instead_included(p):
    """the same key in a file that the configuration over there includes"""
    working_tree(p, ("include.path", os.path.join(p.root, "more")))
    write(os.path.join(p.root, "more"), "[receive]\n\tdenyCurrentBranch = updateInstead\n")


@attack(PUSH, needs="checked out")
def update_linked(p):
    """the same key where a linked worktree has the branch"""
    working_tree(p, UPDATES)
    p.lab.git_ok(p.root, "checkout", "-q", "--detach")
    linked = os.path.join(p.lab.case, "linked")
    p.lab.git_ok(p.root, "worktree", "add", "-q", linked, "main")
    p.fired = lambda output: os.path.exists(os.path.join(linked, "fired")) and "files came"


@attack(PUSH, needs="checked out")
def push_to_checkout(p):
    """the hook push-to-checkout of a working tree"""
    working_tree(p, UPDATES)
    p.hook(os.path.join(p.root, ".git"), "push-to-checkout")


@attack(PUSH, needs="checked out")
def fsmonitor_there(p):
    """core.fsmonitor of a working tree that would be updated by a push"""
    working_tree(p, UPDATES, ("core.fsmonitor", p.canary()))


@attack(PUSH, works=True)
def alternate_refs_there(p):
    """core.alternateRefsCommand of a remote on this machine"""
    p.behind()
    write(os.path.join(p.hub, "objects/info/alternates"), os.path.join(p.repo, ".git/objects"))
    p.config(("core.alternateRefsCommand", p.canary()), where=p.hub)


@attack(FETCH, works=True)
def alternate_refs_here(p):
    """core.alternateRefsCommand here"""
    write(os.path.join(p.repo, ".git/objects/info/alternates"), os.path.join(p.hub, "objects"))
    p.config(("core.alternateRefsCommand", p.canary()))


@attack(FETCH, PULL, works=True)
def submodules(p):
    """fetch.recurseSubmodules, into a repository with a program of its own"""
    sub = os.path.join(p.repo, "sub")
    run([GIT, "clone", "-q", p.hub, sub], p.lab.env())
    p.config(("remote.origin.uploadpack", p.canary()), where=sub)
    write(os.path.join(p.repo, ".gitmodules"),
          f'[submodule "sub"]\n\tpath = sub\n\turl = {p.hub}\n')
    p.lab.git_ok(p.repo, "add", "-A")
    p.lab.git_ok(p.repo, "commit", "-q", "-m", "sub")
    p.config(("fetch.recurseSubmodules", "true"), ("submodule.recurse", "true"),
             ("submodule.sub.url", p.hub), ("submodule.active", "."))


@attack(("git_push", {"remote": "d/x"}, ("push", "d/x", "main")), works=True)
def loader(p):
    """a remote called d/x, a program of that name, and pre-push as a link to the loader"""
    if not shutil.which("cc"):
        raise Skip("no compiler here")
    p.behind()
    source = os.path.join(p.lab.case, "x.c")
    write(source, f'#include <fcntl.h>\nint main(void) {{ creat("{p.out("fired")}", 0644); '
                  f'creat("{p.root}/fired", 0644); return 0; }}\n')
    os.makedirs(os.path.join(p.repo, "d"), exist_ok=True)
    subprocess.run(["cc", "-o", os.path.join(p.repo, "d/x"), source], check=True)
    os.chmod(os.path.join(p.repo, "d/x"), 0o644)
    hook = os.path.join(p.repo, ".git/hooks/pre-push")
    remove(hook)
    os.makedirs(os.path.dirname(hook), exist_ok=True)
    os.symlink(git_interpreter(), hook)
    p.config(("remote.d/x.url", p.hub))


@attack(REBASE, works=True)
def instruction_format(p):
    """rebase.instructionFormat with a newline, which adds a line to what is done"""
    p.config(("rebase.instructionFormat", f"%s%nexec {p.canary()}"))


@attack(("git_pull", {}, ("pull", "origin", "main")), works=True)
def merge_options(p):
    """branch.main.mergeOptions with a file outside as the message"""
    p.config(("branch.main.mergeOptions", f"--no-ff -F {p.out('secret')}"), ("pull.rebase", "no"))


@attack(("git_pull", {}, ("pull", "origin", "main")), works=True)
def sequence_editor(p):
    """pull.rebase=interactive with sequence.editor"""
    p.config(("pull.rebase", "interactive"), ("sequence.editor", p.canary()))


@attack(FETCH, PULL, works=True)
def promisor_remote(p):
    """promisor.acceptFromServer and storeFields, with which a server writes into the configuration (git 2.54)"""
    if GIT_VERSION < (2, 54):
        raise Skip("this git stores nothing that a server says")
    p.config(("promisor.advertise", "true"), ("promisor.sendFields", "token"), ("remote.lop.promisor", "true"),
             ("remote.lop.url", p.out("lop")), ("remote.lop.token", SHOUT), where=p.hub)
    p.config(("promisor.acceptFromServer", "all"), ("promisor.storeFields", "token"),
             ("remote.lop.promisor", "true"), ("remote.lop.url", p.out("lop")))


@attack(FETCH)
def fetch_head(p):
    """FETCH_HEAD as a link to a file outside"""
    path = os.path.join(p.repo, ".git/FETCH_HEAD")
    remove(path)
    os.symlink(p.out("secret"), path)


@attack(FETCH)
def alternates_there(p):
    """objects of a remote that lie outside"""
    os.rename(os.path.join(p.hub, "objects"), p.out("objects"))
    os.makedirs(os.path.join(p.hub, "objects/info"))
    write(os.path.join(p.hub, "objects/info/alternates"), p.out("objects"))
    p.lab.git_ok(p.hub, "update-ref", "refs/heads/fired", "main")
    p.fired = lambda output: p.lab.git(p.repo, "rev-parse", "-q", "--verify",
                                       "refs/remotes/origin/fired").out


if __name__ == "__main__":
    main()
