// SPDX-License-Identifier: Apache-2.0
#include "answer/near_names.h"

#include <stdlib.h>
#include <string.h>

#include "answer/missing_paths.h"
#include "gitops/plumbing/revision.h"
#include "gitops/reading/read_refs.h"
#include "gitops/refs.h"
#include "gitops/repo/remotes.h"
#include "guard/text.h"
#include "util/nearest.h"

/** The subject of a message. */
enum kind { REVISION, BRANCH, TAG, REMOTE, THEIR_BRANCH, TRACKED_PATH, ANY_PATH };

/* The beginnings of messages, and what ends the name.  The first one that fits counts. */
static const struct {
    const char *begin, *end;
    enum kind kind;
} messages[] = {
    { "Branch not found: ", "", REVISION },
    { "invalid reference: ", "", REVISION },
    { "bad revision '", "'", REVISION },
    { "ambiguous argument '", "': unknown revision", REVISION },
    { "unable to resolve revision: ", "", REVISION },
    { "rev: '", "' names nothing", REVISION },
    { "There is no branch '", "'", BRANCH },
    { "No branch named '", "'", BRANCH },
    { "no branch named '", "'", BRANCH },
    { "There is no tag '", "'", TAG },
    { "There is no remote '", "'", REMOTE },
    { "The remote has no branch '", "'", THEIR_BRANCH },
    { "pathspec '", "' did not match any files", ANY_PATH },
    { "pathspec '", "' did not match any file(s) known to git", TRACKED_PATH },
};

/* The name that a message is about; NULL: it is about none.  Caller frees. */
static char *name_in(const char *message, enum kind *ret_kind)
{
    for (size_t i = 0; i < AL_COUNT(messages); i++) {
        const char *name = message + strlen(messages[i].begin);
        const char *end;

        if (!al_starts_with(message, messages[i].begin))
            continue;
        end = *messages[i].end ? strstr(name, messages[i].end) : name + strlen(name);
        if (!end || end == name)
            continue;
        *ret_kind = messages[i].kind;
        return al_strndup(name, (size_t)(end - name));
    }
    return NULL;
}

/** The names that there are, while they are compared. */
struct search {
    const char *word;
    enum kind kind;
    char *near;      /* in few edits */
    char *qualified; /* "feature/login" for "login" */
};

static void search_clear(struct search *search)
{
    free(search->near);
    free(search->qualified);
}

static void offer(struct search *search, const char *name)
{
    struct al_nearest nearest = { .word = search->word };
    const size_t len = strlen(name), own = strlen(search->word);

    if (len > own && name[len - own - 1] == '/' && !strcmp(name + len - own, search->word) &&
        !search->qualified)
        search->qualified = al_strdup(name);
    if (search->near) {
        nearest.found = search->near;
        nearest.edits = al_edit_distance(search->word, search->near);
    }
    al_nearest_offer(&nearest, name);
    if (nearest.found && nearest.found != search->near) {
        free(search->near);
        search->near = al_strdup(name);
    }
}

static bool take_ref(void *payload, const struct al_listed_ref *ref)
{
    struct search *search = payload;
    const char *name = ref->name;

    if (search->kind == THEIR_BRANCH) {
        name = ref->is_remote ? strchr(name, '/') : NULL;
        if (!name)
            return true;
        name++;
    }
    offer(search, name);
    return true;
}

static void search_refs(struct al_call *call, struct search *search)
{
    const struct al_repo *repo = al_call_repo(call);
    const struct al_refs_query branches = { .remotes = search->kind != BRANCH };
    const struct al_refs_query tags = { .tags = true };

    if (search->kind != TAG)
        (void)al_git_read_refs(repo, &branches, take_ref, search, al_call_budget(call), NULL);
    if (search->kind == TAG || search->kind == REVISION)
        (void)al_git_read_refs(repo, &tags, take_ref, search, al_call_budget(call), NULL);
}

static void search_remotes(struct al_call *call, struct search *search)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_remote_names(al_call_repo(call), &names);
    for (size_t i = 0; i < names.count; i++)
        offer(search, names.items[i]);
}

/* Append what may have been meant. */
static void add_near(struct al_call *call, enum kind kind, const char *word, struct al_str *out)
{
    al_auto(search_clear) struct search search = { .word = word, .kind = kind };
    al_auto(al_freep) char *tag = al_asprintf("refs/tags/%s", word);
    const char *meant;

    if (kind == BRANCH && al_ref_exists(&al_call_repo(call)->at, tag)) {
        al_str_adds(out, "; it is a tag");
        return;
    }
    if (kind == REMOTE)
        search_remotes(call, &search);
    else
        search_refs(call, &search);
    meant = search.near ? search.near : search.qualified;
    if (meant) {
        al_str_adds(out, "; did you mean '");
        al_text_add_shown_line(meant, out);
        al_str_adds(out, "'?");
    }
}

static bool names_commit(struct al_call *call, const char *word)
{
    al_auto(al_freep) char *oid = NULL;

    return al_git_find_object(al_call_repo(call), word, "commit", al_call_budget(call), &oid,
                              NULL) == 0 &&
           oid;
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
    return al_strdup(*right ? right : word);
}

/* "HEAD~50" has a base that is there. */
static void complete_revision(struct al_call *call, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *word = wrong_side(call, given);
    al_auto(al_freep) char *base = al_strndup(word, strcspn(word, "~^@:"));
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    if (!strcmp(base, "HEAD") && !names_commit(call, "HEAD"))
        al_str_adds(&message, "There is no commit on this branch yet");
    else if (al_is_oid(word, strlen(word)) && strlen(word) >= 7) {
        al_str_addf(&message, "'%s' names no commit", word);
    } else if (strcmp(base, word) != 0 && *base && names_commit(call, base)) {
        al_str_addf(&message, "'%s' names no commit, although '%s' does", word, base);
    } else {
        al_str_addf(&message, "'%s' names no branch, tag or commit", word);
        add_near(call, REVISION, *base ? base : word, &message);
    }
    free(err->message);
    err->message = al_str_detach(&message);
}

static void complete_path(struct al_call *call, enum kind kind, const char *given,
                          struct al_error *err)
{
    const char *magic = al_starts_with(given, ":(") ? strchr(given, ')') : NULL;
    const char *path = magic ? magic + 1 : given;
    const struct al_path_scope scope = { .worktree = true, .untracked = kind == ANY_PATH };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    al_strv_add(&paths, path);
    al_missing_paths_add(call, &paths, &scope, &message);
    if (!message.len)
        al_str_addf(&message, "No %sfile matches '%s'", kind == ANY_PATH ? "" : "tracked ", path);
    al_str_trim_end(&message);
    free(err->message);
    err->message = al_str_detach(&message);
}

void al_near_names_complete(struct al_call *call, struct al_error *err)
{
    enum kind kind = REVISION;
    al_auto(al_freep) char *name = err->message ? name_in(err->message, &kind) : NULL;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    if (!name || !al_call_repo(call))
        return;
    if (kind == REVISION) {
        complete_revision(call, name, err);
        return;
    }
    if (kind >= TRACKED_PATH) {
        complete_path(call, kind, name, err);
        return;
    }
    al_str_adds(&message, err->message);
    if (message.buf[message.len - 1] == '.')
        al_str_truncate(&message, message.len - 1);
    add_near(call, kind, name, &message);
    free(err->message);
    err->message = al_str_detach(&message);
}
