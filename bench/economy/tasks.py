# SPDX-License-Identifier: Apache-2.0
"""
An agent's day in tasks.  A task says what it begins with, how each server's tools do it in the fewest
calls, and how to tell that it is done.  A server without a plan has no tools for the task.

In a plan, `s` is the session and `w` the world; what a plan returns is the answer that the agent
would read.  `w.repo` is the path that servers without a root want in each call.
"""
import re

TASKS = []


class Task:
    def __init__(self, name, begin=None, done=None, budget=None, **plans):
        self.name, self.begin, self.done = name, begin or (lambda w: None), done
        self.budget = budget
        self.plans = {server.replace("_", "-"): plan for server, plan in plans.items()}
        TASKS.append(self)


def says(*words):
    return lambda w, answer: all(re.search(word, answer or "") for word in words)


def subjects(w, count, *revisions):
    return w.git("log", f"-{count}", "--format=%s", *revisions).split("\n")


def found(pattern, text):
    return re.search(pattern, text).group(1)


# --- Looking ---

def begin_orient(w):
    w.git("commit", "-q", "--allow-empty", "-m", "one more")
    w.edit("f3.txt", 3, "changed")
    w.edit("f4.txt", 4, "staged")
    w.git("add", "f4.txt")
    (w.repo / "new.txt").write_text("new\n")


Task("orient: branch, upstream, changes, last commits", begin_orient,
     says(r"main", r"f3\.txt", r"f4\.txt", r"new\.txt", r"one more", r"ahead"),
     airlock=lambda s, w: s.call("git_status"),
     mcp_git=lambda s, w: s.call("git_status", repo_path=str(w.repo)) +
     s.call("git_log", repo_path=str(w.repo), max_count=3),
     github_mcp_server=lambda s, w: s.call("git-status") + s.call("git-log", maxCount=3),
     cyanheads=lambda s, w: s.call("git_status", path=str(w.repo)) +
     s.call("git_log", path=str(w.repo), maxCount=3))


def begin_review(w):
    w.edit("f3.txt", 3, "changed here")
    w.edit("f3.txt", 90, "and here")
    w.edit("src/m1.c", 2, "int other;")


Task("review: the whole change", begin_review, says("changed here", "and here", "int other"),
     airlock=lambda s, w: s.call("git_diff"),
     mcp_git=lambda s, w: s.call("git_diff_unstaged", repo_path=str(w.repo)),
     github_mcp_server=lambda s, w: s.call("git-diff"),
     cyanheads=lambda s, w: s.call("git_diff", path=str(w.repo)))

Task("history of another branch", None, says("topic: a file", "topic: another line 60"),
     airlock=lambda s, w: s.call("git_log", range="topic", max_count=2),
     cyanheads=lambda s, w: s.call("git_log", path=str(w.repo), branch="topic", maxCount=2))

Task("which commit brought this text in", None, says("part 7"),
     airlock=lambda s, w: s.call("git_log", changed="value7"))

Task("search the files of a tag", None, says(r"src/m3\.c"),
     airlock=lambda s, w: s.call("git_grep", pattern="value3 = 3", rev="v1.0", files_only=True))

Task("a file as it was at a tag", None, says("value2 = 2"),
     airlock=lambda s, w: s.call("git_show", rev="v1.0", path="src/m2.c"),
     mcp_git=lambda s, w: s.call("git_show", repo_path=str(w.repo), revision="v1.0:src/m2.c"),
     cyanheads=lambda s, w: s.call("git_show", path=str(w.repo), object="v1.0",
                                   filePath="src/m2.c"))

Task("who wrote these lines", None, says(r"A U Thor"),
     airlock=lambda s, w: s.call("git_blame", path="src/m2.c", lines="2,4"),
     github_mcp_server=lambda s, w: s.call("git-blame", filePath="src/m2.c", lineRange="2,4"),
     cyanheads=lambda s, w: s.call("git_blame", path=str(w.repo), filePath="src/m2.c", startLine=2,
                                   endLine=4))

# --- Committing ---

Task("commit one file", lambda w: (w.edit("f3.txt", 3, "x"), w.edit("f4.txt", 4, "y")),
     lambda w, _: subjects(w, 1) == ["fix: x"] and "f4.txt" in w.git("diff", "--name-only") and
     w.git("show", "--format=", "--name-only") == "f3.txt",
     airlock=lambda s, w: s.call("git_commit", message="fix: x", paths=["f3.txt"]),
     mcp_git=lambda s, w: s.call("git_add", repo_path=str(w.repo), files=["f3.txt"]) +
     s.call("git_commit", repo_path=str(w.repo), message="fix: x"),
     github_mcp_server=lambda s, w: s.call("git-add", files=["f3.txt"]) +
     s.call("git-commit", message="fix: x"),
     cyanheads=lambda s, w: s.call("git_commit", path=str(w.repo), message="fix: x",
                                   filesToStage=["f3.txt"]))

Task("commit everything, a new file too",
     lambda w: (w.edit("f3.txt", 3, "x"), (w.repo / "new.txt").write_text("n\n")),
     lambda w, _: subjects(w, 1) == ["add: all"] and not w.git("status", "--porcelain"),
     airlock=lambda s, w: s.call("git_commit", message="add: all", all=True),
     mcp_git=lambda s, w: s.call("git_add", repo_path=str(w.repo), files=["."]) +
     s.call("git_commit", repo_path=str(w.repo), message="add: all"),
     github_mcp_server=lambda s, w: s.call("git-add-all") + s.call("git-commit", message="add: all"),
     cyanheads=lambda s, w: s.call("git_add", path=str(w.repo), all=True) +
     s.call("git_commit", path=str(w.repo), message="add: all"))


def commit_hunk(s, _):
    shown = s.call("git_diff", hunks=True, paths=["f3.txt"])
    s.call("git_commit", message="only the first", hunks=[found(r"@@ (\w+)", shown)])


Task("commit one of two changes in a file",
     lambda w: (w.edit("f3.txt", 3, "first"), w.edit("f3.txt", 90, "second")),
     lambda w, _: subjects(w, 1) == ["only the first"] and "+first" in w.git("show") and
     "+second" not in w.git("show") and "+second" in w.git("diff"),
     airlock=commit_hunk)


def begin_amend(w):
    w.edit("f3.txt", 3, "x")
    w.git("commit", "-q", "-am", "fxi: typo")


Task("mend the message of the last commit", begin_amend,
     lambda w, _: subjects(w, 2) == ["fix: typo", "part 11: the file and its module"],
     airlock=lambda s, w: s.call("git_commit", amend=True, message="fix: typo"),
     cyanheads=lambda s, w: s.call("git_commit", path=str(w.repo), amend=True, message="fix: typo"))

Task("undo the last commit, keep its changes", begin_amend,
     lambda w, _: subjects(w, 1) == ["part 11: the file and its module"] and
     "f3.txt" in w.git("status", "--porcelain"),
     airlock=lambda s, w: s.call("git_reset", to="HEAD~1"),
     github_mcp_server=lambda s, w: s.call("git-reset", mode="mixed", target="HEAD~1"),
     cyanheads=lambda s, w: s.call("git_reset", path=str(w.repo), mode="mixed", target="HEAD~1"))

Task("discard the changes of a file", lambda w: w.edit("f3.txt", 3, "x"),
     lambda w, _: not w.git("status", "--porcelain"),
     airlock=lambda s, w: s.call("git_restore", paths=["f3.txt"]),
     cyanheads=lambda s, w: s.call("git_checkout", path=str(w.repo), target="HEAD",
                                   paths=["f3.txt"]))

Task("get back what was discarded by mistake", lambda w: w.edit("f3.txt", 3, "precious"),
     lambda w, _: "precious" in w.text("f3.txt"),
     airlock=lambda s, w: s.call("git_restore", paths=["f3.txt"]) + s.call("git_undo"))


def squash(s, w):
    a, b = w.git("log", "-2", "--reverse", "--format=%h").split("\n")
    s.call("git_rebase", onto="HEAD~2", plan=[{"commit": a, "do": "pick"},
                                              {"commit": b, "do": "squash", "message": "both"}])


def begin_squash(w):
    for number in (3, 4):
        w.edit("f3.txt", number, "x")
        w.git("commit", "-q", "-am", f"step {number}")


Task("make one commit of the last two", begin_squash,
     lambda w, _: subjects(w, 2) == ["both", "part 11: the file and its module"] and
     not w.git("status", "--porcelain"), airlock=squash,
     github_mcp_server=lambda s, w: s.call("git-reset", mode="soft", target="HEAD~2") +
     s.call("git-commit", message="both"),
     cyanheads=lambda s, w: s.call("git_reset", path=str(w.repo), mode="soft", target="HEAD~2") +
     s.call("git_commit", path=str(w.repo), message="both"))

# --- Branches ---

Task("begin a branch", None, lambda w, _: w.git("branch", "--show-current") == "fix/x",
     airlock=lambda s, w: s.call("git_switch", create=True, branch="fix/x"),
     mcp_git=lambda s, w: s.call("git_create_branch", repo_path=str(w.repo), branch_name="fix/x") +
     s.call("git_checkout", repo_path=str(w.repo), branch_name="fix/x"),
     github_mcp_server=lambda s, w: s.call("git-checkout", branchName="fix/x", createNew=True),
     cyanheads=lambda s, w: s.call("git_checkout", path=str(w.repo), target="fix/x",
                                   createBranch=True))


def begin_stash(w):
    w.edit("f3.txt", 3, "work")
    (w.repo / "new.txt").write_text("new\n")


Task("put work aside, look at a branch, take it up again", begin_stash,
     lambda w, _: w.git("branch", "--show-current") == "main" and "work" in w.text("f3.txt") and
     (w.repo / "new.txt").exists() and not w.git("stash", "list"),
     airlock=lambda s, w: (s.call("git_stash", untracked=True), s.call("git_switch", branch="topic"),
                           s.call("git_switch", branch="main"), s.call("git_stash", action="pop")),
     cyanheads=lambda s, w: (
         s.call("git_stash", path=str(w.repo), mode="push", includeUntracked=True),
         s.call("git_checkout", path=str(w.repo), target="topic"),
         s.call("git_checkout", path=str(w.repo), target="main"),
         s.call("git_stash", path=str(w.repo), mode="pop")))

Task("merge a branch", None,
     lambda w, _: (w.repo / "topic.txt").exists() and "topic: a file" in subjects(w, 3),
     airlock=lambda s, w: s.call("git_merge", branch="topic"),
     github_mcp_server=lambda s, w: s.call("git-merge", branch="topic"),
     cyanheads=lambda s, w: s.call("git_merge", path=str(w.repo), branch="topic"))


def begin_conflict(w):
    w.edit("f1.txt", 60, "line 60 as main has it")
    w.git("commit", "-q", "-am", "main: another line 60")


def merged(w, _):
    return w.text("f1.txt").count("line 60 as both have it") == 1 and \
        len(w.git("log", "-1", "--format=%p").split()) == 2


def settle(s, tool, arguments):
    s.call(tool, **arguments)
    shown = s.call("git_conflicts")
    s.call("git_conflicts", action="resolve", path="f1.txt",
           hunks=[{"id": found(r"hunk ([0-9a-f]{8})", shown), "content": "line 60 as both have it"}])
    s.call("git_conflicts", action="continue")


def settle_by_hand(s, path, add, commit):
    text = s.read(path)
    text = re.sub(r"<<<<<<<.*?>>>>>>>[^\n]*", "line 60 as both have it", text, flags=re.S)
    s.edit(path, text)
    add()
    commit()


Task("merge a branch that conflicts, settle it", begin_conflict, merged,
     airlock=lambda s, w: settle(s, "git_merge", {"branch": "topic"}),
     github_mcp_server=lambda s, w: (
         s.attempt("git-merge", branch="topic"),
         settle_by_hand(s, "f1.txt", lambda: s.call("git-add", files=["f1.txt"]),
                        lambda: s.call("git-commit", message="Merge branch 'topic'"))),
     cyanheads=lambda s, w: (
         s.attempt("git_merge", path=str(w.repo), branch="topic"),
         settle_by_hand(s, "f1.txt", lambda: s.call("git_add", path=str(w.repo), paths=["f1.txt"]),
                        lambda: s.call("git_commit", path=str(w.repo),
                                       message="Merge branch 'topic'"))))


def rebased(w, _):
    return w.text("f1.txt").count("line 60 as both have it") == 1 and \
        subjects(w, 3) == ["topic: a file", "topic: another line 60", "main: another line 60"] and \
        not (w.repo / ".git/rebase-merge").exists()


Task("rebase onto main with a conflict",
     lambda w: (begin_conflict(w), w.git("checkout", "-q", "topic")), rebased,
     airlock=lambda s, w: settle(s, "git_rebase", {"onto": "main"}),
     cyanheads=lambda s, w: (
         s.attempt("git_rebase", path=str(w.repo), upstream="main"),
         settle_by_hand(s, "f1.txt", lambda: s.call("git_add", path=str(w.repo), paths=["f1.txt"]),
                        lambda: s.call("git_rebase", path=str(w.repo), mode="continue"))))

Task("bring one commit over", None, lambda w, _: subjects(w, 1) == ["topic: a file"],
     airlock=lambda s, w: s.call("git_cherry_pick", commits=["topic"]),
     github_mcp_server=lambda s, w: s.call("git-cherry-pick",
                                           commitHash=w.git("rev-parse", "topic")),
     cyanheads=lambda s, w: s.call("git_cherry_pick", path=str(w.repo), commits=["topic"]))

Task("take back a commit by a new one", None,
     lambda w, _: subjects(w, 1)[0].startswith("Revert") and not (w.repo / "f11.txt").exists(),
     airlock=lambda s, w: s.call("git_revert", commits=["HEAD"]))

Task("tag a release", None, lambda w, _: w.git("tag", "-l", "v2.0") == "v2.0",
     airlock=lambda s, w: s.call("git_tag", action="create", name="v2.0", message="two"),
     github_mcp_server=lambda s, w: s.call("git-tag", action="create", tagName="v2.0",
                                           message="two"),
     cyanheads=lambda s, w: s.call("git_tag", path=str(w.repo), mode="create", tagName="v2.0",
                                   message="two"))


def begin_merged(w):
    for name in ("old/one", "old/two"):
        w.git("branch", name, "HEAD~1")


Task("delete the branches that are merged", begin_merged,
     lambda w, _: not w.git("branch", "--list", "old/*") and w.git("branch", "--list", "topic"),
     airlock=lambda s, w: (s.call("git_branch", merged_into="main"),
                           s.call("git_branch", action="delete", names=["old/one", "old/two"])),
     cyanheads=lambda s, w: (
         s.call("git_branch", path=str(w.repo), mode="list", merged="main"),
         s.call("git_branch", path=str(w.repo), mode="delete", branchName="old/one"),
         s.call("git_branch", path=str(w.repo), mode="delete", branchName="old/two")))

# --- Remotes ---


def begin_theirs(w):
    """Somebody else pushed to main, and there is a commit of ours."""
    other = w.base / "w" / "other"
    w.git("clone", "-q", "origin.git", "other", repo=w.base / "w")
    (other / "theirs.txt").write_text("theirs\n")
    w.git("add", "-A", repo=other)
    w.git("commit", "-q", "-m", "theirs", repo=other)
    w.git("push", "-q", repo=other)
    w.edit("f3.txt", 3, "x")
    w.git("commit", "-q", "-am", "ours")


Task("pull with rebase", begin_theirs,
     lambda w, _: subjects(w, 2) == ["ours", "theirs"],
     airlock=lambda s, w: s.call("git_pull", rebase=True),
     cyanheads=lambda s, w: s.call("git_pull", path=str(w.repo), rebase=True))

Task("push a new branch", lambda w: w.git("checkout", "-q", "topic"),
     lambda w, _: w.git("rev-parse", "topic") == w.git("ls-remote", "origin", "topic")[:40] and
     w.git("rev-parse", "--abbrev-ref", "topic@{u}") == "origin/topic",
     airlock=lambda s, w: s.call("git_push", set_upstream=True),
     cyanheads=lambda s, w: s.call("git_push", path=str(w.repo), setUpstream=True,
                                   remote="origin", branch="topic"))

Task("the text of a pull request", lambda w: w.git("checkout", "-q", "topic"),
     says("topic: a file", "topic: another line 60", r"f1\.txt", r"topic\.txt"),
     airlock=lambda s, w: s.call("git_pr"),
     cyanheads=lambda s, w: s.call("git_log", path=str(w.repo), branch="main..topic") +
     s.call("git_diff", path=str(w.repo), target="main", source="topic", stat=True))
