// SPDX-License-Identifier: Apache-2.0
#include "toolsets/transfer.h"

#include "gitops/refs.h"
#include "gitops/repo/known_remotes.h"
#include "gitops/repo/repo.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/arg.h"
#include "guard/url.h"

int al_transfer_check(const char *remote, const char *branch, struct al_error *err)
{
    int r = al_remote_check_name("remote", remote, err);

    return r == 0 && branch ? al_arg_check_branch("branch", branch, err) : r;
}

static int check_addresses(const struct al_strv *addresses, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < addresses->count && r == 0; i++) {
        al_auto(al_url_clear) struct al_url url = AL_URL_INIT;

        r = al_url_parse(addresses->items[i], &url, err);
    }
    return r;
}

int al_transfer_authorize(struct al_call *call, const char *remote, struct al_error *err)
{
    al_auto(al_remote_clear) struct al_remote found = AL_REMOTE_INIT;
    int r = al_remote_find(al_call_repo(call), remote, &found, err);

    if (r == 0)
        r = check_addresses(&found.urls, err);
    return r == 0 ? check_addresses(&found.push_urls, err) : r;
}

/* Whether an address is a path on this machine. */
static bool is_here(const char *address)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;

    return al_url_parse(address, &url, NULL) == 0 && url.kind == AL_URL_PATH;
}

static bool is_new(struct al_call *call, const struct al_remote *remote, const char *address,
                   enum al_direction direction)
{
    if (direction == AL_FETCHES && is_here(address))
        return false;
    return al_remote_address_is_new(al_call_repo(call), remote->name, address, direction);
}

static const struct al_strv *addresses_of(const struct al_remote *remote,
                                          enum al_direction direction)
{
    return direction == AL_PUSHES ? &remote->push_urls : &remote->urls;
}

bool al_transfer_is_new(struct al_call *call, const char *remote, enum al_direction direction)
{
    al_auto(al_remote_clear) struct al_remote found = AL_REMOTE_INIT;
    const struct al_strv *addresses = addresses_of(&found, direction);

    if (al_remote_find(al_call_repo(call), remote, &found, NULL) < 0)
        return false; /* the call itself reports the error */
    for (size_t i = 0; i < addresses->count; i++)
        if (is_new(call, &found, addresses->items[i], direction))
            return true;
    return false;
}

const char *const al_transfer_always_by[] = { "address", NULL };

void al_transfer_resolve(struct al_call *call, const char *remote, struct al_resolved *out)
{
    al_auto(al_remote_clear) struct al_remote found = AL_REMOTE_INIT;

    if (al_remote_find(al_call_repo(call), remote, &found, NULL) < 0)
        return;
    for (size_t i = 0; i < found.urls.count; i++)
        al_resolved_add(out, "address", found.urls.items[i]);
}

void al_transfer_preview(struct al_call *call, const struct al_remote *remote,
                         enum al_direction direction, struct al_str *out)
{
    const struct al_strv *addresses = addresses_of(remote, direction);

    for (size_t i = 0; i < addresses->count; i++) {
        al_auto(al_freep) char *shown = al_url_shown(addresses->items[i]);

        al_str_addf(out, "%s %s\n", direction == AL_PUSHES ? "To" : "From", shown);
        if (is_new(call, remote, addresses->items[i], direction))
            al_str_adds(out, "This address was added or changed in this session.\n");
    }
}

void al_transfer_accept(struct al_call *call, const struct al_remote *remote,
                        enum al_direction direction)
{
    if (al_call_was_asked(call))
        al_remote_accept(al_call_repo(call), remote, direction);
}

int al_transfer_begin(struct al_call *call, const struct al_remote *remote, const char *address,
                      enum al_direction direction, struct al_network **ret_network,
                      struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    int r = al_network_begin(al_call_repo(call), remote, address, direction, al_call_budget(call),
                             &network, err);
    const struct al_repo *other = r == 0 ? al_network_other(network) : NULL;
    bool writes = direction == AL_PUSHES;

    if (other) {
        r = al_call_check_granted(call, other->at.top, writes, err);
        if (r == 0)
            r = al_call_check_granted(call, other->at.git_dir, writes, err);
        if (r == 0)
            r = al_call_check_granted(call, other->at.common_dir, writes, err);
    }
    if (r == 0)
        *ret_network = al_take(&network);
    return r;
}

/* The name of the resolved value that identifies the repository at an address.  Caller frees. */
static char *target_key(const char *address)
{
    return al_asprintf("place of %s", address);
}

static int add_target(struct al_call *call, const struct al_remote *remote, const char *address,
                      struct al_resolved *out, struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    al_auto(al_freep) char *name = target_key(address);
    int r = al_transfer_begin(call, remote, address, AL_PUSHES, &network, err);

    if (r < 0)
        return r;
    al_resolved_add(out, "address", address);
    al_resolved_add(out, name, al_network_repository_id(network));
    return 0;
}

int al_transfer_resolve_push(struct al_call *call, const struct al_remote *remote,
                             const char *branch, bool deletes, struct al_resolved *out,
                             struct al_error *err)
{
    const struct al_location *at = &al_call_repo(call)->at;
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", branch);
    al_auto(al_freep) char *commit = deletes ? al_strdup("") : al_ref_oid(at, ref);
    al_auto(al_freep) char *tracking = al_remote_tracking(remote, branch);
    al_auto(al_freep) char *seen = tracking ? al_ref_oid(at, tracking) : al_strdup("");
    int r = 0;

    al_resolved_add(out, "branch", branch);
    al_resolved_add(out, "commit", commit);
    al_resolved_add(out, "seen", seen);
    for (size_t i = 0; i < remote->push_urls.count && r == 0; i++)
        r = add_target(call, remote, remote->push_urls.items[i], out, err);
    return r;
}

/* Check that the address still leads to the repository that was resolved. */
static int check_target(const struct al_call *call, const struct al_network *network,
                        const char *address, struct al_error *err)
{
    al_auto(al_freep) char *name = target_key(address);
    const char *place = al_call_resolved(call, name);

    if (place && !strcmp(place, al_network_repository_id(network)))
        return 0;
    return al_remote_error(err, "Nothing was pushed there; try again.",
                           "'%s' leads to another repository by now", al_network_shown(network));
}

int al_transfer_push(struct al_call *call, const struct al_remote *remote, const char *address,
                     const struct al_push_options *options, struct al_pushed *pushed,
                     struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    int r = al_transfer_begin(call, remote, address, AL_PUSHES, &network, err);

    if (r == 0)
        r = check_target(call, network, address, err);
    if (r < 0)
        return r;
    al_pushed_clear(pushed);
    return al_git_push(network, options, al_call_progress(call), al_call_max_bytes(call),
                       al_call_budget(call), pushed, err);
}

char *al_transfer_merge_message(const struct al_remote *remote, const char *branch,
                                const char *current)
{
    al_auto(al_freep) char *where = al_url_shown(remote->urls.items[0]);
    bool into_main = !current || !strcmp(current, "main") || !strcmp(current, "master");

    return al_asprintf("Merge branch '%s' of %s%s%s", branch, where, into_main ? "" : " into ",
                       into_main ? "" : current);
}

int al_transfer_fetch(struct al_call *call, const struct al_remote *remote,
                      const struct al_fetch_options *options, struct al_str *ret_text,
                      struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    int r = al_transfer_begin(call, remote, remote->urls.items[0], AL_FETCHES, &network, err);

    if (r < 0)
        return r;
    return al_git_fetch(network, options, al_call_progress(call), al_call_max_bytes(call),
                        al_call_budget(call), ret_text, err);
}

int al_transfer_current_branch(struct al_call *call, char **ret_branch, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r;

    al_ref_head_branches(&al_call_repo(call)->at, &names);
    if (strcmp(names.items[0], "HEAD") != 0) {
        *ret_branch = al_strdup(names.items[0]);
        return 0;
    }
    /* HEAD is detached during a rebase; the advice to switch branches would leave it unfinished. */
    r = al_git_check_no_operation(al_call_repo(call), al_call_budget(call), err);
    if (r < 0)
        return r;
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED, "HEAD is on no branch");
    if (err)
        err->remedy = "Switch to a branch with git_checkout first.";
    return r;
}

json_t *al_transfer_result(bool success, const char *remote, const char *message)
{
    json_t *object = al_json_object();

    al_json_set(object, "success", al_json_bool(success));
    al_json_set(object, "remote", al_json_string(remote));
    al_json_set(object, "message", al_json_string(message));
    return object;
}
