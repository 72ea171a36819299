// SPDX-License-Identifier: Apache-2.0
#include "verbs/transport/push.h"

#include <stdlib.h>

#include "git/command.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/repo/remotes.h"
#include "git/repo/words.h"
#include "git/run.h"
#include "guard/text.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/transport/network.h"

#define TAGS_NAMED_MAX 20

#define SHA1_HEX_BYTES 40

void al_pushed_clear(struct al_pushed *pushed)
{
    free(pushed->range);
    al_strv_clear(&pushed->tags);
    al_str_clear(&pushed->from_hook);
    *pushed = AL_PUSHED_INIT;
}

/* Append the lines of the other side without their prefix, joined by newlines. */
static void add_hook_words(const struct al_git_output *output, struct al_str *out)
{
    static const char mark[] = "remote: ";
    const char *line = output->err.out.buf;

    while (*line) {
        size_t len = strcspn(line, "\n"), end = len;

        while (end && line[end - 1] == ' ') /* git pads lines with blanks */
            end--;
        if (end > strlen(mark) && al_starts_with(line, mark)) {
            if (out->len)
                al_str_addc(out, '\n');
            al_str_add(out, line + strlen(mark), end - strlen(mark));
        }
        line += len + (line[len] == '\n');
    }
}

static const char *folder_of(const struct al_push_options *options)
{
    return options->is_tag ? "refs/tags/" : "refs/heads/";
}

/* "<flag><summary>" from git's line "<flag> TAB <from>:<to> TAB <summary>"; NULL when there is
 * none.  Caller frees. */
static char *status_from(const struct al_git_output *output, const char *from,
                         const struct al_push_options *options)
{
    al_auto(al_freep) char *mark =
        al_asprintf("\t%s:%s%s\t", from, folder_of(options), options->branch);
    const char *at = strstr(output->out.out.buf, mark), *summary;

    if (!at || at == output->out.out.buf)
        return NULL;
    summary = at + strlen(mark);
    return al_asprintf("%c%.*s", at[-1], (int)strcspn(summary, "\n"), summary);
}

/* git has two words for what a branch is deleted from. */
static char *status_line(const struct al_git_output *output, const struct al_push_options *options)
{
    char *status;

    if (!options->deletes)
        return status_from(output, options->commit, options);
    status = status_from(output, "", options);
    return status ? status : status_from(output, "(delete)", options);
}

static const struct refusal {
    const char *words, *cause, *remedy;
} refusals[] = {
    { "(stale info)",
      "The remote's branch '%s' is not what was seen there last, so nothing was "
      "overwritten",
      "Look at what is new with git_fetch, then decide again." },
    { "(fetch first)", "The remote's branch '%s' has commits that are not here",
      "Bring them in with git_pull first, then push again." },
    { "(already exists)", "The remote has another tag '%s'",
      "A tag that is there is not moved; git_tag gives yours another name." },
    { "(non-fast-forward)", "The remote's branch '%s' has commits that this branch does not have",
      "Bring them in with git_pull first; or push with force: true to remove them there." },
    { "branch is currently checked out", "The remote is a working tree that has '%s' checked out",
      "Push another branch, or use git_pull over there: a push never changes files." },
};

/* The push was rejected by git here, by git there, or by a hook there. */
static int rejected(const struct al_git_output *output, const char *branch, const char *status,
                    struct al_error *err)
{
    al_auto(al_str_clear) struct al_str hook = AL_STR_INIT;

    for (size_t i = 0; i < AL_COUNT(refusals); i++) {
        const char *gap = strstr(refusals[i].cause, "%s");

        if (strstr(status, refusals[i].words))
            return al_remote_error(err, refusals[i].remedy, "%.*s%s%s",
                                   (int)(gap - refusals[i].cause), refusals[i].cause, branch,
                                   gap + strlen("%s"));
    }
    add_hook_words(output, &hook);
    return al_remote_error(err, "Do what the other side asks for, then push again.",
                           "The remote rejected '%s': %s%s%s", branch, status + 1,
                           hook.len ? ". It says: " : "", hook.buf);
}

/* Append the tags of the lines "*\trefs/tags/…:refs/tags/…". */
static void list_new_tags(const struct al_git_output *output, struct al_strv *out)
{
    static const char begin[] = "*\trefs/tags/";
    const char *text = output->out.out.buf;

    for (const char *at = text; (at = strstr(at, begin)); at++) {
        const char *ref = at + strlen("*\t");

        if (at == text || at[-1] == '\n')
            al_strv_take(out, al_strndup(ref, strcspn(ref, ":\n")));
    }
}

/* Name the tags that went there although the branch did not. */
static void add_pushed(const struct al_strv *tags, struct al_error *err)
{
    struct al_str text = AL_STR_INIT;

    al_str_addf(&text, "%s. These were pushed: ", err->message);
    al_text_add_list(&text, tags, TAGS_NAMED_MAX);
    free(err->message);
    err->message = al_str_detach(&text);
}

static void add_words(struct al_strv *argv, const struct al_push_options *options,
                      const char *remote, bool progress)
{
    al_strv_adds(argv, "git", "push", "--no-verify", "--no-recurse-submodules", "--no-signed",
                 "--no-follow-tags", "--receive-pack=git-receive-pack", NULL);
    if (!options->shown)
        al_strv_adds(argv, "--porcelain", progress ? "--progress" : "--no-progress", NULL);
    for (size_t i = 0; options->shown && i < options->words->count; i++)
        al_strv_add(argv, options->words->items[i]);
    if (options->lease)
        al_strv_addf(argv, "--force-with-lease=refs/heads/%s:%s", options->branch, options->lease);
    if (options->looks)
        al_strv_add(argv, "--dry-run");
    al_strv_add(argv, remote);
    al_strv_addf(argv, "%s:%s%s", options->deletes ? "" : options->commit, folder_of(options),
                 options->branch);
    if (options->tags)
        al_strv_add(argv, "refs/tags/*:refs/tags/*");
}

int al_git_push(struct al_network *network, const struct al_push_options *options,
                const struct al_progress *progress, size_t max_bytes, struct al_pushed *ret_pushed,
                struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *status = NULL;
    const char *tag;
    int r;

    /* An empty source would delete the remote's branch. */
    if (!options->deletes && (strlen(options->commit) < SHA1_HEX_BYTES ||
                              !al_is_oid(options->commit, strlen(options->commit))))
        return al_remote_error(err, "The branch is pushed once it has a commit.",
                               "There is no commit on '%s'", options->branch);
    add_words(&command.argv, options, network->name, progress);
    if (options->shown)
        return al_network_run_shown(network, &command, options->shown, err);
    r = al_network_run(network, &command, max_bytes, progress, &output, err);
    if (r < 0)
        return r;
    status = status_line(&output, options);
    if (options->tags)
        list_new_tags(&output, &ret_pushed->tags);
    if (status && *status == '!') {
        ret_pushed->is_rejected = true;
        ret_pushed->is_stale = strstr(status, "(stale info)");
        ret_pushed->is_behind = strstr(status, "(non-fast-forward)");
        r = rejected(&output, options->branch, status, err);
        if (ret_pushed->tags.count && !options->looks && err)
            add_pushed(&ret_pushed->tags, err);
        return r;
    }
    tag = status && options->tags ? strstr(output.out.out.buf, "!\trefs/tags/") : NULL;
    if (tag)
        return al_remote_error(err, "A tag that is there is not moved; the branch was pushed.",
                               "The remote has another '%.*s'", (int)strcspn(tag + 2, ":"),
                               tag + 2);
    if (output.exit_code != 0 || !status)
        return al_network_failed(network, &output, err);
    ret_pushed->up_to_date = *status == '=';
    ret_pushed->is_new = *status == '*';
    ret_pushed->forced = *status == '+';
    if (*status == ' ' || *status == '+')
        ret_pushed->range = al_strndup(status + 1, strcspn(status + 1, " "));
    add_hook_words(&output, &ret_pushed->from_hook);
    ret_pushed->is_cut = output.out.out.len > max_bytes;
    return 0;
}

void al_there_clear(struct al_there *there)
{
    al_strv_clear(&there->ids);
    al_strv_clear(&there->names);
}

#define THERE_MAX_BYTES (1u << 20)

/* Lines "<object id> TAB <reference>". */
int al_git_look_there(struct al_network *network, struct al_there *ret_there, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "ls-remote", "--upload-pack=git-upload-pack", network->name,
                 NULL);
    r = al_network_run(network, &command, THERE_MAX_BYTES, NULL, &output, err);
    if (r < 0)
        return r;
    if (output.exit_code != 0 || output.out.out.len > THERE_MAX_BYTES)
        return al_network_failed(network, &output, err);
    for (const char *line = output.out.out.buf, *end; (end = strchr(line, '\n')); line = end + 1) {
        const size_t digits = strcspn(line, "\t");

        if (!al_is_oid(line, digits) || line + digits >= end)
            continue;
        al_strv_take(&ids, al_strndup(line, digits));
        al_strv_take(&ret_there->names,
                     al_strndup(line + digits + 1, (size_t)(end - line) - digits - 1));
    }
    r = al_git_find_objects(&network->repo->at, &ids, false, &ret_there->ids, NULL, err);
    al_strv_sort(&ret_there->ids);
    al_strv_sort(&ret_there->names);
    return r;
}

/* Append the commits that are reachable from some and not from others.  Both lists end with NULL.
 */
static int add_commits(const struct al_repo *repo, const char *const *words, const char *title,
                       bool with_diffs, struct al_str *out, struct al_error *err)
{
    const struct al_commits_shown shown = {
        .words = words,
        .format = "%h %s",
        .title = title,
        .with_diffs = with_diffs,
    };
    bool any;

    return al_git_commits_excerpt(repo, &shown, out, &any, err);
}

/* Count the commits that the words reach, or the bytes of their objects.  Caller frees. */
static int count(const struct al_repo *repo, const struct al_strv *words, bool bytes,
                 char **ret_number, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list",
                 bytes ? "--disk-usage" : "--count", NULL);
    if (bytes)
        al_strv_add(&command.argv, "--objects");
    al_strv_add_all(&command.argv, words);
    al_strv_add(&command.argv, "--");
    return al_git_run_word(repo, &command, ret_number, err);
}

/* Append the commits that come there. */
static int add_coming(const struct al_repo *repo, const struct al_push_shown *push,
                      struct al_str *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;
    al_auto(al_freep) char *commits = NULL;
    al_auto(al_freep) char *bytes = NULL;
    al_auto(al_freep) char *title = NULL;
    int r = 0;

    al_strv_add(&words, push->commit);
    al_strv_add_all(&words, push->tags);
    if (push->there->count) {
        al_strv_add(&words, "--not");
        al_strv_add_all(&words, push->there);
    } else {
        r = count(repo, &words, false, &commits, err);
        if (r == 0)
            r = count(repo, &words, true, &bytes, err);
    }
    if (r < 0)
        return r;
    title = commits && bytes
                ? al_asprintf("To be pushed: the whole history, %s %s, %s bytes:", commits,
                              strcmp(commits, "1") ? "commits" : "commit", bytes)
                : al_strdup("To be pushed:");
    return add_commits(repo, (const char *const *)words.items, title, true, out, err);
}

/* Append which commits replace which, and what differs in them. */
static int add_range_diff(const struct al_repo *repo, const char *commit, const char *seen,
                          struct al_str *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command.show_controls = command.starts_children = true;
    al_strv_adds(&command.argv, "git", "-c", "core.abbrev=8", "range-diff", "--no-color", NULL);
    al_strv_addf(&command.argv, "%s...%s", seen, commit);
    r = al_git_run_checked(&repo->at, &command, al_git_excerpt_bytes(repo->at.budget, 0), &output,
                           err);
    if (r == 0)
        al_str_addf(out, "\nWhat replaces what (git range-diff):\n%s\n", output.out.out.buf);
    return r;
}

int al_git_push_preview(const struct al_repo *repo, const struct al_push_shown *push,
                        struct al_str *out, struct al_error *err)
{
    const char *const gone[] = { push->replaced, "--not", push->commit, NULL };
    int r = 0;

    if (*push->replaced)
        r = add_commits(repo, gone, "To be replaced, and then gone from there:", false, out, err);
    if (r == 0 && *push->replaced && repo->at.budget->in_full)
        r = add_range_diff(repo, push->commit, push->replaced, out, err);
    return r < 0 ? r : add_coming(repo, push, out, err);
}

int al_git_set_upstream(struct al_repo *repo, const char *branch, const char *remote,
                        struct al_error *err)
{
    const char *const variables[] = { "remote", "merge" };
    al_auto(al_freep) char *merge = al_asprintf("refs/heads/%s", branch);
    const char *const values[] = { remote, merge };
    int r = 0;

    for (size_t i = 0; i < AL_COUNT(variables) && r == 0; i++) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

        al_strv_adds(&command.argv, "git", "config", "--local", "--replace-all", NULL);
        al_strv_addf(&command.argv, "branch.%s.%s", branch, variables[i]);
        al_strv_add(&command.argv, values[i]);
        r = al_git_write(&repo->at, &command, 0, err);
    }
    return r;
}

int al_git_set_upstream_shown(struct al_repo *repo, const char *branch,
                              const struct al_remote *remote, const struct al_git_shell *shell,
                              bool is_quiet, struct al_error *err)
{
    al_auto(al_freep) char *tracking = al_remote_tracking(remote, branch);
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;
    const struct al_strv none = AL_STRV_INIT;
    int code;

    if (!tracking || !al_ref_exists(&repo->at, tracking)) /* git branch would refuse that */
        return al_git_set_upstream(repo, branch, remote->name, err);
    al_strv_add(&words, "branch");
    if (is_quiet)
        al_strv_add(&words, "-q");
    al_strv_addf(&words, "--set-upstream-to=%s", tracking);
    al_strv_add(&words, branch);
    return al_git_run_words(
        repo->at.git, repo,
        &(struct al_git_words){
            .globals = &none, .words = &words, .class = AL_GIT_WRITE, .shell = shell },
        repo->at.budget, &code, err);
}
