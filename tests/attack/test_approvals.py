#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An approval counts for what was shown and for nothing else.

For each operation that asks, what it depends on is changed while the question is open, and again
while the checkpoint is taken, which is after the answer.  The control is plain git: with the change
in between the same command must come to something else, or the change would prove nothing.
"""
import fcntl
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position

WORKFLOW = ("--toolset", "workflow")


def swap_in_index(case, path, old, new):
    """Replace one blob id in a file of the git directory and leave its checksum as it was."""
    data = path.read_bytes()
    changed = data.replace(bytes.fromhex(old), bytes.fromhex(new))
    case.assertNotEqual(data, changed)
    path.write_bytes(changed)


class Scene:
    """What is set up, asked for and changed.  `look` is what an operation comes to."""

    def __init__(self, tool, arguments, plain, setup, change, *options):
        self.tool, self.arguments, self.plain = tool, arguments, plain
        self.setup, self.change, self.options = setup, change, options


def evil_blob(case):
    """A file that nobody was shown, in the object store."""
    return case.out("hash-object", "-w", "--stdin", stdin=b"evil\n").strip()


def stage(case):
    """One staged change; its blob and another one."""
    case.write("a.txt", "good\n")
    case.git("add", "a.txt")
    case.good, case.evil = case.out("rev-parse", ":a.txt").strip(), evil_blob(case)


def stage_split(case):
    """The same in a split index, where most entries are in another file."""
    stage(case)
    case.git("update-index", "--add", "--cacheinfo", f"100644,{case.good},s.txt")
    case.git("update-index", "--split-index")
    case.shared = case.root / case.out("rev-parse", "--shared-index-path").strip()


def two_branches(case):
    """main, and `topic` with one commit more; `evil` has another one."""
    case.git("checkout", "-q", "-b", "topic")
    case.commit("b.txt", "good\n", "good")
    case.git("checkout", "-q", "-b", "evil", "main")
    case.commit("b.txt", "evil\n", "evil")
    case.git("checkout", "-q", "topic")
    case.git("checkout", "-q", "main")


def move_topic(case):
    """The branch is somewhere else."""
    case.git("update-ref", "refs/heads/topic", "refs/heads/evil")


def conflict(case):
    """A merge that stopped."""
    case.git("checkout", "-q", "-b", "topic")
    case.commit("a.txt", "theirs\n", "theirs")
    case.git("checkout", "-q", "main")
    case.commit("a.txt", "ours\n", "ours")
    case.git("merge", "topic", check=False)


def edited(case):
    """A change that is not staged."""
    case.write("a.txt", "mine\n")


def two_stashes(case):
    """Two entries."""
    for text in ("one stash\n", "other stash\n"):
        case.write("a.txt", text)
        case.git("stash", "push", "-q")


def push_stash(case):
    """Another entry is the first one now."""
    case.write("a.txt", "evil stash\n")
    case.git("stash", "push", "-q")


def bare_remote(case):
    """A remote in the roots that has main, and a main here that replaces it."""
    case.git("init", "-q", "--bare", "remote.git")
    case.git("init", "-q", "--bare", "evil.git")
    case.git("remote", "add", "origin", str(case.root / "remote.git"))
    case.git("push", "-q", "origin", "main")
    case.git("push", "-q", str(case.root / "evil.git"), "main")
    case.git("fetch", "-q", "origin")
    case.git("commit", "-q", "--amend", "-m", "good")
    case.git("branch", "evil", case.out("commit-tree", "-m", "evil", "HEAD^{tree}").strip())


def merge_head(case):
    """A merge is in progress, with one parent and a file of many lines."""
    case.git("checkout", "-q", "-b", "evil")
    case.commit("c.txt", "evil\n", "evil")
    case.git("checkout", "-q", "main")
    stage(case)


def begin_merge(case):
    """The commit gets a second parent."""
    parent = case.out("rev-parse", "evil")
    (case.part(".git/MERGE_HEAD")).write_text(parent * 200, encoding="ascii")


def nested(case, path="sub"):
    """A repository in the working tree, with two commits, at the first of them."""
    case.git("init", "-q", path)
    inner = case.root / path
    for text in ("good", "evil"):
        case.git("commit", "-q", "--allow-empty", "-m", text, cwd=inner)
        case.git("branch", text, cwd=inner)
    case.git("reset", "-q", "good", cwd=inner)
    # Nothing of the directory itself or of what is packed may tell.
    case.git("pack-refs", "--all", cwd=inner)


def nested_goes_on(case, path="sub"):
    """It is at another commit, on the same branch."""
    case.git("reset", "-q", "evil", cwd=case.root / path)


def submodule(case):
    """A repository that the index has as a gitlink, and whose git directory is elsewhere."""
    nested(case)
    case.git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
    case.git("commit", "-q", "-m", "sub")
    case.git("submodule", "--quiet", "absorbgitdirs", check=False)
    case.git("commit", "-q", "--allow-empty", "-m", "mine", cwd=case.root / "sub")


COMMIT = {"type": "feat", "message": "more"}
SCENES = {
    "git_commit: another blob, the old checksum": Scene(
        "git_commit", COMMIT, ("commit", "-qm", "more"), stage,
        lambda case: swap_in_index(case, case.part(".git/index"), case.good, case.evil)),
    "git_commit: the other half of a split index": Scene(
        "git_commit", COMMIT, ("commit", "-qm", "more"), stage_split,
        lambda case: swap_in_index(case, case.shared, case.good, case.evil)),
    "git_commit: a second parent": Scene(
        "git_commit", COMMIT, ("commit", "-qm", "more"), merge_head, begin_merge),
    "git_commit: another branch": Scene(
        "git_commit", COMMIT, ("commit", "-qm", "more"), stage,
        lambda case: case.git("symbolic-ref", "HEAD", "refs/heads/other")),
    "git_commit: another author": Scene(
        "git_commit", COMMIT, ("commit", "-qm", "more"), stage,
        lambda case: case.git("config", "user.name", "Evil")),
    "git_add: another content": Scene(
        "git_add", {"paths": ["a.txt"]}, ("add", "a.txt"), edited,
        lambda case: case.write("a.txt", "evil\n")),
    "git_add: other line ends": Scene(
        "git_add", {"paths": ["a.txt"]}, ("add", "a.txt"),
        lambda case: case.write("a.txt", "x\r\n"),
        lambda case: case.write(".gitattributes", "*.txt text eol=lf\n")),
    "git_add: another commit in a nested repository": Scene(
        "git_add", {"paths": ["sub"]}, ("add", "sub"), nested, nested_goes_on),
    "git_add: another commit in a submodule below": Scene(
        "git_add", {"all": True}, ("add", "-A"), submodule, nested_goes_on),
    "git_restore: more is lost": Scene(
        "git_restore", {"paths": ["a.txt"]}, ("restore", "a.txt"), edited,
        lambda case: (case.write("a.txt", "much more work\n"),
                      case.git("update-index", "--cacheinfo", f"100644,{evil_blob(case)},a.txt"))),
    "git_checkout: another commit behind the branch": Scene(
        "git_checkout", {"branch": "topic"}, ("checkout", "-q", "topic"), two_branches,
        move_topic),
    "git_checkout: another commit behind the tag": Scene(
        "git_checkout", {"commit": "v1"}, ("checkout", "-q", "v1"),
        lambda case: (two_branches(case), case.git("tag", "v1", "topic")),
        lambda case: case.git("tag", "-f", "v1", "evil")),
    "git_branch: the branch to delete moved": Scene(
        "git_branch", {"force_delete": "topic"}, ("branch", "-qD", "topic"),
        lambda case: (two_branches(case), case.git("update-ref", "refs/keep", "topic")),
        lambda case: case.git("update-ref", "refs/heads/topic", case.commit(
            "late.txt", "late\n", "late"))),
    "git_stash: pop brings another entry": Scene(
        "git_stash", {"action": "pop"}, ("stash", "pop", "-q"), two_stashes, push_stash),
    "git_stash: drop loses another entry": Scene(
        "git_stash", {"action": "drop"}, ("stash", "drop", "-q"), two_stashes, push_stash),
    "git_merge: abort loses more": Scene(
        "git_merge", {"branch": "", "abort": True}, ("merge", "--abort"), conflict,
        lambda case: (case.git("add", "a.txt"), case.git("update-ref", "ORIG_HEAD", "HEAD"),
                      (case.part(".git/MERGE_HEAD")).unlink()), *WORKFLOW),
    "git_resolve_conflict: the other side changed": Scene(
        "git_resolve_conflict", {"path": "a.txt", "strategy": "theirs"},
        ("checkout", "--theirs", "a.txt"), conflict,
        lambda case: case.git("update-index", "--index-info", stdin=(
            f"100644 {evil_blob(case)} 3\ta.txt\n").encode()), *WORKFLOW),
    "git_checkout: force loses more": Scene(
        "git_checkout", {"target": "topic", "force": True}, ("checkout", "-qf", "topic"),
        lambda case: (two_branches(case), edited(case)), move_topic, *WORKFLOW),
    "git_push: another commit": Scene(
        "git_push", {"remote": "origin", "branch": "main", "force": True},
        ("push", "-qf", "origin", "main"), bare_remote,
        lambda case: case.git("update-ref", "refs/heads/main", "evil"), *WORKFLOW),
    "git_push: another place": Scene(
        "git_push", {"remote": "origin", "branch": "main", "force": True},
        ("push", "-qf", "origin", "main"), bare_remote,
        lambda case: case.git("remote", "set-url", "origin", str(case.root / "evil.git")),
        *WORKFLOW),
    "git_push: a branch that leads to another": Scene(
        "git_push", {"remote": "origin", "branch": "work", "force": True},
        ("push", "-qf", "origin", "work"),
        lambda case: (bare_remote(case), case.git("branch", "deep", "main"),
                      case.git("symbolic-ref", "refs/heads/work", "refs/heads/deep")),
        lambda case: case.git("update-ref", "refs/heads/deep", "evil"), *WORKFLOW),
    "git_remote: another address is removed": Scene(
        "git_remote", {"action": "remove", "name": "origin"}, ("remote", "remove", "origin"),
        bare_remote,
        lambda case: (case.git("remote", "rename", "origin", "old"),
                      case.git("remote", "add", "origin", "evil.git")),
        *WORKFLOW),
}
for word in ("topic", "heads/topic", "refs/heads/topic", "topic~0", "topic^0", "topic^{commit}",
             "@{-1}"):
    SCENES[f"git_merge: another commit behind {word}"] = Scene(
        "git_merge", {"branch": word}, ("merge", "-q", word), two_branches, move_topic, *WORKFLOW)


class Approvals(harness.Case):
    def look(self):
        """All that an operation can have come to."""
        seen = [self.out(*words, check=False) for words in (
            ("log", "--all", "--format=%an %s %T %P %D"), ("stash", "list", "--format=%H %gs"),
            ("ls-files", "-s"), ("symbolic-ref", "-q", "HEAD"), ("config", "--list", "--local"))]
        for name in ("remote.git", "evil.git"):
            if (self.root / name).exists():
                seen.append(self.out("for-each-ref", cwd=self.root / name))
        return seen + [(self.root / "a.txt").read_bytes()]

    def begin(self, scene):
        """The repository of a scene."""
        self.root = self.base / f"root{len(list(self.base.iterdir()))}"
        self.root.mkdir()
        self.commits = 0
        self.init()
        scene.setup(self)

    def control(self, scene):
        """The change must count."""
        came_to = []
        for change in (lambda case: None, scene.change):
            self.begin(scene)
            change(self)
            self.git(*scene.plain, check=False)
            came_to.append([str(item).replace(str(self.root), "") for item in self.look()])
        self.assertNotEqual(*came_to)

    def ask(self, scene):
        """A server that has asked its question."""
        server = harness.AskingServer(self, *scene.options)
        number = server.ask(scene.tool, scene.arguments)
        question = server.receive()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        return server, number, question

    def answer(self, server, question, decision):
        """What the user says."""
        server.send(id=question["id"],
                    result={"action": "accept", "content": {"decision": decision}})

    def must_ask_again(self, server, number):
        """The answer was for something else: the next message asks again, or the call fails since
        what it is about is gone.  Nothing happened."""
        message = server.receive()
        if message.get("method") == "elicitation/create":
            self.answer(server, message, "reject")
            message = server.receive()
        self.assertEqual(message["id"], number, message)
        self.assertTrue(message["result"].get("isError"), message)
        server.close()

    def hold_store(self):
        """Hold the lock that a checkpoint needs; gives it."""
        result = self.call("git_branch", {"create": "for-the-store"})
        self.assertFalse(result.failed, result)
        self.git("branch", "-D", "for-the-store")
        newest = max((self.home / ".local/state/airlock").glob("*/lock"),
                     key=lambda path: path.stat().st_mtime_ns)
        lock = os.open(newest, os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock, str(newest)

    def wait_for_checkpoint(self, server, name):
        """Until the server waits for the lock: it has the file open then."""
        fds = pathlib.Path(f"/proc/{server.process.pid}/fd")
        while True:
            for fd in fds.iterdir():
                try:
                    if os.readlink(fd) == name:
                        return
                except OSError:
                    pass
            os.sched_yield()

    def while_asked(self, scene):
        """The change comes before the answer."""
        self.begin(scene)
        server, number, question = self.ask(scene)
        scene.change(self)
        before = self.look()
        self.answer(server, question, "once")
        self.must_ask_again(server, number)
        self.assertEqual(self.look(), before)

    def during_checkpoint(self, scene):
        """The change comes after the answer, while the checkpoint is taken."""
        self.begin(scene)
        lock, name = self.hold_store()
        try:
            server, number, question = self.ask(scene)
            self.answer(server, question, "once")
            self.wait_for_checkpoint(server, name)
            scene.change(self)
            before = self.look()
        finally:
            os.close(lock)
        self.must_ask_again(server, number)
        self.assertEqual(self.look(), before)

    def unchanged(self, scene):
        """Without the change one answer is enough."""
        self.begin(scene)
        server, number, question = self.ask(scene)
        self.answer(server, question, "once")
        message = server.receive()
        self.assertEqual(message.get("id"), number, message)
        self.assertFalse(message["result"].get("isError"), message)
        server.close()


def add_tests():
    """One test for each scene."""
    for number, (title, scene) in enumerate(SCENES.items()):
        def test(self, scene=scene):
            self.control(scene)
            self.unchanged(scene)
            self.while_asked(scene)
            self.during_checkpoint(scene)
        test.__doc__ = title
        setattr(Approvals, f"test_{number:02}", test)


add_tests()

if __name__ == "__main__":
    harness.main()
