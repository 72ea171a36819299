// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/branch_list.h"

#include <string.h>

#include "answer/answer.h"
#include "answer/place.h"
#include "gitops/refs.h"
#include "toolsets/everyday/status_facts.h"

/** More branches are only counted. */
#define LISTED_MAX 200

/** A listing while it is written. */
struct showing {
    const struct al_repo *repo;
    struct al_str text;
    struct al_strv merged; /* names merged into the default branch */
    const char *base;      /* the default branch; NULL: none */
    size_t listed, left;
    bool in_remotes;
};

static bool take_merged(void *payload, const struct al_listed_ref *ref)
{
    struct showing *showing = payload;

    al_strv_add(&showing->merged, ref->name);
    return true;
}

static void add_facts(const struct showing *showing, const struct al_listed_ref *ref,
                      struct al_str *out)
{
    if (*ref->upstream) {
        al_str_adds(out, *ref->track ? ", " : ", even with ");
        if (*ref->track) {
            al_str_adds(out, ref->track);
            al_str_adds(out, " of ");
        }
        al_place_add_name(ref->upstream, out);
    }
    if (!ref->is_remote && showing->base && strcmp(ref->name, showing->base) != 0)
        al_str_addf(out, ", %s",
                    al_strv_contains(&showing->merged, ref->name) ? "merged" : "not merged");
    if (*ref->worktree && !ref->is_current) {
        al_str_adds(out, ", in ");
        al_place_add_name(ref->worktree, out);
    }
}

/* "* main a1b2c3d 2026-02-07 subject (ahead 3 of origin/main)" */
static bool take_branch(void *payload, const struct al_listed_ref *ref)
{
    struct showing *showing = payload;
    struct al_str *out = &showing->text;
    al_auto(al_str_clear) struct al_str facts = AL_STR_INIT;

    if (showing->listed++ >= LISTED_MAX) {
        showing->left++;
        return true;
    }
    if (ref->is_remote && !showing->in_remotes) {
        showing->in_remotes = true;
        al_str_adds(out, "remote-tracking:\n");
    }
    al_str_adds(out, ref->is_current ? "* " : "  ");
    al_place_add_name(ref->name, out);
    al_str_addf(out, " %s %s  ", ref->hash, ref->date);
    al_place_add_name(ref->subject, out);
    add_facts(showing, ref, &facts);
    if (facts.len)
        al_str_addf(out, " (%s)", facts.buf + strlen(", "));
    al_str_addc(out, '\n');
    return true;
}

static int show_all(struct al_call *call, const struct al_refs_query *query,
                    struct showing *showing, struct al_error *err)
{
    const struct al_refs_query merged = { .merged_into = showing->base };
    int r = 0;

    if (showing->base)
        r = al_git_read_refs(showing->repo, &merged, take_merged, showing, al_call_budget(call),
                             err);
    if (r == 0)
        r = al_git_read_refs(showing->repo, query, take_branch, showing, al_call_budget(call), err);
    return r;
}

/* The default branch, if it is a local one with commits. */
static char *merge_base_branch(const struct al_repo *repo)
{
    al_auto(al_freep) char *branch = al_default_branch(repo);
    al_auto(al_freep) char *ref = branch ? al_asprintf("refs/heads/%s", branch) : NULL;

    return ref && al_ref_exists(&repo->at, ref) ? al_take(&branch) : NULL;
}

/* Who names a branch that is not there may want to make it. */
static void tell_none(const struct al_refs_query *query, struct al_str *text)
{
    const bool is_name = query->pattern && !strpbrk(query->pattern, "*?[\\");
    al_auto(al_freep) char *safe = is_name ? al_text_sanitize_line(query->pattern) : NULL;

    if (is_name && !query->contains && !query->merged_into)
        al_str_addf(text, "No branch is called '%s'; action create makes one.\n", safe);
    else
        al_str_adds(text, "No branches match.\n");
}

int al_branch_list(struct al_call *call, const struct al_refs_query *query,
                   struct al_result *result, struct al_error *err)
{
    struct showing showing = { .repo = al_call_repo(call), .text = AL_STR_INIT };
    al_auto(al_freep) char *base = merge_base_branch(showing.repo);
    int r;

    showing.base = base;
    r = show_all(call, query, &showing, err);
    if (r == 0) {
        if (!showing.listed)
            tell_none(query, &showing.text);
        if (showing.left) {
            al_str_adds(&showing.text, "-- ");
            al_answer_add_count(showing.left, &showing.text);
            al_str_adds(&showing.text, " more, older ones: name takes a glob\n");
        }
        al_answer_text(&showing.text, result);
    }
    al_str_clear(&showing.text);
    al_strv_clear(&showing.merged);
    return r;
}
