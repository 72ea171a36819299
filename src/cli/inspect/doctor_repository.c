// SPDX-License-Identifier: Apache-2.0
/* airlock doctor: whether calls would work in this repository, and what differs from plain git. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "cli/environment.h"
#include "cli/inspect/doctor.h"
#include "cli/setup.h"
#include "git/command.h"
#include "git/git_lock.h"
#include "git/location.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/snapshot.h"
#include "git/repo/repo.h"
#include "git/vet/vet.h"
#include "guard/root.h"

#define TIME_LIMIT_MS 10000u

static bool has_file(const char *dir, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(dir, name);
    struct stat st;

    return stat(path, &st) == 0;
}

static bool is_submodule(const char *git_dir)
{
    return strstr(git_dir, "/.git/modules/") != NULL;
}

/* Add a finding for a repository whose git directory lies outside the roots. */
static bool add_outside_roots(struct al_findings *findings, const char *dir)
{
    al_auto(al_freep) char *top = al_environment_repository(dir);
    al_auto(al_freep) char *file = top ? al_fs_join(top, ".git") : NULL;
    al_auto(al_freep) char *named =
        file ? al_git_read_pointer(AT_FDCWD, file, "gitdir: ", top) : NULL;
    al_auto(al_freep) char *git_dir = named ? realpath(named, NULL) : NULL;
    al_auto(al_freep) char *fix = NULL;
    const char *kind = NULL;

    if (!git_dir)
        return false;
    if (has_file(git_dir, "commondir"))
        kind = "linked worktree";
    else if (is_submodule(git_dir))
        kind = "submodule";
    fix = !kind ? al_asprintf("Its git directory lies outside the roots, so every call is refused. "
                              "Add it to the configuration: git_dirs = [\"%s\"] below "
                              "[tools.sandbox].",
                              git_dir)
                : al_asprintf("Its git directory does not name this working tree, so every call is "
                              "refused. Run 'git worktree repair', or 'git submodule update' for a "
                              "submodule, and start airlock with --root %s",
                              top);
    al_finding_add(findings, "repository", AL_MISSING, fix, "%s",
                   kind ? kind : "separate git directory");
    return true;
}

static void add_open_failure(struct al_findings *findings, const char *dir,
                             const struct al_error *err)
{
    if (err->status == AL_ERR_SANDBOX && add_outside_roots(findings, dir))
        return;
    if (err->code != AL_CODE_NOT_INITIALIZED)
        al_finding_add(findings, "repository", AL_MISSING,
                       err->remedy ? err->remedy : "Until then every call here fails.", "%s",
                       err->message);
    else if (al_git_is_bare_dir(dir))
        al_finding_add(findings, "repository", AL_MISSING, al_git_bare_remedy, "bare");
    else if (err->remedy)
        al_finding_add(findings, "repository", AL_MISSING, err->remedy, "%s", err->message);
    else
        al_finding_add(
            findings, "repository", AL_WARNING,
            "Change to a repository, name one with --root, or create one with 'git init'.",
            "none in this directory");
}

static void add_kind(struct al_findings *findings, const struct al_repo *repo)
{
    bool linked = al_location_is_linked(&repo->at);
    bool bare = al_location_is_bare(&repo->at);

    al_finding_add(findings, "repository", bare ? AL_WARNING : AL_FINE,
                   bare ? "It has no working tree: only calls that read its history work. For the "
                          "others use a clone of it."
                        : "",
                   "%s%s%s%s%s%s", repo->at.top, bare ? ", bare" : "",
                   linked ? ", linked worktree" : "",
                   is_submodule(repo->at.git_dir) ? ", submodule" : "",
                   repo->vetting->is_sha256 ? ", SHA-256" : "",
                   repo->vetting->config.has_reftable ? ", reftable" : "");
    if (al_repo_is_partial(repo))
        al_finding_add(findings, "partial clone", AL_WARNING,
                       "A call that needs a missing object fails, since none is downloaded. "
                       "'git fetch --refetch --no-filter' downloads all.",
                       "some objects are missing");
    if (has_file(repo->at.common_dir, "shallow"))
        al_finding_add(findings, "shallow clone", AL_WARNING,
                       "Older commits are missing from logs, blames and merges. "
                       "'git fetch --unshallow' downloads them.",
                       "some history is missing");
}

/* The names in "airlock: hooks not run: pre-commit". */
static const char *listed_names(const struct al_str *note)
{
    const char *colon = strrchr(note->buf, ':');

    return colon && colon[1] ? colon + 2 : note->buf;
}

static void add_skipped_programs(struct al_findings *findings, const struct al_repo *repo)
{
    static const char hooks[] =
        "pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge "
        "pre-rebase pre-push post-rewrite post-checkout reference-transaction";
    al_auto(al_str_clear) struct al_str hooks_note = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str filters = AL_STR_INIT;

    al_git_skipped_hooks(repo, hooks, &hooks_note);
    if (hooks_note.len)
        al_finding_add(findings, "hooks", AL_WARNING,
                       "airlock runs no hooks: run what they check yourself, or in CI.",
                       "not run: %s", listed_names(&hooks_note));
    al_git_skipped_filters(repo, &filters);
    if (filters.len)
        al_finding_add(findings, "filters", AL_WARNING,
                       "Calls that would write files through them fail; use git itself for these "
                       "files.",
                       "not run: %s", listed_names(&filters));
    if (repo->vetting->wants_signatures)
        al_finding_add(
            findings, "signing", AL_WARNING,
            "Sign the commits that you keep: git rebase --exec 'git commit --amend --no-edit -S' "
            "@{upstream}",
            "commit.gpgsign is set; commits of tools are not signed");
}

static void add_lock(struct al_findings *findings, const struct al_repo *repo, const char *dir,
                     const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(dir, name);
    al_auto(al_freep) char *fix = NULL;
    struct stat st;

    if (lstat(path, &st) < 0)
        return;
    if (al_git_lock_is_interrupted(path)) {
        al_finding_add(findings, name, AL_WARNING,
                       "The repository may be half changed. Complete it: airlock rollback",
                       "of a rollback that was killed");
    } else if (al_git_lock_is_stale(&repo->at, &st)) {
        fix = al_asprintf("No git process holds it, but calls that write fail. Remove it: rm '%s'",
                          path);
        al_finding_add(findings, name, AL_WARNING, fix, "stale");
    } else {
        al_finding_add(findings, name, AL_WARNING,
                       "Calls that write wait for the git process that holds it; try again when it "
                       "has ended.",
                       "held, or younger than a minute");
    }
}

static void add_locks(struct al_findings *findings, const struct al_repo *repo)
{
    static const char *const own[] = { "index.lock", "HEAD.lock" };
    static const char *const common[] = { "config.lock", "packed-refs.lock", "shallow.lock" };

    for (size_t i = 0; i < AL_COUNT(own); i++)
        add_lock(findings, repo, repo->at.git_dir, own[i]);
    for (size_t i = 0; i < AL_COUNT(common); i++)
        add_lock(findings, repo, repo->at.common_dir, common[i]);
}

static void check_repository(struct al_findings *findings, const struct al_setup *setup,
                             const char *dir)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_run_limits budget = { .left_ms = TIME_LIMIT_MS };
    struct al_repo *repo = NULL;

    if (al_repo_open(setup->session.git, dir, ".", &budget, &repo, &err) < 0) {
        add_open_failure(findings, dir, &err);
        return;
    }
    add_kind(findings, repo);
    al_finding_add(findings, "owner", AL_FINE, NULL, "%s",
                   al_location_is_owned(&repo->at) ? "you"
                                                   : "another user; safe.directory lists it");
    if (al_git_check_damage(repo, &AL_STRV_INIT, true, false, &err) < 0)
        al_finding_add(findings, "damage", AL_MISSING, "Until then every call that changes fails.",
                       "%s", err.message);
    add_skipped_programs(findings, repo);
    add_locks(findings, repo);
    al_repo_free(repo);
}

void al_doctor_repositories(struct al_findings *findings, const struct al_setup *setup,
                            const struct al_options *options)
{
    al_auto(al_freep) char *here = realpath(".", NULL);

    if (!al_option(options, "--root") && here && al_roots_find(&setup->roots, here)) {
        check_repository(findings, setup, here);
        return;
    }
    for (size_t i = 0; i < setup->roots.count; i++)
        check_repository(findings, setup, setup->roots.items[i].path);
}
