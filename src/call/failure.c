// SPDX-License-Identifier: Apache-2.0
#include "call/failure.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "call/call.h"
#include "call/missing_paths.h"
#include "call/private.h"
#include "git/plumbing/revision.h"
#include "git/reading/read_object.h"
#include "git/refs.h"
#include "git/repo/remotes.h"
#include "guard/text.h"

/* Names of a kind that there are. */
struct names {
    enum al_subject kind;
    struct al_strv list;
};

static bool take_ref(void *payload, const struct al_listed_ref *ref)
{
    struct names *names = payload;
    const char *slash = ref->is_remote ? strchr(ref->name, '/') : NULL;

    if (names->kind != AL_SUBJECT_THEIR_BRANCH)
        al_strv_add(&names->list, ref->name);
    else if (slash)
        al_strv_add(&names->list, slash + 1);
    return true;
}

static void list_names(struct al_call *call, struct names *names)
{
    const struct al_repo *repo = al_call_repo(call);
    const struct al_refs_query branches = { .remotes = names->kind != AL_SUBJECT_BRANCH };
    const struct al_refs_query tags = { .tags = true };

    if (names->kind == AL_SUBJECT_REMOTE) {
        al_remote_names(repo, &names->list);
        return;
    }
    if (names->kind != AL_SUBJECT_TAG)
        (void)al_git_read_refs(repo, &branches, take_ref, names, NULL);
    if (names->kind == AL_SUBJECT_TAG || names->kind == AL_SUBJECT_REVISION)
        (void)al_git_read_refs(repo, &tags, take_ref, names, NULL);
}

/* Append what may have been meant: a name in few edits, or "feature/login" for "login". */
static void add_near(struct al_call *call, enum al_subject kind, const char *word,
                     struct al_str *out)
{
    struct names names = { .kind = kind, .list = AL_STRV_INIT };
    struct al_nearest nearest = { .word = word };
    al_auto(al_freep) char *tag = al_asprintf("refs/tags/%s", word);
    al_auto(al_freep) char *end = al_asprintf("/%s", word);
    const char *meant = NULL;

    if (kind == AL_SUBJECT_BRANCH && al_ref_exists(&al_call_repo(call)->at, tag)) {
        al_str_adds(out, "; it is a tag");
        return;
    }
    list_names(call, &names);
    for (size_t i = 0; i < names.list.count; i++) {
        al_nearest_offer(&nearest, names.list.items[i]);
        if (!meant && al_ends_with(names.list.items[i], end))
            meant = names.list.items[i];
    }
    meant = nearest.found ? nearest.found : meant;
    if (meant && strcmp(meant, word) != 0) {
        al_str_adds(out, "; did you mean '");
        al_text_add_shown_line(meant, out);
        al_str_adds(out, "'?");
    }
    al_strv_clear(&names.list);
}

static bool names_commit(struct al_call *call, const char *word)
{
    al_auto(al_freep) char *oid = NULL;

    return al_git_find_object(al_call_repo(call), word, "commit", &oid, NULL) == 0 && oid;
}

/* The side of a range that names nothing; the word itself if it is no range.  Caller frees. */
static char *wrong_side(struct al_call *call, const char *word)
{
    const char *dots = strstr(word, "..");
    al_auto(al_freep) char *left = dots ? al_strndup(word, (size_t)(dots - word)) : NULL;
    const char *right = dots ? dots + strspn(dots, ".") : NULL;

    if (!dots)
        return al_strdup(word + (*word == '^'));
    if (*left && !names_commit(call, left))
        return al_take(&left);
    return al_strdup(*right ? right : left);
}

bool al_call_names_commits(struct al_call *call, const char *revision)
{
    al_auto(al_freep) char *word = wrong_side(call, revision);

    return names_commit(call, word);
}

/* The reference of HEAD, if it names a commit that is not there; NULL.  Caller frees. */
static char *lost_commit(struct al_call *call)
{
    const struct al_location *at = &al_call_repo(call)->at;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_freep) char *oid = al_ref_head(at);

    al_ref_follow_head(at, &refs);
    return refs.count && oid && *oid && !names_commit(call, oid) ? al_strdup(refs.items[0]) : NULL;
}

/* Whether a reference, or that of HEAD (NULL), is broken; the error then says so. */
static bool tell_broken(struct al_call *call, const char *ref, struct al_error *err)
{
    al_auto(al_freep) char *broken = al_ref_broken(&al_call_repo(call)->at, ref);
    const bool all = broken && !strcmp(broken, "HEAD"), lost = !broken && !ref;

    if (lost)
        broken = lost_commit(call);
    if (!broken)
        return false;
    free(err->message);
    err->message = al_asprintf("'%s' is broken: %s", broken,
                               all    ? "no reference can be read"
                               : lost ? "the commit that it names is not there"
                                      : "its file holds no commit's id");
    err->remedy = all ? "A user can look at what 'git refs verify' says."
                  : lost
                      ? "A user can look for it with 'git fsck', or set the branch to an older "
                        "commit of its log with 'git update-ref'."
                      : "A user can mend it: its log below .git/logs ends with the commit it was "
                        "at; once the broken file is moved away, 'git update-ref' writes it.";
    return true;
}

/* "HEAD~50" has a base that is there. */
static void complete_revision(struct al_call *call, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *word = wrong_side(call, given);
    al_auto(al_freep) char *base = al_strndup(word, strcspn(word, "~^@:"));
    al_auto(al_freep) char *branch = al_asprintf("refs/heads/%s", base);
    al_auto(al_freep) char *shallow = al_shallow_commits(&al_call_repo(call)->at);
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    if (tell_broken(call, strcmp(base, "HEAD") != 0 ? branch : NULL, err))
        return;
    if (!strcmp(base, "HEAD") && !names_commit(call, "HEAD")) {
        err->subject = AL_SUBJECT_UNBORN;
        al_str_adds(&message, "There is no commit on this branch yet");
    } else if (al_is_oid(word, strlen(word)) && strlen(word) >= 7) {
        al_str_addf(&message, "'%s' names no commit", word);
    } else if (strcmp(base, word) != 0 && *base && names_commit(call, base)) {
        al_str_addf(&message, "'%s' names no commit, although '%s' does%s", word, base,
                    shallow ? ": the clone is shallow, and older commits are not in it" : "");
        if (shallow)
            err->remedy = "A user can fetch the rest of the history with 'git fetch --unshallow'.";
    } else {
        al_str_addf(&message, "'%s' names no branch, tag or commit", word);
        add_near(call, AL_SUBJECT_REVISION, *base ? base : word, &message);
    }
    free(err->message);
    err->message = al_str_detach(&message);
}

static void complete_path(struct al_call *call, enum al_subject kind, const char *given,
                          struct al_error *err)
{
    const char *magic = al_starts_with(given, ":(") ? strchr(given, ')') : NULL;
    const char *path = magic ? magic + 1 : given;
    const struct al_path_scope scope = { .worktree = true, .untracked = kind == AL_SUBJECT_PATH };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    al_strv_add(&paths, path);
    err->remedy = al_missing_paths_add(call, &paths, &scope, &message);
    if (!message.len)
        al_str_addf(&message, "No %sfile matches '%s'", kind == AL_SUBJECT_PATH ? "" : "tracked ",
                    path);
    al_str_trim_end(&message);
    free(err->message);
    err->message = al_str_detach(&message);
}

/* Complete the message of a failure about a revision, branch, tag, remote or path that there is
 * none of.  Other messages stay as they are.  Up to four git children, of failures only. */
static void complete_name(struct al_call *call, struct al_error *err)
{
    al_auto(al_freep) char *name = al_take(&err->name);
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    if (err->subject == AL_SUBJECT_UNBORN || (name && err->subject == AL_SUBJECT_REVISION)) {
        complete_revision(call, name ? name : "HEAD", err);
        return;
    }
    if (!name)
        return;
    if (err->subject == AL_SUBJECT_PATH || err->subject == AL_SUBJECT_TRACKED_PATH) {
        complete_path(call, err->subject, name, err);
        return;
    }
    al_str_adds(&message, err->message);
    if (message.buf[message.len - 1] == '.')
        al_str_truncate(&message, message.len - 1);
    add_near(call, err->subject, name, &message);
    free(err->message);
    err->message = al_str_detach(&message);
}

/* Limit of a message, which may contain the names of many files. */
#define CAUSE_MAX_BYTES 1000

/* Whether a line is git's advice about commands, which the caller does not have. */
static bool is_advice(const char *line)
{
    static const char *const beginnings[] = {
        "hint:", "Please ", "Aborting", "(use \"git ", "Use '", "Or ", "warning: ignoring "
    };

    for (size_t i = 0; i < AL_COUNT(beginnings); i++)
        if (al_starts_with(line, beginnings[i]))
            return true;
    return false;
}

static const char *skip_label(const char *line)
{
    static const char *const labels[] = { "fatal: ", "error: ", "warning: " };

    for (size_t i = 0; i < AL_COUNT(labels); i++)
        if (al_starts_with(line, labels[i]))
            return line + strlen(labels[i]);
    return line;
}

/* Fold a message into one line.  Indented names become a list.  Caller frees. */
static char *fold(char *message)
{
    struct al_str out = AL_STR_INIT;
    bool in_list = false;
    char *save = NULL;

    for (char *line = strtok_r(message, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        size_t indent = strspn(line, " \t");

        line += indent;
        if (!*line || is_advice(line))
            continue;
        if (out.len)
            al_str_adds(&out, indent && in_list ? ", " : " ");
        al_str_adds(&out, skip_label(line));
        in_list = indent;
    }
    if (out.len > CAUSE_MAX_BYTES) {
        al_str_truncate(&out, al_utf8_floor(out.buf, CAUSE_MAX_BYTES));
        al_str_adds(&out, "...");
    }
    return al_str_detach(&out);
}

static void fold_message(struct al_error *err)
{
    al_auto(al_freep) char *whole = err->message;
    al_auto(al_freep) char *copy = al_strdup(whole);
    char *line = fold(copy);

    err->message = line;
    if (!*line) { /* all lines are advice */
        free(line);
        err->message = al_take(&whole);
    }
    free(al_take(&err->detail));
}

bool al_failure_begin(struct al_error *err)
{
    const enum al_status status = err->status;

    /* An error about an approval has a remedy of its own. */
    if (status == AL_OK || status == AL_ERR_CANCELLED || status == AL_ERR_APPROVAL_REQUIRED ||
        status == AL_ERR_APPROVAL_DENIED || status == AL_ERR_NOT_GRANTED)
        return false;
    if (err->message)
        fold_message(err);
    return true;
}

void al_failure_complete(struct al_call *call, struct al_error *err)
{
    if (!al_failure_begin(err) || !al_call_repo(call))
        return;
    complete_name(call, err);
    if (err->status != AL_ERR_EXECUTION || err->remedy)
        return;
    (void)tell_broken(call, NULL, err);
    if (!err->subject && !err->code && al_ref_is_unborn(&al_call_repo(call)->at))
        err->subject = AL_SUBJECT_UNBORN;
}
