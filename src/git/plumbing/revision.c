// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/revision.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "git/command.h"
#include "git/location.h"
#include "git/refs.h"
#include "git/repo/remotes.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"

#define WORD_MAX_BYTES (64u << 10) /* an id, a name of a reference, the ids of the parents */

int al_git_run_word(const struct al_repo *repo, struct al_git_command *command, char **ret_word,
                    struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_run(&repo->at, command, &(struct al_git_run){ .max_bytes = WORD_MAX_BYTES },
                       &output, err);

    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    *ret_word = al_git_read_well(&output) ? al_str_detach(&output.out.out) : NULL;
    return 0;
}

int al_git_find_object(const struct al_repo *repo, const char *word, const char *type,
                       char **ret_oid, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *typed = al_asprintf("%s^{%s}", word, type);

    /* ":/text" goes on to the end of the word. */
    al_strv_adds(&command.argv, "git", "rev-parse", "--verify", "--quiet",
                 al_starts_with(word, ":/") ? word : typed, NULL);
    return al_git_run_word(repo, &command, ret_oid, err);
}

int al_git_resolve_commit(const struct al_repo *repo, const char *word, char **ret_oid,
                          struct al_error *err)
{
    al_auto(al_freep) char *shown = NULL;
    int r = al_git_find_object(repo, word, "commit", ret_oid, err);

    if (r < 0 || *ret_oid)
        return r;
    shown = al_text_sanitize_line(word);
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND, "Branch not found: %s",
                          shown);
    return al_error_about(al_error_reason(r, err, "not_found"), err, AL_SUBJECT_REVISION, shown);
}

int al_git_resolve_branch(const struct al_repo *repo, const char *word, char **ret_oid,
                          struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", word);
    al_auto(al_freep) char *oid = al_ref_oid(&repo->at, ref);

    if (!al_is_oid(oid, strlen(oid)) || !*oid)
        return al_git_resolve_commit(repo, word, ret_oid, err);
    *ret_oid = al_take(&oid);
    return 0;
}

int al_git_merge_base(const struct al_repo *repo, const char *one, const char *other,
                      char **ret_base, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "merge-base", one, other, NULL);
    return al_git_run_word(repo, &command, ret_base, err);
}

int al_git_count_apart(const struct al_repo *repo, const char *ours, const char *theirs,
                       size_t *ret_ours, size_t *ret_theirs, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--left-right",
                 "--count", NULL);
    al_strv_addf(&command.argv, "%s...%s", ours, theirs);
    al_strv_add(&command.argv, "--");
    r = al_git_run_checked(&repo->at, &command, WORD_MAX_BYTES, &output, err);
    if (r == 0 && sscanf(output.out.out.buf, "%zu %zu", ret_ours, ret_theirs) != 2)
        r = al_error_set(err, AL_ERR_EXECUTION, "git rev-list did not say what was asked");
    return r;
}

const char *al_git_empty_tree(const struct al_repo *repo)
{
    return repo->vetting->is_sha256
               ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
               : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

/* --- Heads --- */

static const char dot_git[] = "/.git";

/* HEAD may also be a symbolic link to its branch, an old form of it. */
static char *read_head(int git_dir)
{
    char target[PATH_MAX];
    const ssize_t len = readlinkat(git_dir, "HEAD", target, sizeof(target));
    al_auto(al_closep) int fd = len < 0 ? al_nofollow_open(git_dir, "HEAD", O_RDONLY) : -1;

    return len < 0 ? al_ref_line_of(fd) : al_asprintf("ref: %.*s", (int)len, target);
}

static bool is_own(const struct al_location *at, const char *name)
{
    const bool is_linked = al_location_is_linked(at);

    return name ? is_linked && !strcmp(strrchr(at->git_dir, '/') + 1, name) : !is_linked;
}

/* The one who wants the heads. */
struct taker {
    const struct al_location *at;
    al_head_fn *take;
    void *payload;
};

/* `name`: NULL, the main working tree. */
static bool take_one(void *payload, const char *name, int git_dir, const char *top)
{
    static const char ref[] = "ref:";
    const struct taker *taker = payload;
    /* HEAD as every working tree can name it. */
    al_auto(al_freep) char *stored =
        name ? al_asprintf("worktrees/%s/HEAD", name) : al_strdup("main-worktree/HEAD");
    al_auto(al_freep) char *head =
        al_ref_is_stored(taker->at, stored) ? al_ref_stored(taker->at, stored) : read_head(git_dir);
    const bool on_branch = head && al_starts_with(head, ref);
    const char *value = on_branch ? head + strlen(ref) : head;
    struct stat st;

    return taker->take(
        taker->payload,
        &(struct al_head){
            .name = name,
            .top = top,
            .git_dir_fd = git_dir,
            .is_own = is_own(taker->at, name),
            .has_index = fstatat(git_dir, "index", &st, AT_SYMLINK_NOFOLLOW) == 0,
            .branch = on_branch ? value + strspn(value, " \t") : NULL,
            .oid = value && !on_branch && al_is_oid(value, strlen(value)) ? value : NULL,
        });
}

int al_git_each_head(const struct al_location *at, al_head_fn *take, void *payload,
                     struct al_error *err)
{
    struct taker taker = { .at = at, .take = take, .payload = payload };
    al_auto(al_freep) char *top =
        al_ends_with(at->common_dir, dot_git)
            ? al_strndup(at->common_dir, strlen(at->common_dir) - strlen(dot_git))
            : NULL;
    al_auto(al_closep) int common_fd = -1;
    int r = al_location_open_common_dir(at, &common_fd, err);

    return r < 0 || !take_one(&taker, NULL, common_fd, top)
               ? r
               : al_git_each_linked(at, take_one, &taker, err);
}

/* --- Pushed --- */

/* Remember what remote-tracking branches have now, and append it. */
static int read_tips(const struct al_repo *repo, struct al_strv *tips, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(objectname)", "refs/remotes/",
                 NULL);
    r = al_git_read(&repo->at, &command, al_git_sink(&lines), err);
    if (r < 0)
        return r;
    al_strv_split(tips, lines.buf, "\n");
    al_remote_tips_note(repo, tips);
    return 0;
}

int al_git_note_pushed(const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;

    return read_tips(repo, &tips, err);
}

/* Count commits, "0" to be compared as text; with `pushed` only those that none of these has and
 * no remote-tracking branch. */
static int count(const struct al_repo *repo, const char *from, const char *to,
                 const struct al_str *pushed, char **ret_count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str number = AL_STR_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--count", NULL);
    if (!to)
        al_strv_adds(&command.argv, pushed ? "--max-count=1" : "--no-walk", NULL);
    al_strv_add(&command.argv, from);
    if (to)
        al_strv_addf(&command.argv, "^%s", to);
    if (pushed) {
        al_git_command_feed(&command, pushed);
        al_strv_adds(&command.argv, "--ignore-missing", "--stdin", "--not", "--remotes", NULL);
    } else {
        al_strv_add(&command.argv, "--");
    }
    r = al_git_read(&repo->at, &command, al_git_sink(&number), err);
    if (r == 0)
        *ret_count = al_str_detach(&number);
    return r;
}

int al_git_has_pushed(const struct al_repo *repo, const char *from, const char *to,
                      bool *ret_pushed, struct al_error *err)
{
    al_auto(al_freep) char *all = NULL;
    al_auto(al_freep) char *unpushed = NULL;
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = read_tips(repo, &tips, err);

    al_remote_tips_add(repo, &tips);
    *ret_pushed = r < 0;
    if (r < 0 || !tips.count) /* there is no remote-tracking branch, and was none */
        return r;
    r = count(repo, from, to, NULL, &all, err);
    for (size_t i = 0; i < tips.count; i++)
        al_str_addf(&words, "^%s\n", tips.items[i]);
    if (r == 0)
        r = count(repo, from, to, &words, &unpushed, err);
    *ret_pushed = r < 0 || strcmp(all, unpushed) != 0;
    return r;
}

/* --- Default branch --- */

char *al_git_remote_default(const struct al_repo *repo, const char *remote)
{
    al_auto(al_freep) char *prefix = al_asprintf("ref: refs/remotes/%s/", remote);
    al_auto(al_freep) char *head = al_asprintf("%sHEAD", prefix + strlen("ref: "));
    al_auto(al_freep) char *held = al_ref_read_loose(&repo->at, head);

    return held && al_starts_with(held, prefix) && al_ref_exists(&repo->at, held + strlen("ref: "))
               ? al_strdup(held + strlen(prefix))
               : NULL;
}

/* The first one is that of the main working tree. */
static bool take_branch(void *payload, const struct al_head *head)
{
    al_strv_add(payload, head->branch ? head->branch : "");
    return false;
}

char *al_git_default_branch(const struct al_repo *repo)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT, remotes = AL_STRV_INIT;
    al_auto(al_freep) char *told = al_git_remote_default(repo, AL_DEFAULT_REMOTE);

    al_remote_names(repo, &remotes);
    if (!told && remotes.count == 1)
        told = al_git_remote_default(repo, remotes.items[0]);
    al_strv_addf(&names, "refs/heads/%s", told ? told : "main");
    al_strv_adds(&names, "refs/heads/main", "refs/heads/master", NULL);
    (void)al_git_each_head(&repo->at, take_branch, &names, NULL);
    for (size_t i = 0; i < names.count; i++)
        if (al_starts_with(names.items[i], "refs/heads/") &&
            al_ref_exists(&repo->at, names.items[i]))
            return al_strdup(names.items[i]);
    return NULL;
}

/* --- Remote branches --- */

int al_git_remote_branches(const struct al_repo *repo, const char *name, struct al_strv *out,
                           struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(refname)", NULL);
    al_strv_addf(&command.argv, "refs/remotes/*/%s", name);
    r = al_git_read(&repo->at, &command, al_git_sink(&lines), err);
    al_strv_split(out, lines.buf, "\n");
    return r;
}
