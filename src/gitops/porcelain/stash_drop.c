// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/stash_drop.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/location.h"
#include "gitops/refs.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define STASH            "refs/stash"
#define LOG_MAX_BYTES    (64u << 20)
#define OUTPUT_MAX_BYTES (64u << 10)

/* The number of times that other gits may change the stash just then. */
#define ATTEMPTS_MAX 16

/* What the log says of an entry: a line is "<old id> <id> <who and when> TAB <message>". */
struct place {
    size_t index, count;   /* of the entry, as in stash@{index}, and of all entries */
    struct al_str without; /* the log without the entry's line */
    char *tip;             /* the id that is the newest then; NULL: none is left */
};

static void place_clear(struct place *place)
{
    al_str_clear(&place->without);
    free(place->tip);
    *place = (struct place){ .without = AL_STR_INIT };
}

/* The id that a line of the log adds; NULL: it is none. */
static const char *id_of(const char *line)
{
    const char *space = strchr(line, ' ');

    return space ? space + 1 : NULL;
}

static bool adds(const char *line, const char *oid)
{
    const char *id = id_of(line);

    return id && !strncmp(id, oid, strlen(oid)) && id[strlen(oid)] == ' ';
}

/* The line after the one that goes names the entry before it as the old one, as with
 * `git reflog delete --rewrite`. */
static bool find_line(const struct al_strv *lines, const char *oid, struct place *ret_place)
{
    size_t at = lines->count;

    while (at > 0 && !adds(lines->items[at - 1], oid))
        at--;
    if (!at--)
        return false;
    ret_place->count = lines->count;
    ret_place->index = lines->count - 1 - at;
    for (size_t i = 0; i < lines->count; i++) {
        const char *line = lines->items[i], *rest = i == at + 1 ? id_of(line) : NULL;

        if (rest)
            al_str_addf(&ret_place->without, "%.*s %s\n", (int)strcspn(lines->items[at], " "),
                        lines->items[at], rest);
        else if (i != at)
            al_str_addf(&ret_place->without, "%s\n", line);
        if (i != at && id_of(line)) {
            free(ret_place->tip);
            ret_place->tip = al_strndup(id_of(line), strcspn(id_of(line), " "));
        }
    }
    return true;
}

/* False: the entry is not there. */
static bool find_place(int common_fd, const char *oid, struct place *ret_place)
{
    al_auto(al_closep) int fd = al_nofollow_open(common_fd, "logs/" STASH, O_RDONLY);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv lines = AL_STRV_INIT;
    char *save = NULL;

    if (fd < 0 || al_fs_read_fd(fd, LOG_MAX_BYTES, &text) < 0 || !text.len)
        return false;
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        al_strv_add(&lines, line);
    return find_line(&lines, oid, ret_place);
}

/* --- Under git's lock --- */

/* A drop, while a git holds the lock of the reference. */
struct drop {
    const char *oid;
    int common_fd;
    int in_fd;          /* standard input of that git; it unlocks at its end */
    bool deletes;       /* it is the last entry, and git deletes the reference */
    bool moved;         /* the stash is not as it was when git was started */
    bool is_done;       /* the log is without the entry; of the last one: git was told */
    int r;              /* 0, or -errno of a file */
    size_t index;       /* of the entry */
    struct al_str said; /* by git, so far */
};

static int replace_file(int common_fd, const char *path, const void *data, size_t len)
{
    const char *name;
    al_auto(al_closep) int dir_fd = al_nofollow_open_parent(common_fd, path, false, &name);
    struct stat st;

    if (dir_fd < 0)
        return dir_fd;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        st.st_mode = 0644;
    return al_fs_write_atomic(dir_fd, name, data, len, st.st_mode & 0777, true);
}

static void change(struct drop *drop)
{
    al_auto(place_clear) struct place place = { .without = AL_STR_INIT };

    drop->moved = !find_place(drop->common_fd, drop->oid, &place) || drop->deletes != !place.tip;
    if (drop->moved)
        return;
    drop->index = place.index;
    if (drop->deletes) {
        drop->r = al_write_all(drop->in_fd, "commit\n", strlen("commit\n"));
    } else {
        drop->r =
            replace_file(drop->common_fd, "logs/" STASH, place.without.buf, place.without.len);
        if (drop->r == 0 && place.index == 0) {
            al_auto(al_freep) char *line = al_asprintf("%s\n", place.tip);

            drop->r = replace_file(drop->common_fd, STASH, line, strlen(line));
        }
    }
    drop->is_done = drop->r == 0;
}

/* git says "prepare: ok" when it has the lock, and gives it back at the end of its input. */
static bool take_word(void *payload, const char *data, size_t len)
{
    struct drop *drop = payload;

    if (drop->in_fd < 0 || drop->said.len + len > OUTPUT_MAX_BYTES)
        return true;
    al_str_add(&drop->said, data, len);
    if (!strstr(drop->said.buf, "prepare: ok\n"))
        return true;
    change(drop);
    al_closep(&drop->in_fd);
    return true;
}

/* `tip`: what the reference has to be.  When airlock is killed, its end of the pipe closes, and git
 * removes the lock. */
static int run(struct al_repo *repo, struct drop *drop, const char *tip,
               struct al_run_limits *budget, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *words =
        al_asprintf("start\n%s " STASH " %s\nprepare\n", drop->deletes ? "delete" : "verify", tip);
    al_auto(al_closep) int read_fd = -1;
    int fds[2], r;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return al_error_errno(err, errno, "cannot talk to git");
    read_fd = fds[0];
    drop->in_fd = fds[1];
    r = al_write_all(drop->in_fd, words, strlen(words));
    if (r < 0)
        r = al_error_errno(err, -r, "cannot talk to git");
    command.class = AL_GIT_WRITE;
    command.in_fd = read_fd;
    al_strv_adds(&command.argv, "git", "update-ref", "--stdin", NULL);
    if (r == 0)
        r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = { take_word, drop } },
                       budget, ret_output, err);
    al_closep(&drop->in_fd);
    return r;
}

static int gone(struct al_error *err)
{
    int r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_STASH_EMPTY,
                              "The stash entry is no longer there");

    if (err)
        err->reason = "not_found";
    return r;
}

/* Drop the entry unless the stash changes just then. */
static int attempt(struct al_repo *repo, struct drop *drop, struct al_run_limits *budget,
                   struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(place_clear) struct place place = { .without = AL_STR_INIT };
    al_auto(al_freep) char *tip = NULL;
    int r;

    if (!find_place(drop->common_fd, drop->oid, &place))
        return gone(err);
    tip = al_ref_oid(&repo->at, STASH);
    drop->deletes = !place.tip;
    drop->moved = drop->is_done = false;
    al_str_clear(&drop->said);
    r = run(repo, drop, tip, budget, ret_output, err);
    if (r == 0 && drop->r < 0)
        return al_error_errno(err, -drop->r, "cannot write the stash");
    /* At the end of its input without "commit" git gives up, and that is an error to it. */
    drop->is_done &= r == 0 && (!drop->deletes || ret_output->exit_code == 0);
    return r;
}

static int say(const struct drop *drop, struct al_git_output *ret_output)
{
    al_git_output_clear(ret_output);
    *ret_output = (struct al_git_output){ .out = AL_TEXT_INIT(OUTPUT_MAX_BYTES),
                                          .err = AL_TEXT_INIT(OUTPUT_MAX_BYTES) };
    al_str_addf(&ret_output->out.out, "Dropped stash@{%zu} (%s)\n", drop->index, drop->oid);
    return 0;
}

int al_git_stash_drop(struct al_repo *repo, const char *oid, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_closep) int common_fd = -1;
    struct drop drop = { .oid = oid, .in_fd = -1, .said = AL_STR_INIT };
    struct al_git_output output = { .exit_code = -1 };
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    drop.common_fd = common_fd;
    for (int i = 0; r == 0 && !drop.is_done && i < ATTEMPTS_MAX; i++) {
        al_git_output_clear(&output);
        output = (struct al_git_output){ .exit_code = -1 };
        r = attempt(repo, &drop, budget, &output, err);
    }
    if (r == 0 && drop.is_done)
        r = say(&drop, ret_output);
    else if (r == 0 && !drop.moved && output.err.out.len)
        r = al_git_failed(&output, err);
    else if (r == 0)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "Another git keeps changing the stash, and the entry was not dropped");
    al_str_clear(&drop.said);
    al_git_output_clear(&output);
    return r;
}
