// SPDX-License-Identifier: Apache-2.0
/* The binding of an approval: the state of the repository, HEAD's branches if rules looked at
 * them, and the values that an "always" covers. */
#include <stdlib.h>

#include "gitops/oid.h"
#include "gitops/plumbing/state_digest.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "guard/url.h"
#include "tool/args.h"
#include "tool/private.h"

/* The items of a tool's list arguments, and the pathspecs that git makes of them. */
static int add_named(struct al_call *call, struct al_strv *paths, struct al_str *specs,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < call->tool->nparams; i++) {
        const struct al_param *param = &call->tool->params[i];
        const struct al_strv *list;

        if (param->type != AL_TYPE_STRINGS)
            continue;
        list = al_args_strings(call->args, param);
        for (size_t k = 0; k < list->count; k++)
            al_strv_add(paths, list->items[k]);
        if (r == 0 && call->repo && (param->flags & AL_PARAM_PATH))
            r = al_repo_pathspecs(call->repo, list, &call->budget, specs, err);
    }
    return r;
}

/* Without a repository of the user there is no other state than what was resolved. */
static void digest_words(const struct al_str *words, char ret_state[65])
{
    struct al_hash hash;
    struct al_oid digest;

    al_hash_init(&hash, true);
    al_hash_add(&hash, words->buf, words->len);
    al_hash_end(&hash, &digest);
    al_oid_text(&digest, true, ret_state);
}

/* An answer covers HEAD, the index, the affected files and the resolved objects as they are now. */
int al_approval_bind(struct al_call *call, char ret_state[65], struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str objects = AL_STR_INIT;
    const struct al_strv *files;
    int r = al_call_resolve(call, err);

    if (r == 0)
        r = al_call_affected_files(call, &files, err);
    if (r == 0)
        r = add_named(call, &paths, &objects, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < files->count; i++)
        al_strv_add(&paths, files->items[i]);
    al_resolved_write(&call->resolved, &objects);
    if (call->repo && !call->repo->at.is_own)
        return al_repo_state_digest(call->repo, &paths, &objects, ret_state, err);
    digest_words(&objects, ret_state);
    return 0;
}

char *al_approval_branches(const struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct al_str joined = AL_STR_INIT;

    if (call->repo)
        al_ref_head_branches(&call->repo->at, &names);
    for (size_t i = 0; i < names.count; i++)
        al_str_addf(&joined, "%s\n", names.items[i]);
    return al_str_detach(&joined);
}

/* A new branch has the same commit as HEAD, but rules may treat the two differently. */
static bool is_on_same_branches(const struct al_call *call)
{
    al_auto(al_freep) char *now = call->branches ? al_approval_branches(call) : NULL;

    return !now || !strcmp(call->branches, now);
}

/* The values that an "always" covers: safe text (`shown`), or unchanged. */
static void add_values(const struct al_call *call, const char *name, bool shown, struct al_str *out)
{
    const struct al_strv *pairs = &call->resolved.pairs;

    for (size_t i = 0; i + 1 < pairs->count; i += 2) {
        const char *value = pairs->items[i + 1];
        al_auto(al_freep) char *safe = NULL;

        if (strcmp(pairs->items[i], name) != 0)
            continue;
        safe = shown ? al_url_shown(value) : NULL;
        al_str_addf(out, "%s%s %s", out->len ? ", " : "", name, safe ? safe : value);
    }
}

char *al_approval_always_values(const struct al_call *call, bool shown)
{
    const char *const *names = call->tool->always_by;
    struct al_str values = AL_STR_INIT;

    for (size_t i = 0; names && names[i]; i++)
        add_values(call, names[i], shown, &values);
    return al_str_detach(&values);
}

/* The arguments may mean something else since the "always" was looked up. */
static bool is_still_covered(const struct al_call *call)
{
    al_auto(al_freep) char *now =
        call->always_values ? al_approval_always_values(call, false) : NULL;

    return !now || !strcmp(call->always_values, now);
}

/* No checkpoint could be taken after it was decided that nobody is asked because of it. */
static bool may_go_unsaved(const struct al_call *call)
{
    return !call->unsaved || strcmp(call->decision, "auto") != 0 ||
           call->session->mode == AL_APPROVAL_ALLOW;
}

int al_approval_check(struct al_call *call, bool *ret_current, struct al_error *err)
{
    char now[sizeof(call->state)];
    int r;

    *ret_current = is_on_same_branches(call) && is_still_covered(call) && may_go_unsaved(call);
    if (!*ret_current || !call->state[0])
        return 0;
    al_call_invalidate(call);
    r = al_approval_bind(call, now, err);
    if (r == 0)
        *ret_current = !strcmp(call->state, now);
    return r;
}
