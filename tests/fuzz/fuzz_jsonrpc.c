// SPDX-License-Identifier: Apache-2.0
/*
 * base/reader.h, base/jsonrpc.h: the first byte decides in which pieces the rest arrives.  Lines do
 * not depend on the pieces, each answer is one line of JSON, and al_raw_json_member() finds the
 * same values as the parsed tree.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/jsonrpc.h"
#include "base/reader.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

static bool is_blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r", line[i]) || !line[i])
            return false;
    return true;
}

/* The lines of the text, each ended by LF, split by the simplest code possible. */
static void cut_simply(const char *data, size_t len, struct al_str *out)
{
    while (len) {
        const char *end = memchr(data, '\n', len);
        size_t line = end ? (size_t)(end - data) : len, kept = line;

        if (kept && data[kept - 1] == '\r')
            kept--;
        if (!is_blank(data, kept)) {
            al_str_add(out, data, kept);
            al_str_addc(out, '\n');
        }
        line += end != NULL;
        data += line;
        len -= line;
    }
}

static void take_lines(struct al_reader *reader, struct al_str *out)
{
    const char *line;
    enum al_line found;
    size_t len;

    while ((found = al_reader_next(reader, &line, &len)) != AL_LINE_NONE) {
        fuzz_require(found == AL_LINE_READY); /* no input is long enough for the other answer */
        al_str_add(out, line, len);
        al_str_addc(out, '\n');
    }
}

static void cut_pieces(const struct fuzz_input *input, uint32_t seed, struct al_str *out)
{
    int ends[2];

    fuzz_require(pipe2(ends, O_CLOEXEC) == 0);
    struct al_reader reader = AL_READER_INIT(ends[0]);
    for (size_t at = 0, n; at < input->len; at += n) {
        n = fuzz_piece(&seed, input->len - at);
        fuzz_require(al_write_all(ends[1], input->data + at, n) == 0);
        al_reader_fill(&reader);
        take_lines(&reader, out);
    }
    al_close(ends[1]);
    while (!reader.ended) {
        al_reader_fill(&reader);
        take_lines(&reader, out);
    }
    take_lines(&reader, out);
    al_reader_clear(&reader);
    al_close(ends[0]);
}

/* An answer is one line that holds one object. */
static void require_line(const struct al_str *line, const char *id)
{
    al_auto(al_json_decrefp) json_t *value =
        json_loadb(line->buf, line->len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);

    fuzz_require(!memchr(line->buf, '\n', line->len));
    fuzz_require(al_utf8_valid(line->buf, line->len));
    /* An id beyond 64 bits is echoed in its own digits, which this reader cannot hold. */
    fuzz_require(value || (id && *id != '"' && strlen(id) > 18));
    fuzz_require(!value || (json_object_get(value, "id") != NULL) == (id != NULL));
}

static void require_answers(const struct al_rpc_message *message)
{
    al_auto(al_str_clear) struct al_str result = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str error = AL_STR_INIT;

    if (message->id) {
        al_rpc_begin_result(&result, message->id);
        al_str_adds(&result, "{}");
        al_rpc_end(&result);
        require_line(&result, message->id);
    }
    al_rpc_add_error(&error, message->id, AL_RPC_INVALID_REQUEST,
                     message->problem ? message->problem : "none");
    require_line(&error, message->id);
}

static void require_slice(struct al_raw_json slice, const json_t *value)
{
    al_auto(al_json_decrefp) json_t *again = NULL;

    fuzz_require((slice.at != NULL) == (value != NULL));
    if (!value)
        return;
    again = json_loadb(slice.at, slice.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    fuzz_require(again && json_equal(again, value));
}

static size_t count_values(json_t *value)
{
    size_t count = 1, i;
    const char *name;
    json_t *item;

    json_array_foreach(value, i, item) count += count_values(item);
    json_object_foreach(value, name, item) count += count_values(item);
    return count;
}

/* On text that was taken, as it is or leniently, looking at the bytes finds what the tree has. */
static void require_agreement(const struct al_rpc_doc *doc)
{
    static const char *const names[] = { "id", "method", "params", "jsonrpc", "" };
    struct al_raw_json item = { NULL, 0 };
    json_t *value;
    size_t i;

    fuzz_require(count_values(doc->root) <= al_raw_json_count_values(doc->text));
    for (i = 0; json_is_object(doc->root) && i < AL_COUNT(names); i++)
        require_slice(al_raw_json_member(doc->text, names[i]),
                      json_object_get(doc->root, names[i]));
    json_array_foreach(doc->root, i, value)
    {
        item = al_raw_json_next(doc->text, item);
        require_slice(item, value);
    }
    if (json_is_array(doc->root))
        fuzz_require(!al_raw_json_next(doc->text, item).at || !json_array_size(doc->root));
}

/* What is run says everything once, for whoever reads it. */
static bool is_strict(const struct al_rpc_message *message)
{
    al_auto(al_json_decrefp) json_t *strict =
        json_loadb(message->text.at, message->text.len,
                   JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);

    return strict || message->problem || message->has_duplicates;
}

static void check_messages(const struct al_rpc_doc *doc)
{
    static const char *const token_path[] = { "params", "_meta", "progressToken", NULL };
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;

    while (al_rpc_doc_next(doc, &cursor, &message)) {
        al_auto(al_freep) char *token = al_rpc_token(&message, token_path);
        bool named = message.kind == AL_RPC_REQUEST || message.kind == AL_RPC_NOTIFICATION;

        fuzz_require(named == (message.method && !message.problem) || !named);
        fuzz_require((message.kind == AL_RPC_INVALID) == (message.problem != NULL));
        fuzz_require(message.kind != AL_RPC_REQUEST || message.id);
        fuzz_require(!token || al_utf8_valid(token, strlen(token)));
        fuzz_require(message.exact || al_rpc_arguments_problem(&message) || is_strict(&message));
        require_answers(&message);
    }
}

static void check_line(const char *line, size_t len)
{
    const struct fuzz_input input = { line, len };
    al_auto(al_freep) char *bytes = fuzz_bytes(&input);
    al_auto(al_rpc_doc_clear) struct al_rpc_doc doc = AL_RPC_DOC_INIT;
    const char *problem = NULL;
    enum al_rpc_code code = al_rpc_parse(bytes, len, &doc, &problem);

    fuzz_require((code == AL_RPC_OK) == (doc.root != NULL));
    fuzz_require((code == AL_RPC_OK) == (problem == NULL));
    if (code != AL_RPC_OK)
        return;
    require_agreement(&doc);
    check_messages(&doc);
}

/* In text that was not validated a search may find nothing, or something inside the text. */
static void check_slices(const char *data, size_t len)
{
    const struct fuzz_input input = { data, len };
    al_auto(al_freep) char *bytes = fuzz_bytes(&input);
    const struct al_raw_json text = { bytes, len };
    struct al_raw_json item = { NULL, 0 };
    al_auto(al_freep) char *wide = NULL;
    size_t wide_len;

    (void)al_raw_json_member(al_raw_json_member(text, "params"), "arguments");
    (void)al_raw_json_count_values(text);
    while ((item = al_raw_json_next(text, item)).at)
        fuzz_require(item.len && item.at >= bytes && item.at + item.len <= bytes + len);
    wide = al_raw_json_widen(text, &wide_len);
    fuzz_require(wide_len >= len && wide_len <= len + len / 9 + 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    uint32_t seed = fuzz_byte(&input);
    al_auto(al_str_clear) struct al_str expected = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    cut_simply(input.data, input.len, &expected);
    cut_pieces(&input, seed, &lines);
    fuzz_require(lines.len == expected.len && !memcmp(lines.buf, expected.buf, lines.len));
    for (const char *at = lines.buf, *end; at < lines.buf + lines.len; at = end + 1) {
        end = memchr(at, '\n', lines.len - (size_t)(at - lines.buf));
        check_line(at, (size_t)(end - at));
    }
    check_slices(input.data, input.len);
    return 0;
}
