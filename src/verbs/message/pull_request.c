// SPDX-License-Identifier: Apache-2.0
#include "verbs/message/pull_request.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/location.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "guard/nofollow.h"
#include "guard/text.h"

void al_pull_request_clear(struct al_pull_request *pr)
{
    free(pr->title);
    al_str_clear(&pr->body);
    al_strv_clear(&pr->files);
    *pr = AL_PULL_REQUEST_INIT;
}

void al_pull_request_fill(const char *template, const struct al_pull_request_placeholder *words,
                          struct al_str *out)
{
    while (*template) {
        const struct al_pull_request_placeholder *word = words;
        size_t plain = strcspn(template, "{");

        al_str_add(out, template, plain);
        template += plain;
        while (word->name && !al_starts_with(template, word->name))
            word++;
        if (word->name) {
            al_str_adds(out, word->text);
            template += strlen(word->name);
        } else if (*template) {
            al_str_addc(out, *template ++);
        }
    }
}

char *al_pull_request_title(const char *branch)
{
    const char *slash = strrchr(branch, '/');
    al_auto(al_freep) char *title = al_text_sanitize_line(slash ? slash + 1 : branch);

    for (char *at = title; *at; at++)
        if (*at == '-' || *at == '_')
            *at = ' ';
    memmove(title, title + strspn(title, " "), strlen(title + strspn(title, " ")) + 1);
    if (*title >= 'a' && *title <= 'z')
        *title = (char)(*title - 'a' + 'A');
    return al_take(&title);
}

/* A pull request under construction. */
struct draft {
    struct al_pull_request *pr;
    size_t left;                  /* bytes left */
    struct al_str commits, files; /* lines of the two lists */
    uint64_t nfiles;
    bool has_numbers; /* each file with its lines */
    size_t commits_listed;
    char *first_subject;
};

static void draft_clear(struct draft *draft)
{
    al_str_clear(&draft->commits);
    al_str_clear(&draft->files);
    free(draft->first_subject);
}

static bool fits(struct draft *draft, size_t len)
{
    if (len > draft->left) {
        draft->left = 0; /* else a shorter line could fit later and leave a gap */
        draft->pr->truncated = true;
        return false;
    }
    draft->left -= len;
    return true;
}

/* Add one commit: "<abbreviated id>", "<subject>". */
static bool take_commit(void *payload, char *const *fields)
{
    struct draft *draft = payload;
    al_auto(al_freep) char *subject = al_text_join_lines(fields[1]);

    draft->pr->commits++;
    if (!draft->first_subject)
        draft->first_subject = al_strdup(subject);
    if (!fits(draft, strlen(fields[0]) + strlen(subject) + strlen("- \n ")))
        return true;
    al_str_addf(&draft->commits, "- %s %s\n", fields[0], subject);
    draft->commits_listed++;
    return true;
}

static bool take_files(void *payload, const struct al_diff_raw *files)
{
    struct draft *draft = payload;

    draft->nfiles = files->count;
    for (size_t i = 0; i < files->count; i++) {
        const struct al_change *file = &files->items[i];
        al_auto(al_freep) char *shown = al_text_sanitize_line(file->path);
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

        al_str_addf(&line, "- %s", shown);
        if (draft->has_numbers && file->binary)
            al_str_adds(&line, " binary");
        else if (draft->has_numbers)
            al_str_addf(&line, " +%" PRIu64 " -%" PRIu64, file->added, file->deleted);
        al_str_addc(&line, '\n');
        if (!fits(draft, strlen(file->path) + line.len))
            continue;
        al_strv_add(&draft->pr->files, file->path);
        al_str_add(&draft->files, line.buf, line.len);
    }
    return true;
}

static int list_commits(const struct al_repo *repo, const char *target, struct draft *draft,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "log", "-z", "--reverse", "--abbrev=7", "--format=%h%x00%s",
                 "--no-show-signature", "--no-color", NULL);
    al_strv_addf(&command.argv, "%s..HEAD", target);
    al_strv_add(&command.argv, "--");
    return al_git_read_records(&repo->at, &command, 2, take_commit, draft, err);
}

static int list_files(const struct al_repo *repo, const char *target, struct draft *draft,
                      struct al_error *err)
{
    al_auto(al_change_reader_clear) struct al_change_reader reader;
    al_auto(al_freep) char *range = al_asprintf("%s...HEAD", target);
    const struct al_diff_options options = { .unified = -1, .from_ref = range };

    al_change_reader_init(&reader, take_files, &(struct al_patch_taker){ .payload = draft });
    return al_git_read_changes(repo, &options, false, &reader, err);
}

/* Resolve the target, which may exist only as a remote-tracking branch. */
static int resolve(const struct al_repo *repo, const char *target, bool prefers_origin,
                   char **ret_oid, struct al_error *err)
{
    al_auto(al_freep) char *remote = al_asprintf("refs/remotes/origin/%s", target);
    al_auto(al_freep) char *local = al_asprintf("refs/heads/%s", target);
    bool at_remote =
        (prefers_origin || !al_ref_exists(&repo->at, local)) && al_ref_exists(&repo->at, remote);

    return al_git_resolve_branch(repo, at_remote ? remote : target, ret_oid, err);
}

/* "main", or origin's default branch if there is no main. Caller frees. */
static char *choose_target(const struct al_repo *repo)
{
    al_auto(al_freep) char *other = NULL;

    if (!al_ref_exists(&repo->at, "refs/heads/main") &&
        !al_ref_exists(&repo->at, "refs/remotes/origin/main"))
        other = al_git_remote_default(repo, "origin");
    return other ? al_asprintf("origin/%s", other) : al_strdup("main");
}

/* The title: the subject of a single commit, else the name of the branch. */
static char *choose_title(const struct draft *draft, const char *branch, const char *target)
{
    al_auto(al_freep) char *title = NULL;

    if (draft->pr->commits != 1 && strcmp(branch, "HEAD") != 0 && strcmp(branch, target) != 0)
        title = al_pull_request_title(branch);
    if (title && *title)
        return al_take(&title);
    return al_strdup(draft->first_subject ? draft->first_subject : "No changes");
}

/* End a list: add how many lines are left out, and remove the last newline. */
static void end_list(struct al_str *lines, uint64_t more, const char *none)
{
    if (more)
        al_str_addf(lines, "- and %" PRIu64 " more\n", more);
    else if (!lines->len)
        al_str_adds(lines, none);
    al_str_trim_end(lines);
}

/* Read the repository's own template, a regular file reached through no link; NULL when there is
 * none. */
static char *read_template(const struct al_repo *repo)
{
    static const char *const places[] = {
        ".github/PULL_REQUEST_TEMPLATE.md",
        ".github/pull_request_template.md",
        "PULL_REQUEST_TEMPLATE.md",
        "pull_request_template.md",
        "docs/PULL_REQUEST_TEMPLATE.md",
        "docs/pull_request_template.md",
        ".gitlab/merge_request_templates/Default.md",
    };
    al_auto(al_closep) int top = -1;

    if (al_location_open_top(&repo->at, &top, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < AL_COUNT(places); i++) {
        al_auto(al_closep) int fd = al_nofollow_open(top, places[i], O_RDONLY);
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        if (fd >= 0 && al_fs_read_fd(fd, AL_PULL_REQUEST_TEMPLATE_BYTES, &text) == 0 && text.len &&
            strlen(text.buf) == text.len && al_utf8_valid(text.buf, text.len))
            return al_str_detach(&text);
    }
    return NULL;
}

static void compose(struct draft *draft, const char *template, const char *branch,
                    const char *target)
{
    static const char layout[] = "## Changes\n\n{commits}\n\n## Files Changed\n\n{files}";
    struct al_pull_request *pr = draft->pr;
    al_auto(al_freep) char *shown_branch = al_text_sanitize_line(branch);
    al_auto(al_freep) char *shown_target = al_text_sanitize_line(target);
    const struct al_pull_request_placeholder words[] = {
        { "{title}", pr->title },        { "{commits}", draft->commits.buf },
        { "{files}", draft->files.buf }, { "{branch}", shown_branch },
        { "{target}", shown_target },    { NULL, NULL },
    };

    if (template)
        al_pull_request_fill(template, words, &pr->body);
    if (template && (strstr(template, "{commits}") || strstr(template, "{files}")))
        return;
    if (pr->body.len)
        al_str_adds(&pr->body, al_ends_with(pr->body.buf, "\n") ? "\n" : "\n\n");
    al_pull_request_fill(layout, words, &pr->body);
}

int al_git_generate_pull_request(const struct al_repo *repo,
                                 const struct al_pull_request_options *options, size_t max_bytes,
                                 struct al_pull_request *ret_pr, struct al_error *err)
{
    al_auto(draft_clear) struct draft draft = { .pr = ret_pr,
                                                .left = max_bytes,
                                                .has_numbers = options->has_numbers,
                                                .commits = AL_STR_INIT,
                                                .files = AL_STR_INIT };
    al_auto(al_freep) char *target =
        options->target ? al_strdup(options->target) : choose_target(repo);
    al_auto(al_freep) char *template =
        options->template ? al_strdup(options->template) : read_template(repo);
    al_auto(al_freep) char *branch = al_ref_head_branch(&repo->at);
    al_auto(al_freep) char *oid = NULL;
    int r = resolve(repo, target, options->prefers_origin, &oid, err);

    if (r == 0)
        r = list_commits(repo, oid, &draft, err);
    if (r == 0)
        r = list_files(repo, oid, &draft, err);
    if (r < 0)
        return r;
    end_list(&draft.commits, ret_pr->commits - draft.commits_listed, "No commits.");
    end_list(&draft.files, draft.nfiles - ret_pr->files.count, "No files.");
    ret_pr->title = choose_title(&draft, branch, target);
    compose(&draft, template, branch, target);
    return 0;
}
