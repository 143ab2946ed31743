#include "io/targets.h"

#include <math.h>

#include "io/json.h"
#include "io/results_parts.h"

/* A count; nothing where it is 0, which stands for what is not told. */
static void put_count(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, uint32_t count)
{
    if (count)
        yyjson_mut_obj_add_uint(doc, object, key, count);
}

static void put_kernel(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_target_row *row)
{
    yyjson_mut_val *size = yyjson_mut_obj_add_arr(doc, object, "group_size");
    for (int i = 0; i < 3; i++)
        yyjson_mut_arr_add_uint(doc, size, row->group_size[i]);
    put_count(doc, object, "subgroup_size", row->subgroup_size);
    put_count(doc, object, "registers", row->registers);
    put_count(doc, object, "live_registers", row->live);
    if (row->spills_told)
        yyjson_mut_obj_add_uint(doc, object, "spilled", row->spilled);
    put_count(doc, object, "instructions", row->instructions);
    wfi_json_put_number(doc, object, "shared_bytes", row->shared_bytes);
    wfi_json_put_number(doc, object, "occupancy", row->occupancy);
    if (isfinite(row->occupancy))
        wfi_json_put_text(doc, object, "occupancy_limit", row->occupancy_limit);
}

static void put_prediction(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_target_row *row)
{
    wfi_json_put_number(doc, object, "us", row->predicted_us);
    wfi_json_put_text(doc, object, "set_by", row->set_by);
    wfi_json_put_number(doc, object, "memory_us", row->memory_us);
    wfi_json_put_number(doc, object, "arithmetic_us", row->arithmetic_us);
    wfi_json_put_number(doc, object, "loads_us", row->access_us);
    wfi_json_put_text(doc, object, "product", row->product);
    wfi_json_put_text(doc, object, "source", row->source);
}

static void put_row(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_target_row *row)
{
    wfi_json_put_text(doc, object, "target", row->target);
    if (!row->compiled) {
        wfi_json_put_text(doc, object, "refused", row->reason);
        return;
    }
    wfi_json_put_text(doc, object, "device", row->device);
    wfi_json_put_text(doc, object, "driver", row->driver);
    wfi_json_put_text(doc, object, "variant", row->variant);
    wfi_json_put_text(doc, object, "constants", row->constants);
    wfi_json_put_text(doc, object, "chosen_by", row->chosen_by);
    put_kernel(doc, yyjson_mut_obj_add_obj(doc, object, "kernel"), row);
    yyjson_mut_val *bytes = yyjson_mut_obj_add_obj(doc, object, "bytes");
    wfi_json_put_number(doc, bytes, "least", row->least_bytes);
    wfi_json_put_number(doc, bytes, "work_groups", row->group_bytes);
    wfi_json_put_number(doc, bytes, "requested", row->requested_bytes);
    wfi_json_put_number(doc, bytes, "shared_requested", row->shared_requested_bytes);
    wfi_json_put_number(doc, object, "flops", row->flops);
    if (isfinite(row->predicted_us))
        put_prediction(doc, yyjson_mut_obj_add_obj(doc, object, "predicted"), row);
}

bool wfi_targets_write(const char *path, const wfi_targets_result *result, wfi_io_error *error)
{
    yyjson_mut_doc *doc = wfi_json_create();
    if (!doc)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    wfi_results_heading(doc, root, WFI_TARGETS_SCHEMA);
    wfi_json_put_text(doc, root, "family", result->family);
    wfi_json_put_text(doc, root, "problem", result->problem);
    wfi_json_put_text(doc, root, "type", result->type);
    yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, root, "targets");
    for (uint32_t i = 0; i < result->count; i++)
        put_row(doc, yyjson_mut_arr_add_obj(doc, rows), &result->rows[i]);
    const bool ok = wfi_json_write(path, doc, error);
    wfi_json_free(doc);
    return ok;
}
