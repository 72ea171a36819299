// SPDX-License-Identifier: Apache-2.0
/* The only C++ file: it makes a tree of values of what toml++ reads. */

/* pkg-config may ask for the distribution's shared library; airlock uses the headers only. */
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY       1
#define TOML_EXCEPTIONS        0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16

/* Some of toml++'s assertions fail for a malformed file ("[" before a line break), and toml++ then
 * reports the error.  NDEBUG would make it assume that the assertion holds, so the assertions are
 * disabled here in another way. */
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "cli/config/toml.h"

extern "C" {
#include "base/mem.h"
}

namespace
{

/* toml++ recurses once for each part of a dotted key, and limits only brackets.  Returns the line
 * that has more dots between two separators than any key or string of airlock's configuration, or
 * 0. */
unsigned too_deep(std::string_view text)
{
    constexpr unsigned max_dots = 256;
    unsigned line = 1, dots = 0;

    for (char c : text) {
        if (c == '.' && ++dots > max_dots)
            return line;
        if (c == '\n')
            line++;
        if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos)
            dots = 0;
    }
    return 0;
}

bool is_bare(std::string_view key)
{
    for (char c : key)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    return !key.empty();
}

char *copy(std::string_view text)
{
    return al_strndup(text.data(), text.size());
}

bool fill(al_value &value, const toml::node &node, al_error *err);

/* A quoted key may contain a dot; without its quotes it would look like a key of a table. */
bool fill_table(al_value &value, const toml::table &from, al_error *err)
{
    value.type = AL_VALUE_MAPPING;
    value.items = static_cast<al_value *>(al_calloc(from.size(), sizeof(al_value)));
    for (auto &&[name, node] : from) {
        const std::string_view word = name.str();
        const std::string above = *value.key ? std::string(value.key) + '.' : "";
        al_value &member = value.items[value.count++];

        member.file = value.file;
        member.line = name.source().begin.line;
        member.name = copy(word);
        member.key =
            copy(above + (is_bare(word) ? std::string(word) : '"' + std::string(word) + '"'));
        if (word.find('\0') != std::string_view::npos)
            return al_value_error(&member, err, "must not contain a NUL") == 0;
        if (!fill(member, node, err))
            return false;
    }
    return true;
}

/* An item has the key of its list. */
bool fill_list(al_value &value, const toml::array &from, al_error *err)
{
    value.type = AL_VALUE_LIST;
    value.items = static_cast<al_value *>(al_calloc(from.size(), sizeof(al_value)));
    for (const toml::node &node : from) {
        al_value &item = value.items[value.count++];

        item.file = value.file;
        item.line = node.source().begin.line;
        item.key = al_strdup(value.key);
        if (!fill(item, node, err))
            return false;
    }
    return true;
}

bool fill(al_value &value, const toml::node &node, al_error *err)
{
    if (node.is_table())
        return fill_table(value, *node.as_table(), err);
    if (node.is_array())
        return fill_list(value, *node.as_array(), err);
    if (node.is_string()) {
        const std::string &text = node.as_string()->get();

        if (text.find('\0') != std::string::npos)
            return al_value_error(&value, err, "must not contain a NUL") == 0;
        value.type = AL_VALUE_STRING;
        value.text = copy(text);
    } else if (node.is_boolean()) {
        value.type = AL_VALUE_BOOL;
        value.text = copy(node.as_boolean()->get() ? "true" : "false");
    } else if (node.is_integer()) {
        value.type = AL_VALUE_NUMBER;
        value.text = copy(std::to_string(node.as_integer()->get()));
    } else if (node.is_floating_point()) {
        value.type = AL_VALUE_NUMBER;
        value.text = copy(std::to_string(node.as_floating_point()->get()));
    } else {
        value.type = AL_VALUE_TIME;
    }
    return true;
}

int fail(const char *file, unsigned line, std::string_view what, al_error *err)
{
    constexpr std::string_view noise = "Error "; /* toml++ says "Error while parsing …" */

    if (what.substr(0, noise.size()) == noise)
        what.remove_prefix(noise.size());
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s:%u: %.*s", file, line,
                        static_cast<int>(what.size()), what.data());
}

} // namespace

int al_toml_read(const char *file, const char *text, size_t len, al_value *ret_toml, al_error *err)
{
    const std::string_view all(text, len);

    if (unsigned line = too_deep(all))
        return fail(file, line, "too many dots", err);
    const toml::parse_result result = toml::parse(all);
    if (!result)
        return fail(file, result.error().source().begin.line, result.error().description(), err);
    *ret_toml = {};
    ret_toml->file = file;
    ret_toml->line = 1;
    ret_toml->key = copy("");
    if (fill_table(*ret_toml, result.table(), err))
        return 0;
    al_value_clear(ret_toml);
    return AL_ERR_BAD_ARGS;
}
