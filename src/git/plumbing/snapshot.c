// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "git/command.h"
#include "git/environment.h"
#include "git/failure.h"
#include "git/oid.h"
#include "git/plumbing/index_scan.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "proc/spawn.h"

#define FEW_BYTES     8192u        /* of paths */
#define FED_MAX_BYTES (256 * 1024) /* larger ones are few */
#define COMMITTED     "progress committed\n"
#define COPY_PART     4 /* of the time is for copying a commit */
#define ERR_MAX_BYTES (64u * 1024u)
#define END_MS        2000 /* time for git to end by itself */
#define POLL_MS       1000 /* the deadline is looked at as often */

/* --- A child beside its caller --- */

/* Give it a moment to end. */
static void await_end(const struct al_spawned *child)
{
    struct pollfd end = { .fd = child->process.pidfd, .events = POLLIN };

    (void)poll(&end, 1, END_MS);
}

void al_beside_clear(struct al_beside *beside)
{
    struct al_proc_result result;

    al_closep(&beside->in_fd);
    if (beside->child && beside->out_fd < 0)
        await_end(beside->child);
    if (beside->child)
        al_running_end(al_take(&beside->child), &result);
    al_closep(&beside->out_fd);
    al_closep(&beside->err_fd);
}

/* Start a command, with `is_fed` one that gets its input piece by piece. */
static int begin_beside(const struct al_location *at, const struct al_git_command *command,
                        bool is_fed, struct al_beside *ret_beside, struct al_error *err)
{
    al_auto(al_git_child_clear) struct al_git_child child;
    int ends[2] = { -1, -1 }, r = al_git_child_prepare(at, command, &child, err);

    if (r < 0)
        return r;
    ret_beside->err_fd = memfd_create("messages", MFD_CLOEXEC);
    if (!is_fed)
        child.spec.out_fd = ret_beside->out_fd = memfd_create("list", MFD_CLOEXEC);
    if (ret_beside->err_fd < 0 || child.spec.out_fd < 0 || (is_fed && pipe2(ends, O_CLOEXEC) < 0))
        return al_error_errno(err, errno, "cannot hold what git says");
    child.spec.sandbox = &child.sandbox;
    child.spec.err_fd = ret_beside->err_fd;
    if (is_fed) {
        child.spec.in_fd = ends[0];
        ret_beside->in_fd = ends[1];
        (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    }
    r = al_running_start(&child.spec, &ret_beside->child, err);
    al_close(ends[0]);
    return r;
}

/* Give a sink what a file has. */
static int give(int fd, struct al_sink sink)
{
    char piece[65536];
    ssize_t len;

    for (off_t at = 0; (len = pread(fd, piece, sizeof(piece), at)) > 0; at += len)
        if (!sink.add(sink.payload, piece, (size_t)len))
            break;
    return len < 0 ? -errno : 0;
}

/* A child that has ended: pass its output on, or what it complained about.  One that gets its input
 * piece by piece should not have. */
static int end_of(const struct al_location *at, struct al_beside *beside, struct al_sink sink,
                  struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = {
        .out = AL_TEXT_INIT(0),
        .err = AL_TEXT_INIT(ERR_MAX_BYTES),
    };
    struct al_proc_result result;
    bool did_well;
    int r;

    al_running_end(al_take(&beside->child), &result);
    at->budget->exit_code = output.exit_code = result.exit_code;
    output.signal = result.signal;
    did_well = result.exit_code == 0 && beside->out_fd >= 0;
    r = did_well ? give(beside->out_fd, sink) : give(beside->err_fd, al_git_text_sink(&output.err));
    if (r < 0)
        return al_error_errno(err, -r, "cannot read what git says");
    al_text_end(&output.err);
    return did_well ? 0 : al_git_failed(&output, err);
}

/* Wait for the end of a child, and pass its output on. */
static int end_beside(const struct al_location *at, struct al_beside *beside, struct al_sink sink,
                      struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(at->budget);
    struct pollfd fds[] = {
        { .fd = beside->child->process.pidfd, .events = POLLIN },
        { .fd = al_cancel_fd(at->budget->cancel), .events = POLLIN },
    };
    int r = 0;

    while (r == 0 && !fds[0].revents) {
        (void)poll(fds, AL_COUNT(fds), POLL_MS);
        r = fds[0].revents ? 0 : al_deadline_check(&deadline, err);
    }
    al_deadline_sync(&deadline);
    return r < 0 ? r : end_of(at, beside, sink, err);
}

int al_git_read_both(const struct al_location *at, const struct al_git_command *first,
                     struct al_sink first_sink, const struct al_git_command *second,
                     struct al_sink second_sink, struct al_error *err)
{
    al_auto(al_beside_clear) struct al_beside beside = AL_BESIDE_INIT;
    int r = begin_beside(at, first, false, &beside, err);

    if (r == 0)
        r = al_git_read(at, second, second_sink, err);
    return r < 0 ? r : end_beside(at, &beside, first_sink, err);
}

/* False at the end of the stream. */
static bool read_some(int fd, struct al_str *text)
{
    char piece[4096];
    const ssize_t len = read(fd, piece, sizeof(piece));

    if (len > 0)
        al_str_add(text, piece, (size_t)len);
    return len > 0 || (len < 0 && errno == EINTR);
}

/* Write to the child, and read until its output ends as it should.  AL_ERR_AGAIN: it has ended. */
static int converse(const struct al_beside *fed, const struct al_str *input, const char *until,
                    struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(budget);
    size_t sent = 0;
    int r = 0;

    while (r == 0 && !al_ends_with(out->buf, until)) {
        struct pollfd fds[] = {
            { .fd = fed->child->out_fd, .events = POLLIN },
            { .fd = al_cancel_fd(budget->cancel), .events = POLLIN },
            { .fd = sent < input->len ? fed->in_fd : -1, .events = POLLOUT },
        };
        ssize_t n;

        (void)poll(fds, AL_COUNT(fds), POLL_MS);
        n = fds[2].revents ? write(fed->in_fd, input->buf + sent, input->len - sent) : 0;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            sent = input->len; /* it has ended, and its output says why */
        sent += n > 0 ? (size_t)n : 0;
        r = fds[0].revents && !read_some(fds[0].fd, out) ? AL_ERR_AGAIN
                                                         : al_deadline_check(&deadline, err);
    }
    al_deadline_sync(&deadline);
    return r;
}

/* Give a child more input, and wait until its output ends with `until`.  The command starts it, if
 * there is none yet. */
static int feed_beside(const struct al_location *at, const struct al_git_command *command,
                       struct al_beside *fed, const struct al_str *input, const char *until,
                       struct al_str *ret_output, struct al_error *err)
{
    const size_t len = ret_output->len;
    bool was_there;
    int r;

    if (fed->in_fd < 0)
        al_beside_clear(fed);
    was_there = fed->child;
    r = was_there ? 0 : begin_beside(at, command, true, fed, err);
    if (r == 0)
        r = converse(fed, input, until, at->budget, ret_output, err);
    if (r == AL_ERR_AGAIN && !was_there) {
        await_end(fed->child);
        r = end_of(at, fed, al_git_sink(NULL), err);
    }
    if (r < 0)
        al_beside_clear(fed);
    if (r != AL_ERR_AGAIN)
        return r;
    al_str_truncate(ret_output, len); /* it was killed since; another one does as well */
    return feed_beside(at, command, fed, input, until, ret_output, err);
}

/* --- Snapshots --- */

/* Begin a command over the directory.  Names that only other systems cannot have are recorded like
 * any other; the bare repository is never checked out. */
static void begin(struct al_git_command *command, const struct al_snapshot_dir *dir)
{
    al_strv_adds(&command->argv, "git", "-c", "core.protectNTFS=false", "-c",
                 "core.protectHFS=false", "-c", "core.fsync=added", NULL);
    if (dir->excludes) {
        al_strv_add(&command->argv, "-c");
        al_strv_addf(&command->argv, "core.excludesFile=%s", dir->excludes);
    }
    command->cwd_fd = dir->fd;
    command->work_tree = ".";
    command->index = dir->index;
}

int al_snapshot_refresh(const struct al_snapshot_dir *dir, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r;

    begin(&command, dir);
    al_strv_adds(&command.argv, "update-index", "-q", "--refresh", NULL);
    r = al_git_write(&dir->at, &command, 0, &why);
    if (r == AL_ERR_EXECUTION && dir->at.budget->exit_code == 1) /* some files have changed */
        return 0;
    return al_error_pass(r, &why, err);
}

int al_snapshot_pack_begin(const struct al_location *at, const struct al_str *lines,
                           struct al_beside *ret_beside, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_bare_pack_command(&command, lines, true);
    return begin_beside(at, &command, false, ret_beside, err);
}

int al_snapshot_pack_end(const struct al_location *at, struct al_beside *beside, char **ret_hash,
                         struct al_error *err)
{
    al_auto(al_str_clear) struct al_str hash = AL_STR_INIT;
    int r = end_beside(at, beside, al_git_sink(&hash), err);

    al_str_trim_end(&hash);
    *ret_hash = al_str_detach(&hash);
    return r;
}

/* Copy the files of a commit while the times of those in the working tree are looked at: at 100,000
 * files that saves 0.4 s.  A look that fails, is missing or takes too long only makes it slower. */
static int copy_and_refresh(const struct al_snapshot_dir *dir, const char *commit,
                            struct al_error *err)
{
    al_auto(al_beside_clear) struct al_beside copy = AL_BESIDE_INIT;
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    al_auto(al_freep) char *hash = NULL;
    struct al_run_limits part;
    struct al_location at = dir->at;
    uint32_t most_ms;
    int r;

    al_str_addf(&tree, "%s^{tree}\n", commit);
    (void)al_snapshot_pack_begin(&at, &tree, &copy, NULL);
    r = al_snapshot_refresh(dir, err);
    if (r < 0 || !copy.child)
        return r;
    part = *dir->at.budget;
    part.left_ms = most_ms = part.left_ms / COPY_PART + 1;
    at.budget = &part;
    (void)al_snapshot_pack_end(&at, &copy, &hash, NULL);
    dir->at.budget->left_ms -= most_ms - part.left_ms;
    return 0;
}

int al_snapshot_begin(const struct al_snapshot_dir *dir, const char *commit, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    begin(&command, dir);
    al_strv_adds(&command.argv, "read-tree", "-m", commit, NULL);
    command.borrows = true;
    r = al_git_write(&dir->at, &command, 0, err);
    return r < 0 ? r : copy_and_refresh(dir, commit, err);
}

struct listing {
    al_snapshot_fn take;
    void *payload;
    int status;
    struct al_error *err;
};

static bool take_path(void *payload, char *const *fields)
{
    struct listing *listing = payload;

    listing->status = listing->take(listing->payload, fields[0], listing->err);
    return listing->status == 0;
}

int al_snapshot_list(const struct al_snapshot_dir *dir, al_snapshot_fn take, void *payload,
                     struct al_error *err)
{
    struct listing listing = { .take = take, .payload = payload, .err = err };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_path, &listing);
    const struct al_sink sink = { al_nul_records_add, &records };
    al_auto(al_git_command_clear) struct al_git_command changed = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command others = AL_GIT_COMMAND_INIT;
    int r;

    begin(&changed, dir);
    al_strv_adds(&changed.argv, "diff-files", "-z", "--name-only", "--ignore-submodules=all", NULL);
    begin(&others, dir);
    al_strv_adds(&others.argv, "ls-files", "-z", "--others", NULL);
    if (!dir->ignores_nothing)
        al_strv_add(&others.argv, "--exclude-standard");
    r = al_git_read_both(&dir->at, &changed, sink, &others, sink, err);
    return listing.status < 0 ? listing.status : r;
}

int al_snapshot_list_ignored(const struct al_snapshot_dir *dir, bool known, al_snapshot_fn take,
                             void *payload, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    struct listing listing = { .take = take, .payload = payload, .err = err };
    int r;

    begin(&command, dir);
    al_strv_adds(&command.argv, "ls-files", "-z", known ? "--cached" : "--others", "--ignored",
                 "--exclude-standard", NULL);
    r = al_git_read_records(&dir->at, &command, 1, take_path, &listing, err);
    return listing.status < 0 ? listing.status : r;
}

int al_snapshot_ignored_begin(const struct al_repo *repo, int top_fd, bool tracked,
                              struct al_beside *ret_beside, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.cwd_fd = top_fd;
    al_strv_adds(&command.argv, "git", "ls-files", "-z", "--ignored", "--exclude-standard",
                 tracked ? "--cached" : "--others", tracked ? NULL : "--directory", NULL);
    return begin_beside(&repo->at, &command, false, ret_beside, err);
}

int al_snapshot_ignored_end(const struct al_repo *repo, struct al_beside *beside,
                            struct al_strv *ret_paths, struct al_error *err)
{
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, al_nul_records_list, ret_paths);

    return end_beside(&repo->at, beside, (struct al_sink){ al_nul_records_add, &records }, err);
}

/* Append the content of a file to a stream of git-fast-import(1). */
static void feed_file(const struct al_snapshot_dir *dir, const char *path, struct al_str *stream)
{
    al_auto(al_closep) int fd = al_nofollow_open(dir->fd, path, O_RDONLY);
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;

    if (fd < 0 || al_fs_read_fd(fd, FED_MAX_BYTES, &bytes) < 0)
        return;
    al_str_addf(stream, "blob\ndata %zu\n", bytes.len);
    al_str_add(stream, bytes.buf, bytes.len);
}

/* Store the content of many files at once.  git update-index compares each new blob with all others
 * of its pack: 20,000 files take it 2.3 s, after this 0.1 s.  A file that is not stored here, or
 * changes meanwhile, is stored there. */
static int feed(const struct al_snapshot_dir *dir, const struct al_str *paths, struct al_error *err)
{
    al_auto(al_closep) int fd = openat(dir->at.dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    al_auto(al_str_clear) struct al_str output = AL_STR_INIT, stream = AL_STR_INIT;
    struct al_deadline deadline = al_deadline_begin(dir->at.budget);
    int r = 0;

    for (size_t at = 0; fd >= 0 && r == 0 && at < paths->len; at += strlen(paths->buf + at) + 1) {
        feed_file(dir, paths->buf + at, &stream);
        if (stream.len > FED_MAX_BYTES && al_write_all(fd, stream.buf, stream.len) < 0)
            return 0; /* git says what the matter is */
        if (stream.len > FED_MAX_BYTES)
            al_str_reset(&stream);
        r = al_deadline_step(&deadline, err);
    }
    al_deadline_sync(&deadline);
    al_str_adds(&stream, "done\n");
    /* A file system without O_TMPFILE only takes longer. */
    if (fd < 0 || r < 0 || al_write_all(fd, stream.buf, stream.len) < 0 ||
        lseek(fd, 0, SEEK_SET) < 0)
        return r;
    return al_bare_import(&dir->at, fd, &output, err);
}

int al_snapshot_update(const struct al_snapshot_dir *dir, const struct al_str *paths, bool drop,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    const bool feeds = !drop && paths->len > FEW_BYTES;
    int r = feeds ? feed(dir, paths, err) : 0;

    if (r < 0 || !paths->len)
        return r;
    begin(&command, dir);
    al_git_command_feed(&command, paths);
    /* All new blobs go into one pack, not compressed: git repack does that later. */
    al_strv_add(&command.argv, "-c");
    al_strv_addf(&command.argv, "core.bigFileThreshold=%d", feeds ? FED_MAX_BYTES : 1);
    al_strv_adds(&command.argv, "-c", "core.compression=0", "update-index", NULL);
    if (drop) /* which the others do not change */
        al_strv_add(&command.argv, "--force-remove");
    al_strv_adds(&command.argv, "--add", "--remove", "--replace", "-z", "--stdin", NULL);
    return al_git_write(&dir->at, &command, 0, err);
}

static void begin_import(struct al_git_command *command)
{
    command->class = AL_GIT_WRITE;
    al_strv_adds(&command->argv, "git", "-c", "core.fsync=committed", "-c",
                 "fastimport.unpackLimit=0", "-c", "pack.compression=1", "fast-import", "--quiet",
                 "--force", "--date-format=raw", "--depth=0", NULL);
}

static int import(const struct al_location *at, struct al_git_command *command,
                  struct al_str *ret_output, struct al_error *err)
{
    begin_import(command);
    al_strv_add(&command->argv, "--done");
    return al_git_read(at, command, al_git_sink(ret_output), err);
}

int al_snapshot_commit(const struct al_location *at, struct al_beside *import,
                       struct al_str *stream, const char *reference, struct al_str *ret_output,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    begin_import(&command);
    if (reference)
        al_str_addf(stream, "checkpoint\nreset %s\n\n" COMMITTED, reference);
    return feed_beside(at, &command, import, stream, reference ? COMMITTED : "", ret_output, err);
}

int al_snapshot_import(const struct al_location *at, const struct al_str *stream,
                       struct al_str *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.borrows = true;
    al_git_command_feed(&command, stream);
    return import(at, &command, ret_output, err);
}

int al_bare_import(const struct al_location *at, int stream_fd, struct al_str *ret_output,
                   struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.in_fd = stream_fd;
    return import(at, &command, ret_output, err);
}

void al_import_quote(struct al_str *stream, const char *dir, const char *path)
{
    al_auto(al_freep) char *whole = al_asprintf("%s%s", dir, path);

    al_git_quote(stream, whole);
}

/* The mode that git records. */
static unsigned mode_of(unsigned mode)
{
    return !S_ISREG(mode) ? mode & S_IFMT : S_IFREG | (mode & S_IXUSR ? 0755 : 0644);
}

void al_import_content(struct al_str *stream, unsigned mode, const char *dir, const char *path,
                       const struct al_str *content)
{
    al_str_addf(stream, "M %06o inline ", mode_of(mode));
    al_import_quote(stream, dir, path);
    al_str_addf(stream, "\ndata %zu\n", content->len);
    al_str_add(stream, content->buf, content->len);
    al_str_addc(stream, '\n');
}

void al_import_object(struct al_str *stream, unsigned mode, const char *oid, const char *dir,
                      const char *path)
{
    if (mode)
        al_str_addf(stream, "M %06o %s ", mode_of(mode), oid);
    else
        al_str_adds(stream, "D ");
    al_import_quote(stream, dir, path);
    al_str_addc(stream, '\n');
}

int al_snapshot_references(const struct al_repo *repo, struct al_str *ret_lines,
                           struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "for-each-ref",
                 "--format=%(if)%(symref)%(then)ref: %(symref)%(else)%(objectname)%(end) "
                 "%(refname)",
                 NULL);
    command.buffered = true;
    return al_git_read(&repo->at, &command, al_git_sink(ret_lines), err);
}

static bool add_hashed(void *payload, const char *data, size_t len)
{
    al_hash_add(payload, data, len);
    return true;
}

int al_snapshot_index_digest(const struct al_repo *repo, int top_fd, bool sha256,
                             char ret_digest[AL_OID_TEXT], struct al_error *err)
{
    struct al_hash hash;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.cwd_fd = top_fd;
    al_strv_adds(&command.argv, "git", "ls-files", "-v", "-s", "-z", NULL);
    al_hash_init(&hash, sha256);
    r = al_git_read(&repo->at, &command, (struct al_sink){ add_hashed, &hash }, err);
    al_hash_text(&hash, ret_digest);
    return r;
}

/* --- Rollback --- */

int al_git_put_entries(const struct al_repo *repo, int top_fd, const char *index_path,
                       const struct al_entry_lines *entries, size_t count, struct al_error *err)
{
    static const char *const options[] = { "--index-info", "--skip-worktree",
                                           "--assume-unchanged" };
    struct al_str inputs[] = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT };
    const int digits = (int)(2 * al_oid_bytes(repo->vetting->is_sha256));
    int r = 0;

    for (size_t i = 0; i < count; i++) {
        const char *path = entries[i].path;
        const size_t bytes = strlen(path) + 1;

        al_str_addf(&inputs[0], "0 %0*d\t", digits, 0);
        al_str_add(&inputs[0], path, bytes);
        for (const char *line = entries[i].lines; line && *line; line = strchr(line, '\n') + 1) {
            al_str_addf(&inputs[0], "%.*s\t", (int)strcspn(line + 4, "\n"), line + 4);
            al_str_add(&inputs[0], path, bytes);
            for (size_t k = 1; k < AL_COUNT(options); k++)
                if (line[k - 1] != '-')
                    al_str_add(&inputs[k], path, bytes);
        }
    }
    for (size_t i = 0; i < AL_COUNT(options); i++) {
        if (r == 0)
            r = al_index_update(repo, top_fd, index_path, options[i], &inputs[i], err);
        al_str_clear(&inputs[i]);
    }
    return r;
}

int al_git_store_pack(const struct al_repo *repo, int dir_fd, const char *name,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_closep) int fd = al_nofollow_open(dir_fd, name, O_RDONLY);

    if (fd < 0)
        return al_error_errno(err, -fd, "cannot read '%s'", name);
    command.in_fd = fd;
    al_strv_adds(&command.argv, "git", "index-pack", "--stdin", NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

/* References. */

static bool is_symbolic(const char *value)
{
    return value && al_starts_with(value, "ref: ");
}

/* Whether a deleted reference makes room for another one: "a" and "a/b" cannot exist together, so
 * git has to delete the old one first. */
static bool makes_room(const struct al_ref_move *moves, size_t nmoves, const char *gone)
{
    for (size_t i = 0; i < nmoves; i++)
        if (moves[i].to && !moves[i].from &&
            (al_fs_beneath(moves[i].name, gone) || al_fs_beneath(gone, moves[i].name)))
            return true;
    return false;
}

/* One transaction: the deletions that make room for others, or the remaining moves. */
static int move_some(const struct al_repo *repo, const struct al_ref_move *moves, size_t nmoves,
                     bool room, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    for (size_t i = 0; i < nmoves; i++) {
        const struct al_ref_move *move = &moves[i];

        if (is_symbolic(move->from) || is_symbolic(move->to) ||
            room != (!move->to && makes_room(moves, nmoves, move->name)))
            continue;
        al_str_addf(&input, "option no-deref%c%s %s%c", '\0',
                    move->to ? move->from ? "update" : "create" : "delete", move->name, '\0');
        if (move->to)
            al_str_addf(&input, "%s%c", move->to, '\0');
        if (move->from || !move->to)
            al_str_addf(&input, "%s%c", move->from ? move->from : "", '\0');
    }
    if (!input.len)
        return 0;
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "update-ref", "-m", "airlock: rollback", "-z", "--stdin",
                 NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

/* @param to  NULL: delete it. */
static int set_symbolic(const struct al_repo *repo, const char *name, const char *to,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "symbolic-ref", to ? "--" : "--delete", name, to, NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

static int move_symbolic(const struct al_repo *repo, const struct al_ref_move *move,
                         struct al_error *err)
{
    const struct al_ref_move gone = { .name = move->name, .from = move->from };
    const struct al_ref_move made = { .name = move->name, .to = move->to };
    int r = 0;

    if (is_symbolic(move->from))
        r = set_symbolic(repo, move->name, NULL, err);
    else if (move->from)
        r = move_some(repo, &gone, 1, false, err);
    if (r < 0 || !move->to)
        return r;
    return is_symbolic(move->to) ? set_symbolic(repo, move->name, move->to + strlen("ref: "), err)
                                 : move_some(repo, &made, 1, false, err);
}

int al_git_move_refs(const struct al_repo *repo, const struct al_ref_move *moves, size_t nmoves,
                     struct al_error *err)
{
    int r = move_some(repo, moves, nmoves, true, err);

    if (r == 0)
        r = move_some(repo, moves, nmoves, false, err);
    for (size_t i = 0; i < nmoves && r == 0; i++)
        if (is_symbolic(moves[i].from) || is_symbolic(moves[i].to))
            r = move_symbolic(repo, &moves[i], err);
    return r;
}

/* Ignored files. */

int al_git_ignored_paths(const struct al_repo *repo, int top_fd, const struct al_strv *paths,
                         struct al_strv *ret_ignored, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    if (!paths->count)
        return 0;
    for (size_t i = 0; i < paths->count; i++)
        al_str_add(&input, paths->items[i], strlen(paths->items[i]) + 1);
    al_git_command_feed(&command, &input);
    command.cwd_fd = top_fd;
    al_strv_adds(&command.argv, "git", "check-ignore", "-z", "--stdin", "--no-index", NULL);
    return al_git_find_records(&repo->at, &command, 1, al_nul_records_list, ret_ignored, err);
}

/* --- What git cannot read --- */

/* git needs a HEAD. */
static int make_head(const struct al_repo *repo)
{
    static const char unborn[] = "ref: refs/heads/main\n";
    al_auto(al_closep) int fd = open(repo->at.git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -errno : al_fs_write_atomic(fd, "HEAD", unborn, strlen(unborn), 0666, true);
}

/* Move a file to where damaged ones are kept.  Copies from before get a number. */
static int move_away(const char *from, const char *parent, const char *to)
{
    struct stat st;
    int r = al_fs_mkdirs(parent, 0700);

    for (unsigned number = 1; r == 0 && lstat(to, &st) == 0; number++) {
        al_auto(al_freep) char *older = al_asprintf("%s~%u", to, number);

        if (lstat(older, &st) < 0 && rename(to, older) < 0)
            return -errno;
    }
    return r == 0 && rename(from, to) < 0 ? -errno : r;
}

/* Whether it has neither an id nor another reference's name.  "HEAD": a git of old has a symbolic
 * link there. */
static bool is_broken(const struct al_repo *repo, const char *name)
{
    const bool is_head = !strcmp(name, "HEAD");
    al_auto(al_freep) char *line =
        is_head ? al_ref_read_head(&repo->at) : al_ref_read_loose(&repo->at, name);
    al_auto(al_freep) char *value = line ? al_ref_value(line, repo->vetting->is_sha256) : NULL;

    return line && !(value && value[strspn(value, "0")]);
}

/* A file of a directory cannot be read.  Its name has no slashes where it goes, since what a branch
 * side left there must not be in the way of one side/one.  A reference that somebody has moved
 * meanwhile stays: git moves it while it has its lock.  The rollback has that of the index. */
static int take_damaged(const struct al_repo *repo, const char *dir, const char *name,
                        bool put_aside, struct al_error *err)
{
    const bool is_ref = !strcmp(name, "HEAD") || al_starts_with(name, "refs/");
    al_auto(al_freep) char *safe = al_text_sanitize_line(name), *from = al_fs_join(dir, name);
    al_auto(al_freep) char *parent = al_fs_join(repo->at.common_dir, "airlock/damaged");
    al_auto(al_freep) char *to = al_fs_join(parent, name), *lock = al_asprintf("%s.lock", from);
    al_auto(al_closep) int fd = -1;
    int r = 0;

    if (!put_aside)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "git cannot read '%s' of the git directory; 'airlock rollback --force' "
                            "moves it away, and brings back what it was",
                            safe);
    for (char *slash = to + strlen(parent) + 1; (slash = strchr(slash, '/'));)
        *slash = ':';
    if (is_ref && (fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0)
        return al_error_errno(err, errno, "cannot lock '%s'", safe);
    if (!is_ref || is_broken(repo, name)) {
        r = move_away(from, parent, to);
        if (r == 0 && !strcmp(name, "HEAD"))
            r = make_head(repo);
        if (r == 0)
            al_log_warn("git cannot read '%s' of the git directory: it is in '%s' now", safe,
                        parent);
    }
    if (is_ref)
        (void)unlink(lock);
    return r < 0 ? al_error_errno(err, -r, "cannot move '%s' away", safe) : 0;
}

/* Ask git something that needs this file, after all others that it needs are in order.  NULL: git
 * says itself what is wrong. */
static int check(const struct al_repo *repo, const char *dir, const char *file, bool put_aside,
                 const char *const *words, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    for (size_t i = 0; words[i]; i++)
        al_strv_add(&command.argv, words[i]);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .sink = al_git_sink(NULL), .checked = !file }, &output,
                   err);
    if (r < 0 || output.exit_code <= 0)
        return r;
    r = take_damaged(repo, dir, file, put_aside, err);
    return r < 0 ? r : check(repo, dir, file, put_aside, words, err); /* without it */
}

int al_git_check_damage(const struct al_repo *repo, const struct al_strv *refs, bool looks,
                        bool put_aside, struct al_error *err)
{
    static const char *const open_it[] = { "git", "rev-parse", "--git-dir", NULL };
    static const char *const list[] = { "git", "for-each-ref", "--format=%(refname)", NULL };
    static const char *const unmerged[] = { "git",      "-c",         "index.threads=1",
                                            "ls-files", "--unmerged", NULL };
    const char *git_dir = repo->at.git_dir, *common_dir = repo->at.common_dir;
    const bool has_head = !is_broken(repo, "HEAD");
    int r;

    looks |= !has_head;
    for (size_t i = 0; i < refs->count && !looks; i++)
        looks = is_broken(repo, refs->items[i]);
    if (!looks)
        return 0;
    r = has_head ? 0 : take_damaged(repo, git_dir, "HEAD", put_aside, err);
    if (r == 0)
        r = check(repo, git_dir, NULL, put_aside, open_it, err);
    if (r == 0)
        r = check(repo, common_dir, al_ref_is_stored(&repo->at, "HEAD") ? NULL : "packed-refs",
                  put_aside, list, err);
    for (size_t i = 0; r == 0 && i < refs->count; i++)
        if (is_broken(repo, refs->items[i]))
            r = take_damaged(repo, common_dir, refs->items[i], put_aside, err);
    return r < 0 ? r : check(repo, git_dir, "index", put_aside, unmerged, err);
}
