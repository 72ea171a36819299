// SPDX-License-Identifier: Apache-2.0
#include "verbs/sequencer/conflict_hunks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/revision.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "guard/nofollow.h"

/* A file with more bytes, or more hunks, is not read hunk by hunk, or not at all. */
#define CONFLICT_FILE_BYTES (16u << 20)

/* Bytes that git may make of three such files: long markers could make it far more. */
#define MADE_BYTES         (4 * CONFLICT_FILE_BYTES)

#define CONFLICT_HUNKS_MAX 5000

/* --- Conflict blocks --- */

/*
 * The conflicts in a text, from the line "<<<<<<<" to the line ">>>>>>>".
 *
 * Source: git-merge(1), "HOW CONFLICTS ARE PRESENTED".
 */

void al_conflict_blocks_clear(struct al_conflict_blocks *blocks)
{
    free(blocks->items);
    *blocks = (struct al_conflict_blocks){ .items = NULL };
}

/* Take the next line, with its newline, from the front of a text; false at its end. */
static bool conflict_next_line(struct al_bytes *text, struct al_bytes *ret_line)
{
    const char *newline = text->len ? memchr(text->data, '\n', text->len) : NULL;

    if (!text->len)
        return false;
    ret_line->data = text->data;
    ret_line->len = newline ? (size_t)(newline - text->data) + 1 : text->len;
    text->data += ret_line->len;
    text->len -= ret_line->len;
    return true;
}

/* Count the lines of a text, the last one with or without its newline. */
static size_t conflict_count_lines(struct al_bytes text)
{
    struct al_bytes line;
    size_t count = 0;

    while (conflict_next_line(&text, &line))
        count++;
    return count;
}

/* The character of a marker of this length, such as '<', that a line is; 0: it is none. */
static char conflict_marker(struct al_bytes line, size_t marker_size)
{
    if (line.len < marker_size || !memchr("<|=>", line.data[0], 4))
        return 0;
    for (size_t i = 1; i < marker_size; i++)
        if (line.data[i] != line.data[0])
            return 0;
    return line.len == marker_size || memchr(" \r\n", line.data[marker_size], 3) ? line.data[0] : 0;
}

/* A text that is read marker by marker. */
struct markers {
    struct al_bytes left, line; /* the line is the last marker */
    size_t size, number;        /* of the line, from 1 */
    const size_t *lines;
};

static char next_marker(struct markers *markers)
{
    while (conflict_next_line(&markers->left, &markers->line)) {
        char c = markers->lines && markers->lines[markers->number] == AL_CONFLICT_OWN
                     ? 0
                     : conflict_marker(markers->line, markers->size);

        markers->number++;
        if (c)
            return c;
    }
    return 0;
}

/* Read the rest of a block, whose first marker was just read.  False when it has no end. */
static bool read_block(struct markers *markers, const char *text, struct al_conflict_block *block)
{
    enum al_stage now = AL_STAGE_OURS, next;

    block->sides[now].data = markers->left.data;
    for (char c = next_marker(markers); c; c = next_marker(markers)) {
        if (now == AL_STAGE_OURS && c == '|')
            next = AL_STAGE_BASE;
        else if (now != AL_STAGE_THEIRS && c == '=')
            next = AL_STAGE_THEIRS;
        else if (now == AL_STAGE_THEIRS && c == '>')
            next = AL_STAGES;
        else
            continue;
        block->sides[now].len = (size_t)(markers->line.data - block->sides[now].data);
        block->end = (size_t)(markers->left.data - text);
        if (next == AL_STAGES)
            return true;
        block->has_base = block->has_base || next == AL_STAGE_BASE;
        block->sides[next].data = markers->left.data;
        now = next;
    }
    return false;
}

void al_conflict_blocks_find(struct al_bytes text, size_t marker_size, const size_t *lines,
                             struct al_conflict_blocks *ret_blocks)
{
    struct markers markers = { .left = text, .size = marker_size, .lines = lines };

    *ret_blocks = (struct al_conflict_blocks){ .items = NULL };
    for (char c = next_marker(&markers); c; c = next_marker(&markers)) {
        struct al_conflict_block block = { .start = (size_t)(markers.line.data - text.data),
                                           .line = markers.number };

        if (c != '<')
            continue;
        if (!read_block(&markers, text.data, &block))
            return;
        ret_blocks->items = al_grow(ret_blocks->items, ret_blocks->count, sizeof(block));
        ret_blocks->items[ret_blocks->count++] = block;
    }
}

void al_conflict_take_side(struct al_bytes text, size_t marker_size, enum al_stage side,
                           struct al_str *out)
{
    struct al_conflict_blocks blocks = { .items = NULL };
    size_t at = 0;

    if (marker_size)
        al_conflict_blocks_find(text, marker_size, NULL, &blocks);
    for (size_t i = 0; i < blocks.count; i++) {
        al_str_add(out, text.data + at, blocks.items[i].start - at);
        al_str_add(out, blocks.items[i].sides[side].data, blocks.items[i].sides[side].len);
        at = blocks.items[i].end;
    }
    al_str_add(out, text.data + at, text.len - at);
    al_conflict_blocks_clear(&blocks);
}

/* --- Conflict sides --- */

/* git's words on files in conflict: their stages and attributes, and what it makes of them. */

#define MARKER_SIZE_MAX 1000

/** All stages that are read at once. */
#define STAGES_BYTES (256u << 20)

#define ALL_LINES    "--unified=100000000"

/* --- What the repository has --- */

/* Output of check-attr -z: "path NUL attribute NUL value NUL", in the order of the input. */
struct attributes {
    struct al_conflict_file *files;
    size_t count, at;
};

static bool take_attribute(void *payload, char *const *fields)
{
    struct attributes *attributes = payload;
    struct al_conflict_file *file = &attributes->files[attributes->at / 2];
    size_t size = 0;

    if (attributes->at / 2 == attributes->count)
        return false;
    if (attributes->at++ % 2) {
        file->is_unmerged = !strcmp(fields[2], "unset") || !strcmp(fields[2], "binary");
        return true;
    }
    for (const char *c = fields[2]; *c >= '0' && *c <= '9' && size < MARKER_SIZE_MAX; c++)
        size = size * 10 + (size_t)(*c - '0');
    if (size)
        file->marker_size = size;
    return true;
}

static int read_attributes(const struct al_repo *repo, struct al_conflict_file *files, size_t count,
                           struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    struct attributes attributes = { .files = files, .count = count };

    for (size_t i = 0; i < count; i++) {
        files[i].marker_size = AL_CONFLICT_MARKER_SIZE;
        al_str_add(&input, files[i].conflict->path, strlen(files[i].conflict->path) + 1);
    }
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "check-attr", "-z", "--stdin",
                 "conflict-marker-size", "merge", NULL);
    return al_git_read_records(&repo->at, &command, 3, take_attribute, &attributes, err);
}

/* Stages while they are read: those of some files that have an object. */
struct stages {
    struct al_conflict_file *files;
    size_t count, at; /* of stages, three a file */
    uint64_t room;
};

static struct al_blob *next_stage(struct stages *stages)
{
    for (; stages->at < stages->count; stages->at++) {
        struct al_blob *blob =
            &stages->files[stages->at / AL_STAGES].stages[stages->at % AL_STAGES];

        if (blob->oid)
            return blob;
    }
    return NULL;
}

static bool begin_stage(void *payload, const char *oid, const char *type, uint64_t size)
{
    struct stages *stages = payload;
    struct al_blob *blob = next_stage(stages);

    if (!blob || strcmp(oid, blob->oid) != 0)
        return false;
    blob->exists = type && !strcmp(type, "blob");
    blob->size = blob->exists ? size : 0;
    blob->kept = blob->exists && size <= stages->room;
    stages->room -= blob->kept ? size : 0;
    stages->at += !type;
    return true;
}

static bool add_stage_bytes(void *payload, const char *data, size_t len, bool last)
{
    struct stages *stages = payload;
    struct al_blob *blob = next_stage(stages);

    if (blob->kept)
        al_str_add(&blob->data, data, len);
    stages->at += last;
    return true;
}

/* Read what git knows of some files. */
static int conflict_read_stages(const struct al_repo *repo, struct al_conflict_file *files,
                                size_t count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    struct stages stages = { .files = files, .count = AL_STAGES * count, .room = STAGES_BYTES };
    al_auto(al_cat_file_clear) struct al_cat_file reader =
        AL_CAT_FILE_INIT(begin_stage, add_stage_bytes, &stages);
    int r = count ? read_attributes(repo, files, count, err) : 0;

    for (size_t i = 0; i < AL_STAGES * count; i++) {
        const struct al_side *side = &files[i / AL_STAGES].conflict->sides[i % AL_STAGES];

        if (!side->oid || al_side_is_submodule(side))
            continue;
        files[i / AL_STAGES].stages[i % AL_STAGES].oid = side->oid;
        al_str_addf(&input, "%s\n", side->oid);
    }
    if (r < 0 || !input.len)
        return r;
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "cat-file", "--batch", "--buffer", NULL);
    r = al_git_read(&repo->at, &command, (struct al_sink){ al_cat_file_add, &reader }, err);
    if (r == 0 && (!al_cat_file_is_whole(&reader) || next_stage(&stages)))
        r = al_error_set(err, AL_ERR_EXECUTION, "git cat-file did not say what was asked");
    return r;
}

/* --- What git makes of texts, which it reads from files --- */

static int write_text(const char *path, const struct al_str *text, struct al_error *err)
{
    al_auto(al_closep) int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = fd < 0 ? -errno : al_write_all(fd, text->buf, text->len);

    return r < 0 ? al_error_errno(err, -r, "cannot write a temporary file") : 0;
}

/* Run a command with files of these texts as its last words.  Returns its exit code, which is less
 * than 128 unless it fails; git 2.43 would take ids. */
static int read_texts(const struct al_location *at, struct al_git_command *command,
                      const struct al_str *const *texts, size_t count, struct al_sink sink,
                      struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = 0;

    al_strv_add(&command->argv, "--");
    for (size_t i = 0; i < count && r == 0; i++) {
        al_strv_take(&paths, al_git_private_name(at->git, "text"));
        al_strv_add(&command->argv, paths.items[i]);
        r = write_text(paths.items[i], texts[i], err);
    }
    if (r == 0)
        r = al_git_run(at, command, &(struct al_git_run){ .sink = sink }, &output, err);
    for (size_t i = 0; i < paths.count; i++)
        (void)unlink(paths.items[i]);
    if (r == 0 && (output.exit_code < 0 || output.exit_code >= 128))
        r = al_error_set(err, AL_ERR_EXECUTION, "git did not say what is in conflict");
    return r < 0 ? r : output.exit_code;
}

int al_conflict_merge_texts(const struct al_location *at, const struct al_str *const texts[3],
                            const struct al_strv *options, struct al_sink sink,
                            struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-c", "merge.conflictStyle=merge", "merge-file", "-p", "-q",
                 NULL);
    al_strv_add_all(&command.argv, options);
    return read_texts(at, &command, texts, 3, sink, err);
}

/* Merge the stages once more, with markers of this length, in a style of git merge-file. */
static int conflict_merge(const struct al_repo *repo, const struct al_conflict_file *file,
                          const char *style, size_t marker_size, struct al_buffer *ret_text,
                          struct al_error *err)
{
    const struct al_str *const texts[] = { &file->stages[AL_STAGE_OURS].data,
                                           &file->stages[AL_STAGE_BASE].data,
                                           &file->stages[AL_STAGE_THEIRS].data };
    al_auto(al_strv_clear) struct al_strv options = AL_STRV_INIT;

    al_strv_addf(&options, "--marker-size=%zu", marker_size);
    if (style)
        al_strv_add(&options, style);
    return al_conflict_merge_texts(&repo->at, texts, &options, al_buffer_sink(ret_text), err);
}

/* Number the lines of a text by a diff with all of its lines; the same texts have none. */
static void number_lines(const struct al_str *diff, size_t *lines, size_t count)
{
    struct al_bytes left = { diff->buf, diff->len }, line;
    size_t at = 0, made = 0;

    while (conflict_next_line(&left, &line) && line.data[0] != '@')
        continue;
    while (at < count && conflict_next_line(&left, &line)) {
        if (line.data[0] == ' ' || line.data[0] == '+')
            lines[at++] = line.data[0] == ' ' ? made : SIZE_MAX;
        made += line.data[0] == ' ' || line.data[0] == '-';
    }
    while (at < count)
        lines[at++] = made++;
}

/* Find the line of `made` that each line of `text` is, or SIZE_MAX; both count from 0.  Caller
 * frees. */
static int conflict_align(const struct al_repo *repo, const struct al_str *made,
                          const struct al_str *text, size_t **ret_lines, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_buffer_clear) struct al_buffer diff = AL_BUFFER_INIT(MADE_BYTES);
    const bool is_same = made->len == text->len && !memcmp(made->buf, text->buf, text->len);
    size_t count = conflict_count_lines((struct al_bytes){ text->buf, text->len });
    int r = 0;

    al_strv_adds(&command.argv, "git", "diff", "--no-index", "--no-color", "--no-ext-diff",
                 "--no-textconv", "--text", "--diff-algorithm=myers", ALL_LINES, NULL);
    if (!is_same)
        r = read_texts(&repo->at, &command, (const struct al_str *const[]){ made, text }, 2,
                       al_buffer_sink(&diff), err);
    if (r < 0)
        return r;
    *ret_lines = al_calloc(count + 1, sizeof(**ret_lines));
    number_lines(&diff.text, *ret_lines, count);
    return 0;
}

/* --- Conflict hunks --- */

#define ID_DIGITS 8

/* In a file with many conflicts that are not as git made them, those behind have no base. */
#define TRIES_FOR_EACH 64

/* Lengths of markers that are looked for in the stages. */
#define SIZES 1024

static void made_clear(struct al_conflict_made *made)
{
    al_conflict_blocks_clear(&made->blocks);
    al_str_clear(&made->text);
}

void al_conflict_file_clear(struct al_conflict_file *file)
{
    for (size_t i = 0; file->hunks && i < file->blocks.count; i++)
        free(file->hunks[i].id);
    free(file->hunks);
    free(file->lines);
    al_conflict_blocks_clear(&file->blocks);
    al_str_clear(&file->disk);
    made_clear(&file->plain);
    made_clear(&file->made);
    made_clear(&file->wide);
    for (size_t i = 0; i < AL_STAGES; i++)
        al_str_clear(&file->stages[i].data);
    *file = AL_CONFLICT_FILE_INIT;
}

static struct al_bytes bytes_of(const struct al_str *text)
{
    return (struct al_bytes){ text->buf, text->len };
}

static int read_disk(const struct al_repo *repo, const char *path, struct al_conflict_file *file,
                     struct al_error *err)
{
    al_auto(al_closep) int top = -1;
    al_auto(al_closep) int fd = -1;
    int r = al_location_open_top(&repo->at, &top, err);

    if (r < 0)
        return r;
    fd = al_nofollow_open(top, path, O_RDONLY);
    file->on_disk = fd >= 0 && al_fs_read_fd(fd, AL_CONFLICT_DISK_BYTES, &file->disk) == 0;
    return 0;
}

static void add_plain(const struct al_str *text, struct al_str *out)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->buf[i] != '\r' || i + 1 == text->len || text->buf[i + 1] != '\n')
            al_str_addc(out, text->buf[i]);
}

/* --- What git made --- */

/* The first length from that on disk on of which no stage has a marker. */
static size_t unused_size(const struct al_conflict_file *file)
{
    bool used[SIZES] = { false };
    size_t size = file->marker_size;

    for (size_t i = 0; i < AL_STAGES; i++) {
        struct al_bytes left = bytes_of(&file->stages[i].data), line;

        while (conflict_next_line(&left, &line)) {
            size_t run = 1;

            while (run < line.len && line.data[run] == line.data[0])
                run++;
            if (run < SIZES && conflict_marker(line, run))
                used[run] = true;
        }
    }
    while (size < SIZES && used[size])
        size++;
    return size;
}

static bool has_both(const struct al_conflict_file *file)
{
    return file->stages[AL_STAGE_OURS].oid && file->stages[AL_STAGE_THEIRS].oid;
}

static int make(const struct al_repo *repo, const struct al_conflict_file *file, const char *style,
                struct al_conflict_made *made, struct al_error *err)
{
    const struct al_str *one =
        &file->stages[file->stages[AL_STAGE_OURS].oid ? AL_STAGE_OURS : AL_STAGE_THEIRS].data;
    const size_t size = unused_size(file);
    al_auto(al_buffer_clear) struct al_buffer text = AL_BUFFER_INIT(MADE_BYTES);
    int r = 0;

    if (made->marker_size)
        return 0;
    if (has_both(file))
        r = conflict_merge(repo, file, style, size, &text, err);
    if (r < 0)
        return r;
    made->marker_size = file->nested_size && !has_both(file) ? file->nested_size : size;
    add_plain(has_both(file) ? &text.text : one, &made->text);
    al_conflict_blocks_find(bytes_of(&made->text), made->marker_size, NULL, &made->blocks);
    return 0;
}

/* Append a text whose markers all have one length and no label, and tell the lines that git did
 * not write as markers. */
static void normalise(const struct al_conflict_made *made, size_t size, struct al_str *out,
                      bool *is_own)
{
    struct al_bytes left = bytes_of(&made->text), line;

    for (size_t i = 0; conflict_next_line(&left, &line); i++) {
        const char gits = conflict_marker(line, made->marker_size);
        const char any = gits ? gits : conflict_marker(line, size);

        if (is_own)
            is_own[i] = !gits;
        for (size_t k = 0; any && k < size; k++)
            al_str_addc(out, any);
        if (any)
            al_str_addc(out, '\n');
        else
            al_str_add(out, line.data, line.len);
    }
}

/* Find the lines of the file in what git made, and those that are no markers of git's. */
static int align(const struct al_repo *repo, struct al_conflict_file *file, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str made = AL_STR_INIT, plain = AL_STR_INIT;
    const size_t nmade = conflict_count_lines(bytes_of(&file->made.text)),
                 count = conflict_count_lines(bytes_of(&file->plain.text));
    al_auto(al_freep) bool *is_own = al_calloc(nmade + 1, sizeof(*is_own));
    int r;

    normalise(&file->made, file->marker_size, &made, is_own);
    normalise(&file->plain, file->marker_size, &plain, NULL);
    r = conflict_align(repo, &made, &plain, &file->lines, err);
    for (size_t i = 0; r == 0 && i < count; i++)
        if (file->lines[i] < nmade && is_own[file->lines[i]])
            file->lines[i] = AL_CONFLICT_OWN;
    return r;
}

/* Whether a stage is what the path is in a commit: then git has merged nothing into it. */
static int is_committed(const struct al_repo *repo, const struct al_conflict_file *file,
                        enum al_stage stage, bool *ret_is, struct al_error *err)
{
    static const char *const commits[AL_STAGES][4] = {
        [AL_STAGE_OURS] = { "HEAD" },
        [AL_STAGE_THEIRS] = { "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD" },
    };
    int r = 0;

    *ret_is = false;
    for (const char *const *commit = commits[stage]; r == 0 && *commit && !*ret_is; commit++) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_freep) char *oid = NULL;

        al_strv_adds(&command.argv, "git", "rev-parse", "--verify", "--quiet", "--end-of-options",
                     NULL);
        al_strv_addf(&command.argv, "%s:%s", *commit, file->conflict->path);
        r = al_git_run_word(repo, &command, &oid, err);
        *ret_is = oid && !strcmp(oid, file->stages[stage].oid);
    }
    return r;
}

/* Only a path that was renamed can have conflicts in its stages, and has no base then. */
static int find_nested(const struct al_repo *repo, struct al_conflict_file *file,
                       struct al_error *err)
{
    int r = 0;

    for (enum al_stage i = AL_STAGE_OURS; r == 0 && i < AL_STAGES; i++) {
        struct al_conflict_blocks blocks;
        bool is = true;

        if (file->stages[AL_STAGE_BASE].oid)
            break;
        al_conflict_blocks_find(bytes_of(&file->stages[i].data), file->marker_size + 1, NULL,
                                &blocks);
        if (blocks.count)
            r = is_committed(repo, file, i, &is, err);
        al_conflict_blocks_clear(&blocks);
        if (r == 0 && !is)
            file->nested_size = file->marker_size + 1;
    }
    if (file->nested_size && !has_both(file))
        file->marker_size = file->nested_size;
    return r;
}

/* --- What is left of it --- */

/* Whether the file has markers, apart from those between sides, and one before a base. */
static void find_markers(struct al_conflict_file *file, bool *ret_base)
{
    struct al_bytes left = bytes_of(&file->plain.text), line;

    file->has_markers = *ret_base = false;
    for (size_t i = 0; conflict_next_line(&left, &line); i++) {
        const bool is_own = file->lines && file->lines[i] == AL_CONFLICT_OWN;
        char c = is_own ? 0 : conflict_marker(line, file->marker_size);

        if (!c && file->nested_size)
            c = conflict_marker(line, file->nested_size);
        file->has_markers = file->has_markers || (c && c != '=');
        *ret_base = *ret_base || c == '|';
    }
}

static void check_text(struct al_conflict_file *file)
{
    file->is_text = !memchr(file->disk.buf, '\0', file->disk.len);
    file->is_large = file->disk.len > CONFLICT_FILE_BYTES;
    for (size_t i = 0; i < AL_STAGES; i++) {
        const struct al_blob *stage = &file->stages[i];

        if (memchr(stage->data.buf, '\0', stage->data.len))
            file->is_text = false;
        if (stage->oid && (!stage->kept || stage->size > CONFLICT_FILE_BYTES))
            file->is_large = true;
    }
}

/* Find the hunks in the text that is on disk, or could be. */
static int look(const struct al_repo *repo, struct al_conflict_file *file, struct al_error *err)
{
    bool with_base;
    int r = 0;

    check_text(file);
    if (!file->is_text)
        return 0;
    add_plain(&file->disk, &file->plain.text);
    file->plain.marker_size = file->marker_size;
    find_markers(file, &with_base);
    if (file->is_large || !file->has_markers)
        return 0;
    if (unused_size(file) != file->marker_size) {
        r = make(repo, file, with_base ? "--diff3" : NULL, &file->made, err);
        if (r == 0)
            r = align(repo, file, err);
        if (r == 0)
            find_markers(file, &with_base);
    }
    if (r < 0)
        return r;
    al_conflict_blocks_find(bytes_of(&file->disk), file->marker_size, file->lines, &file->blocks);
    al_conflict_blocks_find(bytes_of(&file->plain.text), file->marker_size, file->lines,
                            &file->plain.blocks);
    file->is_large = file->blocks.count > CONFLICT_HUNKS_MAX;
    if (file->is_large)
        al_conflict_blocks_clear(&file->blocks);
    return 0;
}

int al_git_conflict_files(const struct al_repo *repo, const struct al_conflict *conflicts,
                          size_t count, struct al_conflict_file *files, struct al_error *err)
{
    int r;

    for (size_t i = 0; i < count; i++) {
        files[i] = AL_CONFLICT_FILE_INIT;
        files[i].conflict = &conflicts[i];
    }
    r = conflict_read_stages(repo, files, count, err);
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = find_nested(repo, &files[i], err);
        if (r < 0 || al_conflict_has_links(&conflicts[i]))
            continue;
        r = read_disk(repo, conflicts[i].path, &files[i], err);
        if (r == 0 && files[i].on_disk)
            r = look(repo, &files[i], err);
    }
    return r;
}

int al_git_has_markers(const struct al_repo *repo, const struct al_conflict_file *file,
                       const char *text, bool *ret_has, struct al_error *err)
{
    struct al_conflict_file other = AL_CONFLICT_FILE_INIT;
    int r;

    *ret_has = false;
    if (!text)
        return 0;
    other.conflict = file->conflict;
    other.marker_size = file->marker_size;
    other.nested_size = file->nested_size;
    memcpy(other.stages, file->stages, sizeof(other.stages));
    al_str_adds(&other.disk, text);
    r = look(repo, &other, err);
    *ret_has = other.has_markers;
    memset(other.stages, 0, sizeof(other.stages)); /* they are the file's */
    al_conflict_file_clear(&other);
    return r;
}

/* --- Their ids and sides --- */

/* The same hunk has the same digest, whatever the rest of the file is. */
static void add_digests(const char *path, const struct al_conflict_blocks *blocks,
                        struct al_strv *out)
{
    for (size_t i = 0; i < blocks->count; i++) {
        char text[AL_OID_TEXT];
        struct al_hash hash;

        al_hash_init(&hash, true);
        al_hash_add(&hash, path, strlen(path) + 1);
        for (size_t k = AL_STAGE_OURS; k <= AL_STAGE_THEIRS; k++) {
            uint64_t len = blocks->items[i].sides[k].len;

            al_hash_add(&hash, &len, sizeof(len));
            al_hash_add(&hash, blocks->items[i].sides[k].data, blocks->items[i].sides[k].len);
        }
        al_hash_text(&hash, text);
        text[ID_DIGITS] = '\0';
        al_strv_add(out, text);
    }
}

static size_t count_equal(const struct al_strv *digests, size_t end, const char *digest)
{
    size_t count = 0;

    for (size_t i = 0; i < end; i++)
        count += !strcmp(digests->items[i], digest);
    return count;
}

/* Equal hunks are told apart by where git made them.  Any other one comes behind those. */
static size_t number_of(const struct al_conflict_file *file, const struct al_strv *made,
                        const struct al_strv *left, size_t i)
{
    const size_t line = file->lines ? file->lines[file->plain.blocks.items[i].line - 1] : SIZE_MAX;
    const char *digest = left->items[i];

    for (size_t k = 0; k < made->count; k++)
        if (file->made.blocks.items[k].line - 1 == line && !strcmp(made->items[k], digest))
            return count_equal(made, k + 1, digest);
    return count_equal(left, i + 1, digest) +
           (file->lines ? count_equal(made, made->count, digest) : 0);
}

static int number_hunks(const struct al_repo *repo, struct al_conflict_file *file,
                        struct al_error *err)
{
    const char *path = file->conflict->path;
    al_auto(al_strv_clear) struct al_strv made = AL_STRV_INIT, left = AL_STRV_INIT;
    bool any_equal = false;
    int r = 0;

    add_digests(path, &file->made.blocks, &made);
    add_digests(path, &file->plain.blocks, &left);
    for (size_t i = 0; i < made.count && !any_equal; i++)
        any_equal = count_equal(&made, i, made.items[i]) > 0;
    if (any_equal && !file->lines)
        r = align(repo, file, err);
    for (size_t i = 0; r == 0 && i < left.count; i++) {
        const size_t number = number_of(file, &made, &left, i);

        file->hunks[i].id =
            number > 1 ? al_asprintf("%s-%zu", left.items[i], number) : al_strdup(left.items[i]);
    }
    return r;
}

/* Whether whole lines are among other whole lines. */
static bool has_lines(struct al_bytes in, struct al_bytes lines)
{
    struct al_bytes line;

    do {
        if (in.len >= lines.len && (!lines.len || !memcmp(in.data, lines.data, lines.len)))
            return true;
    } while (conflict_next_line(&in, &line));
    return false;
}

/* A hunk that shows no base has that of git's hunk with one, which may be larger. */
static void fill_sides(struct al_conflict_file *file)
{
    const struct al_conflict_blocks *bases = &file->wide.blocks;
    size_t wide = 0, tries = TRIES_FOR_EACH * (file->blocks.count + bases->count);

    for (size_t i = 0; i < file->blocks.count; i++) {
        const struct al_conflict_block *block = &file->plain.blocks.items[i];
        struct al_conflict_hunk *hunk = &file->hunks[i];

        hunk->has_base = block->has_base;
        memcpy(hunk->sides, block->sides, sizeof(hunk->sides));
        for (size_t k = wide; !hunk->has_base && k < bases->count && tries; k++, tries--) {
            const struct al_bytes *sides = bases->items[k].sides;

            hunk->has_base = has_lines(sides[AL_STAGE_OURS], block->sides[AL_STAGE_OURS]) &&
                             has_lines(sides[AL_STAGE_THEIRS], block->sides[AL_STAGE_THEIRS]);
            if (!hunk->has_base)
                continue;
            hunk->sides[AL_STAGE_BASE] = sides[AL_STAGE_BASE];
            wide = k;
        }
    }
}

int al_git_conflict_hunks(const struct al_repo *repo, struct al_conflict_file *file,
                          struct al_error *err)
{
    bool with_base;
    int r;

    if (!file->blocks.count)
        return 0;
    with_base = file->blocks.items[0].has_base;
    file->hunks = al_calloc(file->blocks.count, sizeof(*file->hunks));
    r = make(repo, file, with_base ? "--diff3" : NULL, &file->made, err);
    if (r == 0 && !with_base && has_both(file))
        r = make(repo, file, "--zdiff3", &file->wide, err);
    if (r == 0)
        r = number_hunks(repo, file, err);
    if (r == 0)
        fill_sides(file);
    return r;
}

/* Lines as the file ends them: with a carriage return if the conflict has one. */
static void add_content(const char *content, bool with_returns, struct al_str *out)
{
    size_t len = strlen(content);

    for (size_t i = 0; i < len; i++) {
        if (with_returns && content[i] == '\n' && (i == 0 || content[i - 1] != '\r'))
            al_str_addc(out, '\r');
        al_str_addc(out, content[i]);
    }
    if (len && content[len - 1] != '\n')
        al_str_adds(out, with_returns ? "\r\n" : "\n");
}

/* Append one side.  git ends the last line of a conflict with a newline even if the side has none.
 */
static void add_stage(const struct al_conflict_file *file, const struct al_conflict_block *block,
                      enum al_stage side, struct al_str *out)
{
    const struct al_str *stage = &file->stages[side].data;
    const size_t start = out->len;

    al_conflict_take_side(block->sides[side], file->nested_size, side, out);
    if (block->end < file->disk.len || !stage->len || out->len == start ||
        stage->buf[stage->len - 1] == '\n')
        return;
    al_str_truncate(out, out->len - 1);
    if (out->len > start && out->buf[out->len - 1] == '\r' && stage->buf[stage->len - 1] != '\r')
        al_str_truncate(out, out->len - 1);
}

static void add_choice(const struct al_conflict_file *file, const struct al_conflict_block *block,
                       const struct al_hunk_resolution *choice, struct al_str *out)
{
    const char *disk = file->disk.buf;
    const bool with_returns = block->end > 1 && !memcmp(&disk[block->end - 2], "\r\n", 2);

    if (choice->content) {
        add_content(choice->content, with_returns, out);
        return;
    }
    if (choice->both && block->sides[AL_STAGE_THEIRS].len)
        al_conflict_take_side(block->sides[AL_STAGE_OURS], file->nested_size, AL_STAGE_OURS, out);
    else if (choice->both)
        add_stage(file, block, AL_STAGE_OURS, out);
    add_stage(file, block, choice->both ? AL_STAGE_THEIRS : choice->side, out);
}

void al_conflict_file_settle(const struct al_conflict_file *file,
                             const struct al_hunk_resolution *choices, struct al_str *out)
{
    size_t at = 0;

    for (size_t i = 0; i < file->blocks.count; i++) {
        const struct al_conflict_block *block = &file->blocks.items[i];

        if (!choices[i].given)
            continue;
        al_str_add(out, file->disk.buf + at, block->start - at);
        add_choice(file, block, &choices[i], out);
        at = block->end;
    }
    al_str_add(out, file->disk.buf + at, file->disk.len - at);
}
