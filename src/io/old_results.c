#include "io/old_results.h"

#include <string.h>

#include "core/old_names.h"
#include "io/comparison.h"
#include "io/json.h"
#include "io/results.h"

#define MOST_POINT 512 /* bytes of a point's text */

static const char *text_of(yyjson_mut_val *object, const char *name)
{
    return yyjson_mut_get_str(yyjson_mut_obj_get(object, name));
}

/* Where the member is text, it becomes the present name. */
static void rename_member(yyjson_mut_val *object, const char *name, const char *now)
{
    yyjson_mut_set_str(yyjson_mut_obj_get(object, name), now);
}

/* Variant and constants of a case or of what was chosen before a search. */
static void rename_point(const char *family, yyjson_mut_val *object)
{
    const char *variant = text_of(object, "variant");
    size_t index, count;
    yyjson_mut_val *key, *value;
    if (variant)
        rename_member(object, "variant", wfi_old_variant(family, variant));
    yyjson_mut_obj_foreach(yyjson_mut_obj_get(object, "constants"), index, count, key, value)
    {
        yyjson_mut_set_str(key, wfi_old_parameter(family, yyjson_mut_get_str(key)));
    }
}

/* Gives the present name of the object's family, "" where it has none. */
static const char *rename_family(yyjson_mut_val *object)
{
    const char *family = text_of(object, "family");
    if (!family)
        return "";
    rename_member(object, "family", wfi_old_family(family));
    return text_of(object, "family");
}

static void rename_case(yyjson_mut_val *item)
{
    const char *family = rename_family(item);
    yyjson_mut_val *study = yyjson_mut_obj_get(item, "study");
    const char *over = text_of(study, "over");
    rename_point(family, item);
    rename_point(family, yyjson_mut_obj_get(yyjson_mut_obj_get(item, "tuned"), "before"));
    if (over)
        rename_member(study, "over", wfi_old_parameter(family, over));
}

/* Writes "variant a=1 b=2" with the present names; false: there is no room, or it is no such
 * text. */
static bool rename_words(const char *family, const char *before, char now[MOST_POINT])
{
    char word[64];
    size_t used = 0;
    while (*before) {
        const size_t length = strcspn(before, "= ");
        const bool variant = used == 0;
        if (length >= sizeof word)
            return false;
        memcpy(word, before, length);
        word[length] = '\0';
        const char *name =
            variant ? wfi_old_variant(family, word) : wfi_old_parameter(family, word);
        const size_t rest = strcspn(before + length, " "),
                     end = rest + (before[length + rest] == ' ');
        if (used + strlen(name) + end >= MOST_POINT)
            return false;
        memcpy(now + used, name, strlen(name));
        used += strlen(name);
        memcpy(now + used, before + length, end);
        used += end;
        before += length + end;
    }
    now[used] = '\0';
    return true;
}

static void rename_comparison(yyjson_mut_doc *doc, yyjson_mut_val *item)
{
    const char *family = rename_family(item);
    char now[MOST_POINT];
    size_t index, count;
    yyjson_mut_val *key, *rival;
    yyjson_mut_obj_foreach(yyjson_mut_obj_get(item, "rivals"), index, count, key, rival)
    {
        const char *point = text_of(rival, "point");
        if (point && rename_words(family, point, now)) {
            yyjson_mut_val *copy = yyjson_mut_strcpy(doc, now);
            rename_member(rival, "point", copy ? yyjson_mut_get_str(copy) : point);
        }
    }
}

static void rename_all(yyjson_mut_doc *doc, yyjson_mut_val *root, bool comparison)
{
    size_t index, count;
    yyjson_mut_val *item;
    rename_member(root, "schema", comparison ? WFI_COMPARISON_SCHEMA : WFI_RESULTS_SCHEMA);
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(root, comparison ? "comparisons" : "cases"), index,
                           count, item)
    {
        if (comparison)
            rename_comparison(doc, item);
        else
            rename_case(item);
    }
}

yyjson_doc *wfi_results_document(const char *path, wfi_io_error *error)
{
    yyjson_doc *doc = wfi_json_read(path, error);
    const char *schema = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "schema"));
    const bool comparison = schema && strcmp(schema, WFI_COMPARISON_OLD_SCHEMA) == 0;
    if (!comparison && !(schema && strcmp(schema, WFI_RESULTS_OLD_SCHEMA) == 0))
        return doc;
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
    yyjson_doc_free(doc);
    if (copy)
        rename_all(copy, yyjson_mut_doc_get_root(copy), comparison);
    doc = copy ? yyjson_mut_doc_imut_copy(copy, NULL) : NULL;
    yyjson_mut_doc_free(copy);
    if (!doc)
        wfi_io_set_error(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    return doc;
}
