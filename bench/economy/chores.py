# SPDX-License-Identifier: Apache-2.0
"""
History in one call: the chores for which agents need the most commands.  They have budgets: the chores
together, and each merge that is settled by sides.
"""
import re

from tasks import Task, subjects

SIDES = 35  # files that a merge has in conflict


def ids(shown):
    """The ids of hunks by their first added line, those of new files by their names."""
    found = {path: one for one, path in re.findall(r"^@@ (\S+) new file (\S+)", shown, re.M)}
    return found | {line: one for one, line in
                    re.findall(r"^@@ (\S+) -.*\n(?:[- ].*\n)*\+(.+)$", shown, re.M)}


def commits(shown):
    """The ids of commits by their subjects."""
    return {subject: one for one, subject in
            re.findall(r"^(\S+) \S+ .*?  (.*?)(?: \([^)]*\))?$", shown, re.M)}


def commit_each(w, *edits):
    """A commit for each edit: file, line, text, which is the subject too."""
    for name, number, text in edits:
        w.edit(name, number, text)
        w.git("commit", "-q", "-am", text)


def clean(w):
    return not w.git("status", "--porcelain")


def names(w, revision):
    return w.git("show", "--format=", "--name-only", revision).split("\n")


# --- Commits of what is there ---

def begin_selection(w):
    for number in (10, 60, 110):
        w.edit("f3.txt", number, f"parser {number}" if number != 60 else "docs 60")
        w.edit("f4.txt", number, f"limits {number}")
    (w.repo / "f12.txt").write_text("parser, as a file of its own\n")


def commit_selection(s, _):
    one = ids(s.call("git_diff", hunks=True, context=0))
    s.call("git_commit", commits=[
        {"message": "parser", "hunks": [one["parser 10"], one["parser 110"], one["f12.txt"]]},
        {"message": "docs", "hunks": [one["docs 60"]]}])


Task("commit a selection, twice", begin_selection,
     lambda w, _: subjects(w, 2) == ["docs", "parser"] and names(w, "HEAD") == ["f3.txt"] and
     names(w, "HEAD~") == ["f12.txt", "f3.txt"] and names(w, "HEAD~2")[0] == "f11.txt" and
     w.git("diff", "--name-only") == "f4.txt",
     budget="chores", airlock=commit_selection)


def begin_chosen(w):
    w.edit("f3.txt", 10, "wanted")
    w.edit("f3.txt", 90, "not yet")
    w.edit("f4.txt", 10, "a whole file")
    for name in ("wanted.txt", "scratch.txt"):
        (w.repo / name).write_text("new\n")


def commit_chosen(s, _):
    one = ids(s.call("git_diff", hunks=True, context=0))
    s.call("git_commit", message="chosen", hunks=[one["wanted"], one["wanted.txt"]],
           paths=["f4.txt"])


Task("commit a hunk, a new file and a whole file", begin_chosen,
     lambda w, _: names(w, "HEAD") == ["f3.txt", "f4.txt", "wanted.txt"] and
     w.git("status", "--porcelain").split("\n") == [" M f3.txt", "?? scratch.txt"],
     airlock=commit_chosen)


# --- Commits that are there ---

THREE = (("f5.txt", 20, "first of three"), ("f6.txt", 20, "second of three"),
         ("f7.txt", 20, "third of three"))


def begin_amends(w):
    commit_each(w, *THREE, ("f8.txt", 20, "after them"))
    for name, _, text in THREE:
        w.edit(name, 80, f"forgotten in the {text}")


def amend_three(s, _):
    older = commits(s.call("git_log", max_count=4))
    one = ids(s.call("git_diff", hunks=True, context=0))
    s.call("git_commit", commits=[
        {"into": older[text], "hunks": [one[f"forgotten in the {text}"]]} for _, _, text in THREE])


Task("amend three older commits", begin_amends,
     lambda w, _: subjects(w, 4) == ["after them"] + [text for _, _, text in reversed(THREE)] and
     all(w.git("show", "--format=", "-U0", f"HEAD~{back}").count("\n+") == 3
         for back in (1, 2, 3)) and clean(w),
     budget="chores", airlock=amend_three)


def begin_split(w):
    for name, number, text in THREE:
        w.edit(name, number, text)
    w.git("commit", "-q", "-am", "three things")
    commit_each(w, ("f8.txt", 20, "after it"))


def split_three(s, _):
    one = ids(s.call("git_show", rev="HEAD~", hunks=True))
    s.call("git_rebase", onto="HEAD~2", plan=[
        {"commit": "HEAD~", "do": "split", "into": [
            {"message": text, "hunks": [one[text]]} for _, _, text in THREE]},
        {"commit": "HEAD"}])


Task("split a commit in three", begin_split,
     lambda w, _: subjects(w, 4) == ["after it"] + [text for _, _, text in reversed(THREE)] and
     clean(w), budget="chores", airlock=split_three)

FIVE = tuple((f"f{number}.txt", 30, f"step {number}") for number in range(5, 10))


def rebase_plan(s, *steps):
    """Look at the five, then a plan: for each what to do with it, and a message or none."""
    one = commits(s.call("git_log", max_count=5))
    s.call("git_rebase", onto="HEAD~5", plan=[
        {"commit": one[f"step {number}"], "do": do} | ({"message": text} if text else {})
        for number, do, text in steps])


def pick_anew(s, w, order):
    """The same as new commits, by picking: mail and dates of the committer alone differ."""
    one = dict(re.findall(r"\"hash\": ?\"(\w+)\".*?\"subject\": ?\"(step \d)",
                          s.call("git_log", path=str(w.repo), maxCount=5), re.S))
    one = {subject: commit for commit, subject in one.items()}
    s.call("git_reset", path=str(w.repo), mode="hard", target="HEAD~5", confirmed=True)
    s.call("git_cherry_pick", path=str(w.repo), commits=[one[f"step {n}"] for n in order])


def commit_anew(reset, commit):
    """Take all back, and commit the files of each group again."""
    reset()
    commit("the even ones", ["f6.txt", "f8.txt"])
    commit("the rest", ["f5.txt", "f7.txt", "f9.txt"])


Task("reorder five commits", lambda w: commit_each(w, *FIVE),
     lambda w, _: subjects(w, 5) == [f"step {n}" for n in (5, 6, 7, 8, 9)] and clean(w),
     budget="chores",
     airlock=lambda s, w: rebase_plan(s, *((n, "pick", None) for n in (9, 8, 7, 6, 5))),
     cyanheads=lambda s, w: pick_anew(s, w, (9, 8, 7, 6, 5)))

Task("squash five commits into two", lambda w: commit_each(w, *FIVE),
     lambda w, _: subjects(w, 3) == ["the rest", "the even ones",
                                     "part 11: the file and its module"] and
     names(w, "HEAD~") == ["f6.txt", "f8.txt"] and clean(w),
     budget="chores",
     airlock=lambda s, w: rebase_plan(
         s, (6, "pick", None), (8, "squash", "the even ones"), (5, "pick", None),
         (7, "fixup", None), (9, "squash", "the rest")),
     github_mcp_server=lambda s, w: commit_anew(
         lambda: s.call("git-reset", mode="mixed", target="HEAD~5"),
         lambda message, files: (s.call("git-add", files=files),
                                 s.call("git-commit", message=message))),
     cyanheads=lambda s, w: commit_anew(
         lambda: s.call("git_reset", path=str(w.repo), mode="mixed", target="HEAD~5"),
         lambda message, files: s.call("git_commit", path=str(w.repo), message=message,
                                       filesToStage=files)))


def begin_dirty(w):
    """Commits on either side, and changes that are not committed: staged, not staged, new."""
    w.git("checkout", "-q", "topic")
    w.edit("f5.txt", 20, "staged work")
    w.git("add", "f5.txt")
    w.edit("f6.txt", 20, "work")
    (w.repo / "new.txt").write_text("new\n")
    w.git("branch", "-f", "main", w.git("commit-tree", "-p", "main", "-m", "theirs",
                                        "main^{tree}"))


Task("update a branch under uncommitted work", begin_dirty,
     lambda w, _: subjects(w, 3) == ["topic: a file", "topic: another line 60", "theirs"] and
     w.git("status", "--porcelain").split("\n") == ["M  f5.txt", " M f6.txt", "?? new.txt"],
     budget="chores",
     airlock=lambda s, w: s.call("git_rebase", onto="main"),
     cyanheads=lambda s, w: (
         s.call("git_stash", path=str(w.repo), mode="push", includeUntracked=True),
         s.call("git_rebase", path=str(w.repo), upstream="main"),
         s.call("git_stash", path=str(w.repo), mode="pop")))


# --- A merge of many files ---

def begin_sides(w):
    """Two branches that both write files; those of `lib` shall be ours, those of `gen` theirs, and one
    shall have both."""
    w.git("checkout", "-q", "topic")
    for who in ("theirs", "ours"):
        for number in range(SIDES):
            path = w.repo / ("lib" if number < 17 else "gen") / f"n{number}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{who} {number}\n")
        w.git("add", "-A")
        w.git("commit", "-q", "-m", who)
        if who == "theirs":
            w.git("checkout", "-q", "main")


def settle_sides(s, _):
    s.call("git_merge", branch="topic")
    s.call("git_conflicts", action="resolve", paths=["gen/n20.txt"], take="both")
    s.call("git_conflicts", action="resolve", paths=["gen"], take="theirs")
    s.call("git_conflicts", action="resolve", take="ours", **{"continue": True})


def sides_are_right(w, _):
    return all((w.repo / ("lib" if n < 17 else "gen") / f"n{n}.txt").read_text() ==
               (f"ours {n}\n" if n < 17 else f"ours {n}\ntheirs {n}\n" if n == 20
                else f"theirs {n}\n") for n in range(SIDES)) and clean(w) and \
        len(w.git("log", "-1", "--format=%p").split()) == 2


Task(f"settle a merge of {SIDES} files by sides", begin_sides, sides_are_right,
     budget="sides", airlock=settle_sides)
