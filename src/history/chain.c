// SPDX-License-Identifier: Apache-2.0
/* The key, the head and the chain of a journal: appending lines, whatever happened to a writer. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/journal_private.h"
#include "util/fs.h"
#include "util/log.h"

/* --- Key and head --- */

#define KEY_BYTES 32

/* The head is one line of fixed width, written with one pwrite(2): sequence number, size, the two
 * HMACs, and the HMAC of all of these. */
#define HEAD_FORMAT  "%020" PRIu64 " %020" PRIu64 " %s %s "
#define SIGNED_BYTES (AL_HEAD_BYTES - AL_MAC_HEX - 1)

const char al_mac_none[AL_MAC_HEX + 1] =
    "0000000000000000000000000000000000000000000000000000000000000000";

/* Without its key no line could be verified any more.  0 or -errno. */
static int sync_key(int dir_fd, const char *name)
{
    al_auto(al_closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    return fd < 0 || fsync(fd) < 0 || fsync(dir_fd) < 0 ? -errno : 0;
}

static int create_key(int dir_fd, const char *name, struct al_error *err)
{
    unsigned char bytes[KEY_BYTES];
    int r;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return al_error_errno(err, errno, "cannot make a key for the journal");
    r = al_fs_write_atomic(dir_fd, name, bytes, sizeof(bytes), 0600, false);
    explicit_bzero(bytes, sizeof(bytes));
    if (r == 0)
        r = sync_key(dir_fd, name);
    /* If another process created the key, that one is used. */
    if (r < 0 && r != -EEXIST)
        return al_error_errno(err, -r, "cannot create the journal's key '%s'", name);
    return 0;
}

int al_key_load(int dir_fd, const char *name, bool create, struct al_key *ret_key,
                struct al_error *err)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    int r;

    r = al_fs_read(dir_fd, name, KEY_BYTES, &bytes);
    if (r == -ENOENT && create) {
        r = create_key(dir_fd, name, err);
        if (r < 0)
            return r;
        r = al_fs_read(dir_fd, name, KEY_BYTES, &bytes);
    }
    if (r == -ENOENT)
        return al_error_set(err, AL_ERR_NOT_FOUND, "the journal's key '%s' is missing", name);
    if (r == -EFBIG || (r == 0 && bytes.len != KEY_BYTES))
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is not a key of a journal", name);
    if (r < 0)
        return al_error_errno(err, -r, "cannot read the journal's key '%s'", name);
    hmac_sha256_set_key(&ret_key->ctx, bytes.len, (const uint8_t *)bytes.buf);
    explicit_bzero(bytes.buf, bytes.len);
    return 0;
}

void al_key_mac(const struct al_key *key, const void *data, size_t len,
                char ret_hex[AL_MAC_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    struct hmac_sha256_ctx ctx = key->ctx;
    uint8_t mac[SHA256_DIGEST_SIZE];

    hmac_sha256_update(&ctx, len, data);
    hmac_sha256_digest(&ctx, sizeof(mac), mac);
    for (size_t i = 0; i < sizeof(mac); i++) {
        ret_hex[2 * i] = digits[mac[i] >> 4];
        ret_hex[2 * i + 1] = digits[mac[i] & 15];
    }
    ret_hex[AL_MAC_HEX] = '\0';
}

int al_head_read(int fd, const struct al_key *key, struct al_head *ret_head,
                 enum al_head_found *ret_found)
{
    char text[AL_HEAD_BYTES + 1], mac[AL_MAC_HEX + 1];
    struct al_head head;
    ssize_t n;

    *ret_head = (struct al_head){ .seq = 0 };
    memcpy(ret_head->mac, al_mac_none, sizeof(ret_head->mac));
    memcpy(ret_head->next, al_mac_none, sizeof(ret_head->next));
    do
        n = pread(fd, text, sizeof(text), 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    *ret_found = n ? AL_HEAD_BAD : AL_HEAD_EMPTY;
    if (n != AL_HEAD_BYTES)
        return 0;
    text[AL_HEAD_BYTES - 1] = '\0';
    al_key_mac(key, text, SIGNED_BYTES, mac);
    if (strcmp(text + SIGNED_BYTES, mac) != 0 ||
        sscanf(text, "%20" SCNu64 " %20" SCNu64 " %64s %64s", &head.seq, &head.size, head.mac,
               head.next) != 4)
        return 0;
    *ret_head = head;
    *ret_found = AL_HEAD_GOOD;
    return 0;
}

int al_head_write(int fd, const struct al_key *key, const struct al_head *head)
{
    char text[AL_HEAD_BYTES + 1], mac[AL_MAC_HEX + 1];
    size_t done = 0;

    (void)snprintf(text, sizeof(text), HEAD_FORMAT, head->seq, head->size, head->mac, head->next);
    al_key_mac(key, text, SIGNED_BYTES, mac);
    (void)snprintf(text + SIGNED_BYTES, sizeof(text) - SIGNED_BYTES, "%s\n", mac);
    /* Half of a head would be invalid. */
    while (done < AL_HEAD_BYTES) {
        ssize_t n = pwrite(fd, text + done, AL_HEAD_BYTES - done, (off_t)done);

        if (n == 0)
            return -EIO;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            done += (size_t)n;
    }
    return 0;
}

/* --- The chain --- */

/* A full file is renamed and a new one begun.  A writer that has the old file open notices that its
 * device and inode do not have the log's name any more, and opens the new one. */
struct al_chain {
    char *file;
    const char *name;   /* its last component */
    uint64_t max_bytes; /* of one file; a line that does not fit begins another */
    struct al_key key;
    pthread_mutex_t lock; /* between threads; flock(2) on the head is between processes */
    int dir_fd, head_fd;
    int fd; /* of the log */
    dev_t dev;
    ino_t ino;
    ino_t synced; /* the log whose name is known to be on the disk; 0: none */
    atomic_bool failed;
};

/* Lock the chain.  A file system without locks is an error: two writers would overwrite each
 * other's head.  0 or -errno. */
static int lock(struct al_chain *chain)
{
    int r;

    (void)pthread_mutex_lock(&chain->lock);
    do
        r = flock(chain->head_fd, LOCK_EX);
    while (r < 0 && errno == EINTR);
    if (r == 0)
        return 0;
    r = -errno;
    (void)pthread_mutex_unlock(&chain->lock);
    return r;
}

static void unlock(struct al_chain *chain)
{
    (void)flock(chain->head_fd, LOCK_UN); /* the lock is held, so this cannot fail */
    (void)pthread_mutex_unlock(&chain->lock);
}

/* Open a regular file, and create it (0600) when there is none.  Links are not followed, and a fifo
 * is not waited for.  A descriptor or -errno; -EINVAL when it is not a regular file. */
static int open_regular(int dir_fd, const char *name, int flags, struct stat *ret_st)
{
    int fd =
        openat(dir_fd, name, flags | O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

    if (fd < 0)
        return -errno;
    if (fstat(fd, ret_st) == 0 && S_ISREG(ret_st->st_mode))
        return fd;
    al_close(fd);
    return -EINVAL;
}

/* Open the file that has the log's name now, or create it.  0 or -errno. */
static int open_log(struct al_chain *chain, uint64_t *ret_size)
{
    struct stat st;
    int fd = open_regular(chain->dir_fd, chain->name, O_APPEND, &st);

    if (fd < 0)
        return fd;
    al_close(chain->fd);
    chain->fd = fd;
    chain->dev = st.st_dev;
    chain->ino = st.st_ino;
    *ret_size = (uint64_t)st.st_size;
    return 0;
}

/* Test whether the open file still has the log's name.  1; 0 when another file has it; -errno,
 * -ENOENT when none has. */
static int log_is_current(const struct al_chain *chain, uint64_t *ret_size)
{
    struct stat named;

    if (fstatat(chain->dir_fd, chain->name, &named, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    *ret_size = (uint64_t)named.st_size;
    return named.st_dev == chain->dev && named.st_ino == chain->ino;
}

/*
 * Repair a log that is longer than the head says after a line was announced: the writer died.
 * @return 1 when that explains the difference and `head` is right again; 0 when it does not;
 *         -errno.
 */
static int finish_append(struct al_chain *chain, struct al_head *head, uint64_t size)
{
    al_auto(al_lines_clear) struct al_lines lines = AL_LINES_INIT(chain->fd, head->size);
    char mac[AL_MAC_HEX + 1];
    const char *line;
    size_t len;
    int r;

    r = al_lines_next(&lines, &line, &len);
    if (r < 0)
        return r == -EFBIG ? 0 : r;
    if (r == 0) {
        if (ftruncate(chain->fd, (off_t)head->size) < 0)
            return -errno;
    } else {
        al_key_mac(&chain->key, line, len, mac);
        if (head->size + len + 1 != size || strcmp(mac, head->next) != 0)
            return 0;
        head->seq++;
        head->size = size;
        memcpy(head->mac, mac, sizeof(mac));
    }
    memcpy(head->next, al_mac_none, sizeof(head->next));
    return 1;
}

/* Whether the file that the head describes was renamed because it was full. */
static bool was_rotated(const struct al_chain *chain, const struct al_head *head)
{
    al_auto(al_freep) char *path = al_journal_rotated(chain->file, head->seq);
    struct stat st;

    return head->size > 0 &&
           fstatat(chain->dir_fd, strrchr(path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode) && (uint64_t)st.st_size == head->size;
}

/* Open the log again if another process began a new file.  There is none if that process died while
 * it did. */
static int reopen_log(struct al_chain *chain, const struct al_head *head, uint64_t *ret_size)
{
    int r = log_is_current(chain, ret_size);

    if (r > 0)
        return 0;
    if (r == -ENOENT && !was_rotated(chain, head))
        return -ESTALE; /* the log was removed, so nothing written to it would be read */
    return r < 0 && r != -ENOENT ? r : open_log(chain, ret_size);
}

/* Test whether the log ends in a partial line. */
static bool ends_in_line(const struct al_chain *chain, uint64_t size)
{
    char last = '\n';

    return size && pread(chain->fd, &last, 1, (off_t)size - 1) == 1 && last != '\n';
}

/* Read the head and make it fit the log.  `*ret_in_line` is set when the log ends in a partial line
 * of another program; then the next line begins with a newline. */
static int read_end(struct al_chain *chain, struct al_head *head, bool *ret_in_line)
{
    enum al_head_found found;
    uint64_t size = 0;
    int r;

    *ret_in_line = false;
    r = al_head_read(chain->head_fd, &chain->key, head, &found);
    if (r < 0)
        return r;
    r = reopen_log(chain, head, &size);
    if (r < 0)
        return r;
    if (size < head->size && was_rotated(chain, head))
        head->size = 0;
    if (size == head->size)
        return 0;
    if (size > head->size && strcmp(head->next, al_mac_none) != 0) {
        r = finish_append(chain, head, size);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    al_log_warn("the journal '%s' was changed by something else, see 'airlock log --verify'",
                chain->file);
    head->size = size;
    *ret_in_line = ends_in_line(chain, size);
    return 0;
}

/* Begin a new file if the line would make this one too large.  If the process dies in between,
 * was_rotated() tells the next writer. */
static int rotate(struct al_chain *chain, struct al_head *head, size_t len)
{
    al_auto(al_freep) char *rotated = NULL;
    uint64_t size;
    int r;

    if (head->seq == 0 || head->size == 0 || head->size + len <= chain->max_bytes)
        return 0;
    rotated = al_journal_rotated(chain->file, head->seq);
    if (renameat2(chain->dir_fd, chain->name, chain->dir_fd, strrchr(rotated, '/') + 1,
                  RENAME_NOREPLACE) < 0) {
        al_log_warn("the journal '%s' is full and cannot be renamed: %s", chain->file,
                    strerrordesc_np(errno));
        return 0; /* a file that is too large is better than a call without a line */
    }
    r = open_log(chain, &size);
    if (r == 0)
        head->size = 0;
    return r;
}

/* Copy a line with the values of "seq" and "prev".  A quote inside a string is escaped, so the
 * first match is a member, and it is the object's own because "seq" comes before any object in it.
 */
static int set_seq_and_prev(const struct al_str *line, const struct al_head *head,
                            struct al_str *out)
{
    static const char seq[] = "\"seq\":null", prev[] = "\"prev\":null}";
    const char *number = strstr(line->buf, seq);
    const char *end = line->buf + line->len;

    if (!number || !al_ends_with(line->buf, prev))
        return -EINVAL;
    number += strlen(seq) - strlen("null");
    end -= strlen("null}");
    al_str_reserve(out, line->len + AL_MAC_HEX + 32);
    al_str_add(out, line->buf, (size_t)(number - line->buf));
    al_str_addf(out, "%" PRIu64, head->seq + 1);
    number += strlen("null");
    al_str_add(out, number, (size_t)(end - number));
    al_str_addc(out, '"');
    al_str_add(out, head->mac, AL_MAC_HEX);
    al_str_adds(out, "\"}");
    return 0;
}

/* Append with one write(2) to a log of `size` bytes.  A partial write, as on a full disk, is cut
 * off again. */
static int write_line(const struct al_chain *chain, const struct al_str *text, uint64_t size)
{
    ssize_t n;

    do
        n = write(chain->fd, text->buf, text->len);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)text->len)
        return 0;
    if (n < 0)
        return -errno;
    return ftruncate(chain->fd, (off_t)size) < 0 ? -errno : -ENOSPC;
}

static int append_locked(struct al_chain *chain, const struct al_str *line)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_head head;
    bool in_line;
    int r;

    r = read_end(chain, &head, &in_line);
    if (r < 0)
        return r;
    if (in_line)
        al_str_addc(&text, '\n');
    r = set_seq_and_prev(line, &head, &text);
    if (r < 0)
        return r;
    al_key_mac(&chain->key, text.buf + in_line, text.len - in_line, head.next);
    al_str_addc(&text, '\n');

    r = rotate(chain, &head, text.len);
    if (r < 0)
        return r;
    r = al_head_write(chain->head_fd, &chain->key, &head);
    if (r < 0)
        return r;
    r = write_line(chain, &text, head.size);
    if (r < 0)
        return r; /* an announced line that was not written is no error */
    head.seq++;
    head.size += text.len;
    memcpy(head.mac, head.next, sizeof(head.mac));
    memcpy(head.next, al_mac_none, sizeof(head.next));
    /* The line counts even if this fails: it was announced, and the next writer repairs the head.
     */
    (void)al_head_write(chain->head_fd, &chain->key, &head);
    return 0;
}

int al_chain_append(struct al_chain *chain, const struct al_str *line, struct al_error *err)
{
    int r;

    r = lock(chain);
    if (r == 0) {
        r = append_locked(chain, line);
        unlock(chain);
    }
    atomic_store(&chain->failed, r < 0);
    return r < 0 ? al_error_errno(err, -r, "cannot write the journal '%s'", chain->file) : 0;
}

/* The lock is not held meanwhile, so that calls that only read do not wait for the disk. */
int al_chain_sync(struct al_chain *chain, struct al_error *err)
{
    al_auto(al_closep) int fd = -1;
    bool is_new;
    ino_t ino;
    int r = 0;

    (void)pthread_mutex_lock(&chain->lock);
    fd = fcntl(chain->fd, F_DUPFD_CLOEXEC, 0);
    ino = chain->ino;
    is_new = ino != chain->synced;
    (void)pthread_mutex_unlock(&chain->lock);
    if (fd < 0 || fdatasync(fd) < 0 || fdatasync(chain->head_fd) < 0 ||
        (is_new && fsync(chain->dir_fd) < 0))
        r = -errno;
    (void)pthread_mutex_lock(&chain->lock);
    if (r == 0)
        chain->synced = ino;
    (void)pthread_mutex_unlock(&chain->lock);
    return r < 0 ? al_error_errno(err, -r, "cannot synchronise the journal '%s'", chain->file) : 0;
}

bool al_chain_failed(const struct al_chain *chain)
{
    return atomic_load(&chain->failed);
}

/* The log does not have its name at the moment.  With the head locked, no other writer is renaming
 * it. */
static int check_locked(struct al_chain *chain)
{
    enum al_head_found found;
    struct al_head head;
    uint64_t size;
    int r = al_head_read(chain->head_fd, &chain->key, &head, &found);

    return r < 0 ? r : reopen_log(chain, &head, &size);
}

int al_chain_check(struct al_chain *chain, struct al_error *err)
{
    uint64_t size;
    int r;

    (void)pthread_mutex_lock(&chain->lock);
    r = log_is_current(chain, &size);
    (void)pthread_mutex_unlock(&chain->lock);
    if (r > 0)
        return 0;
    r = lock(chain);
    if (r == 0) {
        r = check_locked(chain);
        unlock(chain);
    }
    if (r == -ESTALE)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' was removed; start airlock again to begin a new one",
                            chain->file);
    return r < 0 ? al_error_errno(err, -r, "cannot open '%s'", chain->file) : 0;
}

static int explain(int r, const char *path, struct al_error *err)
{
    if (r == -EINVAL)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is not a regular file", path);
    return r < 0 ? al_error_errno(err, -r, "cannot open '%s'", path) : 0;
}

/* Open key, head and log in this order, so that a log with lines always has the other two. */
static int open_files(struct al_chain *chain, struct al_error *err)
{
    al_auto(al_freep) char *key = al_journal_beside(chain->file, ".key");
    al_auto(al_freep) char *head = al_journal_beside(chain->file, ".head");
    struct stat st;
    uint64_t size;
    int r;

    r = al_key_load(chain->dir_fd, strrchr(key, '/') + 1, true, &chain->key, err);
    if (r < 0)
        return r;
    chain->head_fd = open_regular(chain->dir_fd, strrchr(head, '/') + 1, 0, &st);
    if (chain->head_fd < 0)
        return explain(chain->head_fd, head, err);
    /* The head is read before each line, and the kernel would update its access time each time.
     * This fails for a file of another user, whose access time is then updated. */
    (void)fcntl(chain->head_fd, F_SETFL, O_NOATIME);
    return explain(open_log(chain, &size), chain->file, err);
}

static int open_chain(struct al_chain *chain, struct al_error *err)
{
    al_auto(al_freep) char *dir =
        al_strndup(chain->file, (size_t)(strrchr(chain->file, '/') - chain->file));
    int r;

    r = al_fs_mkdirs(dir[0] ? dir : "/", 0700);
    if (r < 0)
        return al_error_errno(err, -r, "cannot create '%s'", dir);
    chain->dir_fd = open(dir[0] ? dir : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (chain->dir_fd < 0)
        return al_error_errno(err, errno, "cannot open '%s'", dir);
    return open_files(chain, err);
}

int al_chain_open(const char *file, struct al_chain **ret_chain, struct al_error *err)
{
    struct al_chain *chain;
    int r;

    if (file[0] != '/')
        return al_error_set(err, AL_ERR_EXECUTION, "the journal '%s' is not an absolute path",
                            file);
    chain = al_calloc(1, sizeof(*chain));
    *chain = (struct al_chain){
        .file = al_strdup(file),
        .max_bytes = AL_JOURNAL_FILE_MAX_BYTES,
        .dir_fd = -1,
        .head_fd = -1,
        .fd = -1,
    };
    chain->name = strrchr(chain->file, '/') + 1;
    (void)pthread_mutex_init(&chain->lock, NULL);
    r = open_chain(chain, err);
    if (r < 0) {
        al_chain_free(chain);
        return r;
    }
    *ret_chain = chain;
    return 0;
}

const char *al_chain_file(const struct al_chain *chain)
{
    return chain->file;
}

void al_chain_limit(struct al_chain *chain, uint64_t max_bytes)
{
    chain->max_bytes = max_bytes;
}

void al_chain_free(struct al_chain *chain)
{
    if (!chain)
        return;
    al_close(chain->fd);
    al_close(chain->head_fd);
    al_close(chain->dir_fd);
    explicit_bzero(&chain->key, sizeof(chain->key));
    (void)pthread_mutex_destroy(&chain->lock);
    free(chain->file);
    free(chain);
}
