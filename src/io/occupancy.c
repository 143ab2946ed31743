#include "io/occupancy.h"

#include "io/json.h"

#define SCHEMA "wavefit-occupancy/1"

static void put_limit(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, uint32_t groups)
{
    if (groups != UINT32_MAX)
        yyjson_mut_obj_add_uint(doc, object, key, groups);
}

static void put_point(yyjson_mut_doc *doc, yyjson_mut_val *out, const wfi_occupancy_point *point)
{
    const wf_occupancy *o = &point->occupancy;
    yyjson_mut_obj_add_uint(doc, out, "group_size", point->group_size);
    yyjson_mut_obj_add_real(doc, out, "occupancy", o->fraction);
    yyjson_mut_obj_add_uint(doc, out, "work_groups", o->groups);
    yyjson_mut_obj_add_uint(doc, out, "subgroups", o->subgroups);
    yyjson_mut_obj_add_uint(doc, out, "most_subgroups", o->most_subgroups);
    wfi_json_put_text(doc, out, "limited_by", o->limited_by);
    yyjson_mut_val *limits = yyjson_mut_obj_add_obj(doc, out, "work_groups_by");
    put_limit(doc, limits, "subgroups", o->by_subgroups);
    put_limit(doc, limits, "work_groups", o->by_groups);
    put_limit(doc, limits, "registers", o->by_registers);
    put_limit(doc, limits, "shared_memory", o->by_shared);
}

bool wfi_occupancy_write(const char *path, const wfi_occupancy_result *r, wfi_io_error *error)
{
    yyjson_mut_doc *doc = wfi_json_create();
    if (!doc)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    wfi_json_put_text(doc, root, "schema", SCHEMA);
    wfi_json_put_text(doc, root, "wavefit", wf_version());
    wfi_json_put_text(doc, root, "architecture", r->architecture->name);
    wfi_json_put_text(doc, root, "generation", r->architecture->generation);
    wfi_json_put_text(doc, root, "unit", r->architecture->unit);
    wfi_json_put_text(doc, root, "source", r->architecture->source);
    yyjson_mut_obj_add_uint(doc, root, "subgroup_size", r->subgroup_size);
    yyjson_mut_obj_add_uint(doc, root, "registers", r->registers);
    yyjson_mut_obj_add_uint(doc, root, "shared_bytes", r->shared_bytes);
    if (r->asked)
        put_point(doc, yyjson_mut_obj_add_obj(doc, root, "asked"), r->asked);
    yyjson_mut_val *curve = yyjson_mut_obj_add_arr(doc, root, "curve");
    for (uint32_t i = 0; i < r->count; i++)
        put_point(doc, yyjson_mut_arr_add_obj(doc, curve), &r->curve[i]);
    const bool ok = wfi_json_write(path, doc, error);
    wfi_json_free(doc);
    return ok;
}
