// SPDX-License-Identifier: Apache-2.0
#include "verbs/transport/mirror.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/fs.h"
#include "git/layer.h"
#include "git/plumbing/bare.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/arg.h"
#include "verbs/transport/credential.h"
#include "verbs/transport/network.h"
#include "verbs/transport/push.h"

#define HEADS "refs/heads/"
#define COPY  "copy.git"

/* Some 50,000 branches. */
#define LIST_MAX_BYTES   (4u << 20)
#define OUTPUT_MAX_BYTES (64u << 10)
#define CONFIG_MAX_BYTES (64u << 10)

struct al_mirror {
    char *dir;               /* an empty repository, in which git reaches out; NULL: not made */
    char *copy_dir;          /* <dir>/copy.git */
    struct al_repo *outer;   /* the one at `dir` */
    struct al_repo *copy;    /* the one at `copy_dir`; NULL: nothing was fetched */
    struct al_remote remote; /* with the one address */
    bool was_asked;          /* the server asked for credentials before */
    const struct al_progress *progress;
};

/* --- The place --- */

/* git clone wrote the server's address and settings that make every later git fetch from there by
 * itself.  The network commands get them for themselves alone, see network_config.h. */
static int write_config(const char *dir, bool sha256)
{
    al_auto(al_closep) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const char *text = sha256 ? "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
                                "[extensions]\n\tobjectformat = sha256\n[gc]\n\tauto = 0\n"
                              : AL_REPO_OWN_CONFIG;

    return fd < 0 ? -errno : al_fs_write_atomic(fd, "config", text, strlen(text), 0600, true);
}

int al_mirror_new(struct al_git *git, const char *address, const struct al_progress *progress,
                  struct al_run_limits *budget, struct al_mirror **ret_mirror, struct al_error *err)
{
    al_auto(al_mirror_freep) struct al_mirror *mirror = al_calloc(1, sizeof(*mirror));
    int r = al_repo_make_own(git, budget, &mirror->outer, err);

    if (r < 0)
        return r;
    mirror->dir = al_strdup(mirror->outer->at.dir);
    mirror->copy_dir = al_fs_join(mirror->dir, COPY);
    mirror->progress = progress;
    mirror->remote.name = al_strdup("github");
    al_strv_add(&mirror->remote.urls, address);
    al_strv_add(&mirror->remote.push_urls, address);
    *ret_mirror = al_take(&mirror);
    return 0;
}

/* Remove the mirror from the disk and free it. */
static void drop_mirror(struct al_mirror *mirror)
{
    if (!mirror)
        return;
    if (mirror->copy)
        mirror->copy->free_mirror = NULL;
    if (mirror->outer)
        mirror->outer->free_mirror = NULL;
    al_repo_free(mirror->copy);
    al_repo_free(mirror->outer);
    al_remote_clear(&mirror->remote);
    if (mirror->dir)
        al_fs_remove_tree(mirror->dir);
    free(mirror->copy_dir);
    free(mirror->dir);
    free(mirror);
}

void al_mirror_freep(struct al_mirror **mirror)
{
    drop_mirror(al_take(mirror));
}

struct al_repo *al_mirror_to_repo(struct al_mirror *mirror, const char *shown)
{
    struct al_repo *repo = mirror->copy ? mirror->copy : mirror->outer;

    repo->mirror = mirror;
    repo->free_mirror = drop_mirror;
    repo->shown = al_strdup(shown);
    return repo;
}

/* --- Exchanges --- */

static int begin(const struct al_mirror *mirror, const struct al_repo *repo,
                 enum al_direction direction, struct al_network **ret_network, struct al_error *err)
{
    int r = al_network_begin(repo, &mirror->remote, mirror->remote.urls.items[0], direction,
                             ret_network, err);

    if (r < 0)
        return r;
    (*ret_network)->uses_github_token = true;
    (*ret_network)->was_asked = mirror->was_asked;
    return 0;
}

/* The agent has no tool to look at this remote with. */
static int explain(int r, struct al_error *err)
{
    if (r < 0 && err && err->code == AL_CODE_REMOTE_ERROR && err->remedy &&
        err->remedy == al_remote_check_address)
        err->remedy = "Check the name of the repository, whether the token may see it, and whether "
                      "the network is there.";
    return r;
}

static int failed(const struct al_network *network, const struct al_git_output *output,
                  struct al_error *err)
{
    static const char *const moved[] = { "error: 301", "error: 302", "error: 303", "error: 307",
                                         "error: 308" };

    for (size_t i = 0; i < AL_COUNT(moved); i++)
        if (strstr(output->err.out.buf, moved[i]))
            return al_remote_error(err, "Give the name that the repository has now.",
                                   "'%s' was moved or renamed (its server redirects elsewhere)",
                                   al_network_shown(network));
    return explain(al_network_failed(network, output, err), err);
}

/* Run a command whose words stand before the address or the name of the remote. */
static int run(struct al_mirror *mirror, struct al_network *network, struct al_git_command *command,
               size_t max_bytes, struct al_git_output *ret_output, struct al_error *err)
{
    int r = explain(al_network_run(network, command, max_bytes, mirror->progress, ret_output, err),
                    err);

    mirror->was_asked = network->was_asked;
    return r;
}

int al_mirror_check_token(struct al_mirror *mirror, struct al_error *err)
{
    al_auto(al_credential_clear) struct al_credential credential = AL_CREDENTIAL_INIT;
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    int r = al_url_parse(mirror->remote.urls.items[0], &url, err);

    return r < 0 ? r
                 : al_github_token(mirror->outer->at.git, &url, mirror->outer->at.budget,
                                   &credential, err);
}

/* The lines `<oid> TAB <full name>` of the branches, or of the one that is given. */
static int list(struct al_mirror *mirror, const char *branch, struct al_git_output *ret_output,
                struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r = begin(mirror, mirror->outer, AL_FETCHES, &network, err);

    if (r < 0)
        return r;
    al_strv_adds(&command.argv, "git", "ls-remote", "--heads", "--upload-pack=git-upload-pack",
                 network->name, NULL);
    if (branch)
        al_strv_addf(&command.argv, HEADS "%s", branch);
    r = run(mirror, network, &command, LIST_MAX_BYTES, ret_output, err);
    return r == 0 && ret_output->exit_code != 0 ? failed(network, ret_output, err) : r;
}

/* The next line of a list: its branch, and the id if it is one.  False at the end. */
static bool next_branch(char **save, const char **ret_branch, const char **ret_oid)
{
    char *line;

    while ((line = strtok_r(NULL, "\n", save))) {
        size_t digits = strcspn(line, "\t");

        if (!al_is_oid(line, digits) || !al_starts_with(line + digits, "\t" HEADS))
            continue;
        line[digits] = '\0';
        *ret_oid = line;
        *ret_branch = line + digits + 1 + strlen(HEADS);
        if (al_arg_check_branch("branch", *ret_branch, NULL) == 0)
            return true;
    }
    return false;
}

int al_mirror_branches(struct al_mirror *mirror, struct al_strv *ret_names, bool *ret_truncated,
                       struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const char *branch, *oid;
    char *save;
    int r = list(mirror, NULL, &output, err);

    if (r < 0)
        return r;
    *ret_truncated = al_text_truncate(&output.out.out, LIST_MAX_BYTES);
    save = output.out.out.buf;
    while (next_branch(&save, &branch, &oid))
        al_strv_add(ret_names, branch);
    return 0;
}

int al_mirror_look(struct al_mirror *mirror, const char *branch, char **ret_oid,
                   struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const char *found, *oid;
    char *save;
    int r = list(mirror, branch, &output, err);

    if (r < 0)
        return r;
    save = output.out.out.buf;
    while (next_branch(&save, &found, &oid))
        if (!strcmp(found, branch)) { /* ls-remote also lists "a/refs/heads/<branch>" */
            *ret_oid = al_strdup(oid);
            return 0;
        }
    *ret_oid = al_strdup("");
    return 0;
}

/* --- Fetching --- */

static void add_clone(struct al_strv *argv, const struct al_mirror *mirror,
                      const struct al_network *network, const char *branch)
{
    al_strv_adds(argv, "git", "clone", "-q", "--bare", "--depth=1", "--filter=blob:none",
                 "--single-branch", "--no-tags", "--template=", "--no-local",
                 "--no-recurse-submodules", "--upload-pack=git-upload-pack",
                 mirror->progress ? "--progress" : "--no-progress", NULL);
    al_strv_addf(argv, "--origin=%s", network->name);
    if (branch)
        al_strv_addf(argv, "--branch=%s", branch);
    al_strv_addf(argv, "%s:/", network->name); /* no insteadOf of the user matches it */
    al_strv_add(argv, COPY);
}

/* A tag of this name, which clone accepts as well, is no branch. */
static bool has_branch(const struct al_mirror *mirror, const char *branch)
{
    al_auto(al_freep) char *head = al_ref_read_head(&mirror->copy->at);
    al_auto(al_freep) char *wanted = al_asprintf("ref: " HEADS "%s", branch);

    return head && !strcmp(head, wanted);
}

static int open_copy(struct al_mirror *mirror, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str config = AL_STR_INIT;
    al_auto(al_freep) char *path = al_fs_join(mirror->copy_dir, "config");
    int r = al_fs_read(AT_FDCWD, path, CONFIG_MAX_BYTES, &config);

    if (r == 0)
        r = write_config(mirror->copy_dir, strcasestr(config.buf, "objectformat = sha256"));
    if (r < 0)
        return al_error_errno(err, -r, "cannot use what was fetched");
    return al_repo_open_own(mirror->outer->at.git, mirror->copy_dir, mirror->outer->at.budget,
                            &mirror->copy, err);
}

int al_mirror_fetch(struct al_mirror *mirror, const char *branch, bool *ret_found,
                    struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = begin(mirror, mirror->outer, AL_FETCHES, &network, err);

    if (r < 0)
        return r;
    al_repo_free(al_take(&mirror->copy));
    al_fs_remove_tree(mirror->copy_dir);
    network->is_partial = true;
    add_clone(&command.argv, mirror, network, branch);
    r = run(mirror, network, &command, OUTPUT_MAX_BYTES, &output, err);
    if (r < 0)
        return r;
    *ret_found = !branch || !al_remote_lacks_branch(&output);
    if (!*ret_found)
        return 0;
    if (output.exit_code != 0)
        return failed(network, &output, err);
    r = open_copy(mirror, err);
    if (r == 0 && branch)
        *ret_found = has_branch(mirror, branch);
    return r;
}

/* Append the lines of the blobs that the mirror lacks. */
static int find_missing(const struct al_mirror *mirror, const struct al_strv *oids,
                        struct al_str *ret_lines, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    int r = al_git_find_objects(&mirror->copy->at, oids, false, NULL, &missing, err);

    for (size_t i = 0; r == 0 && i < missing.count; i++)
        al_str_addf(ret_lines, "%s\n", missing.items[i]);
    return r;
}

int al_mirror_fetch_blobs(struct al_mirror *mirror, const struct al_strv *oids,
                          struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    int r = find_missing(mirror, oids, &lines, err);

    if (r < 0 || !lines.len)
        return r;
    r = begin(mirror, mirror->copy, AL_FETCHES, &network, err);
    if (r < 0)
        return r;
    network->is_partial = true;
    al_strv_adds(&command.argv, "git", "fetch", "--no-tags", "--no-write-fetch-head",
                 "--no-recurse-submodules", "--no-auto-maintenance", "--filter=blob:none",
                 "--upload-pack=git-upload-pack", mirror->progress ? "--progress" : "--no-progress",
                 "--stdin", network->name, NULL);
    al_git_command_feed(&command, &lines);
    r = run(mirror, network, &command, OUTPUT_MAX_BYTES, &output, err);
    if (r < 0)
        return r;
    return output.exit_code != 0 ? failed(network, &output, err) : 0;
}

/* --- Pushing --- */

int al_mirror_push(struct al_mirror *mirror, const struct al_push_options *options,
                   struct al_pushed *ret_pushed, struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = NULL;
    int r = begin(mirror, mirror->copy, AL_PUSHES, &network, err);

    if (r < 0)
        return r;
    r = al_git_push(network, options, mirror->progress, OUTPUT_MAX_BYTES, ret_pushed, err);
    mirror->was_asked = network->was_asked;
    return explain(r, err);
}
