// SPDX-License-Identifier: Apache-2.0
#include "tools/private.h"

#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

#include "git/plumbing/filters.h"
#include "git/refs.h"
#include "guard/nofollow.h"
#include "verbs/preview/affected_files.h"

/* Globs for the last component, in any case.  The first match counts. */
static const struct {
    const char *looks; /* NULL: an ordinary file */
    const char *patterns[16];
} rows[] = {
    { NULL, { ".env.example", ".env.sample", ".env.template", ".env.dist" } },
    { "looks like a secret",
      { ".env*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.keytab", "*.kdbx",
        "*.ppk" } },
    { NULL, { "id_*.*" } }, /* id_map.c, and the public half of a key */
    { "looks like a secret",
      { "id_*", ".netrc", "_netrc", ".pgpass", ".pypirc", ".htpasswd", ".git-credentials",
        "credentials" } },
    { "looks like a core dump", { "core.[0-9]*", "core.dump", "*.coredump", "vgcore.[0-9]*" } },
};

/* The warning that a file's name deserves ("looks like a secret"), a constant; NULL: none. */
static const char *private_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < AL_COUNT(rows); i++)
        for (const char *const *pattern = rows[i].patterns; *pattern; pattern++)
            if (fnmatch(*pattern, name, FNM_CASEFOLD) == 0)
                return rows[i].looks;
    return NULL;
}

#define LARGE_BYTES 5000000
#define NAMED_MAX   20

/* Whether a rule with paths allows the file to be committed. */
static bool is_allowed(struct al_call *call, const char *name)
{
    const struct al_session *session = al_call_session(call);
    al_auto(al_strv_clear) struct al_strv branches = AL_STRV_INIT, paths = AL_STRV_INIT;
    struct al_ruling ruling;

    if (!session->policy || !session->policy->count) /* a worker's rules allow nothing */
        return false;
    al_ref_head_branches(&al_call_repo(call)->at, &branches);
    al_strv_add(&paths, name);
    ruling = al_policy_decide(session->policy, session->mode,
                              &(struct al_policy_query){
                                  .tool = "git_commit",
                                  .operation = "commit",
                                  .effects = AL_WRITES_INDEX | AL_WRITES_REFS,
                                  .branches = &branches,
                                  .paths = &paths,
                              });
    return ruling.decision == AL_APPROVAL_ALLOW && ruling.number && ruling.rule->path;
}

static bool is_core_dump(int fd)
{
    unsigned char head[EI_NIDENT + 2];

    return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
           !memcmp(head, ELFMAG, SELFMAG) &&
           head[EI_NIDENT + (head[EI_DATA] == ELFDATA2MSB)] == ET_CORE;
}

/* The reason to leave out a new file; NULL: it is committed. */
static const char *reason_of(int top, const char *name)
{
    const char *warning = private_file(name);
    al_auto(al_closep) int fd = -1;
    struct stat st;

    if (warning || al_ends_with(name, "/")) /* a clone of this repository would lack its commit */
        return warning ? warning : "a repository of its own";
    fd = al_nofollow_open(top, name, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    if (st.st_size > LARGE_BYTES)
        return "larger than 5 MB";
    return is_core_dump(fd) ? "a core dump" : NULL;
}

int al_leave_out(struct al_call *call, const struct al_strv *except, struct al_strv *ret_names,
                 struct al_str *ret_line, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    al_auto(al_closep) int top = -1;
    int r = al_location_open_top(&repo->at, &top, err);

    if (r == 0)
        r = al_git_untracked_files(repo, NULL, &files, err);
    for (size_t i = 0; r == 0 && i < files.count; i++) {
        const char *path = files.items[i], *name = al_location_worktree_name(&repo->at, path);
        const char *reason = name ? reason_of(top, name) : NULL;
        al_auto(al_freep) char *word = reason ? al_text_sanitize_shown_line(name) : NULL;

        if (!reason || (except && al_strv_contains(except, path)) || is_allowed(call, name))
            continue;
        if (ret_names->count < NAMED_MAX)
            al_str_addf(ret_line, "%s%s (%s)", ret_names->count ? ", " : "Left out: ", word,
                        reason);
        al_strv_add(ret_names, name);
    }
    if (ret_names->count > NAMED_MAX)
        al_str_addf(ret_line, ", and %zu more", ret_names->count - NAMED_MAX);
    return r;
}

int al_leave_filtered(struct al_call *call, struct al_strv *ret_names, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    const struct al_strv *files;
    int r = repo->vetting->filters.count ? al_call_affected_files(call, &files, err) : 1;

    if (r == 0)
        r = al_git_filtered_files(repo, files, &names, err);
    if (r == 0 && names.count == files->count)
        r = al_git_check_files(repo, files, err);
    for (size_t i = 0; ret_names && i < names.count; i++)
        if (!al_strv_contains(ret_names, names.items[i]))
            al_strv_add(ret_names, names.items[i]);
    return r < 0 ? r : 0;
}

bool al_is_sparse(const struct al_repo *repo)
{
    al_auto(al_freep) char *patterns = al_fs_join(repo->at.git_dir, "info/sparse-checkout");

    return access(patterns, F_OK) == 0;
}

void al_left_out_add_passed_over(const struct al_call *call, const char *what,
                                 const struct al_strv *files, struct al_str *out)
{
    if (!files->count)
        return;
    al_str_addf(out, "%s, as a user can %s: ", what,
                al_is_sparse(al_call_repo(call))
                    ? "widen the sparse checkout first"
                    : "unmark it first (git update-index --no-skip-worktree, "
                      "--no-assume-unchanged)");
    al_chosen_add_names(call, files, out);
}
