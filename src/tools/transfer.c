// SPDX-License-Identifier: Apache-2.0
#include "tools/private.h"

#include "git/refs.h"
#include "git/repo/remotes.h"

int al_transfer_check_remote(const char *param, const char *name, struct al_error *err)
{
    if (strchr(name, ':') || *name == '/' || al_starts_with(name, "../"))
        return al_failure_bad_args(err,
                                   "git_remote lists the names; action add gives an address one.",
                                   "%s: the name of a remote is meant, not an address", param);
    return al_arg_check_branch(param, name, err);
}

int al_transfer_find(const struct al_call *call, struct al_remote *remote, struct al_error *err)
{
    return al_remote_find(al_call_repo(call), al_call_resolved(call, "remote"), remote, err);
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

int al_transfer_authorize(struct al_call *call, struct al_error *err)
{
    al_auto(al_remote_clear) struct al_remote found = AL_REMOTE_INIT;
    int r = al_transfer_find(call, &found, err);

    if (r == 0)
        r = check_addresses(&found.urls, err);
    return r == 0 ? check_addresses(&found.push_urls, err) : r;
}

static bool is_new(struct al_call *call, const struct al_remote *remote, const char *address,
                   enum al_direction direction)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;

    if (direction == AL_FETCHES && al_url_parse(address, &url, NULL) == 0 &&
        url.kind == AL_URL_PATH)
        return false; /* from a path on this machine */
    return al_remote_address_is_new(al_call_repo(call), remote->name, address, direction);
}

bool al_transfer_is_new(struct al_call *call)
{
    return al_call_resolved(call, AL_RESOLVED_NEW_ADDRESS) != NULL;
}

const char *const al_transfer_always_by[] = { AL_RESOLVED_ADDRESS, NULL };

void al_transfer_resolve_address(struct al_call *call, const struct al_remote *remote,
                                 const char *address, enum al_direction direction)
{
    al_call_resolve(call, AL_RESOLVED_ADDRESS, address);
    if (is_new(call, remote, address, direction))
        al_call_resolve(call, AL_RESOLVED_NEW_ADDRESS, address);
}

void al_transfer_resolve(struct al_call *call, const char *remote)
{
    al_auto(al_remote_clear) struct al_remote found = AL_REMOTE_INIT;

    al_call_resolve(call, "remote", remote);
    if (al_remote_find(al_call_repo(call), remote, &found, NULL) < 0)
        return;
    for (size_t i = 0; i < found.urls.count; i++)
        al_transfer_resolve_address(call, &found, found.urls.items[i], AL_FETCHES);
}

void al_transfer_preview(struct al_call *call, const struct al_remote *remote,
                         enum al_direction direction, struct al_str *out)
{
    const struct al_strv *addresses = direction == AL_PUSHES ? &remote->push_urls : &remote->urls;

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

int al_transfer_begin(struct al_call *call, const struct al_repo *repo,
                      const struct al_remote *remote, const char *address,
                      enum al_direction direction, struct al_network **ret_network,
                      struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    int r = al_network_begin(repo, remote, address, direction, &network, err);
    const struct al_location *at = r == 0 && network->other ? &network->other->at : NULL;
    const char *const dirs[] = { at ? at->top : NULL, at ? at->git_dir : NULL,
                                 at ? at->common_dir : NULL };

    for (size_t i = 0; r == 0 && at && i < AL_COUNT(dirs); i++)
        r = al_grant_check_dir(al_call_session(call)->grant, dirs[i], direction == AL_PUSHES, err);
    if (r == 0)
        *ret_network = al_take(&network);
    return r;
}

int al_transfer_fetch(struct al_call *call, const struct al_remote *remote,
                      const struct al_fetch_options *options, struct al_str *ret_text,
                      struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    int r;

    al_transfer_accept(call, remote, AL_FETCHES);
    r = al_transfer_begin(call, al_call_repo(call), remote, remote->urls.items[0], AL_FETCHES,
                          &network, err);
    if (r < 0)
        return r;
    return al_git_fetch(network, options, al_call_input(call)->progress, al_call_max_bytes(call),
                        ret_text, err);
}

bool al_transfer_in_text(const struct al_call *call)
{
    return !al_call_tool(call)->output_schema;
}

int al_transfer_check_idle(struct al_call *call, struct al_error *err)
{
    return al_transfer_in_text(call) ? al_everyday_check_idle(call, err)
                                     : al_git_check_no_operation(al_call_repo(call), err);
}

bool al_has_ref(const struct al_call *call, const char *below, const char *name)
{
    al_auto(al_freep) char *ref = al_asprintf("%s%s", below, name);

    return al_ref_exists(&al_call_repo(call)->at, ref);
}

char *al_current_branch(const struct al_repo *repo)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_ref_head_branches(&repo->at, &names);
    return names.count && strcmp(names.items[0], "HEAD") != 0 ? al_strdup(names.items[0]) : NULL;
}

int al_transfer_current_branch(struct al_call *call, char **ret_branch, struct al_error *err)
{
    bool text = al_transfer_in_text(call);
    int r;

    *ret_branch = al_current_branch(al_call_repo(call));
    if (*ret_branch)
        return 0;
    /* HEAD is detached during a rebase; the advice to switch branches would leave it unfinished. */
    r = al_transfer_check_idle(call, err);
    if (r < 0)
        return r;
    return al_error_remedy(al_error_set_code(err, AL_ERR_EXECUTION,
                                             text ? AL_CODE_NONE : AL_CODE_OPERATION_FAILED,
                                             "HEAD is on no branch"),
                           err,
                           text ? "Name a branch, or go to one with git_switch."
                                : "Switch to a branch with git_checkout first.");
}

void al_transfer_result(struct al_result *result, bool success, const char *remote,
                        const char *message)
{
    al_result_set(result, "success", al_json_bool(success));
    al_result_set(result, "remote", al_json_string(remote));
    al_result_set(result, "message", al_json_string(message));
}
