#include "io/would_run.h"

#include "io/json.h"
#include "io/results_device.h"
#include "io/results_parts.h"

static void put_types(yyjson_mut_doc *doc, yyjson_mut_val *object, uint32_t types)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "types");
    for (int type = 0; type < WF_TYPE_COUNT; type++)
        if (types & 1u << type)
            yyjson_mut_arr_add_str(doc, list, wf_type_name((wf_type)type));
}

static yyjson_mut_val *run_of(yyjson_mut_doc *doc, const wfi_would_run *run)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    wfi_json_put_text(doc, object, "family", run->family);
    wfi_json_put_text(doc, object, "type", wf_type_name(run->type));
    wfi_json_put_text(doc, object, "problem", run->problem);
    if (run->refused) {
        wfi_json_put_text(doc, object, "refused", run->reason);
        return object;
    }
    const wf_plan_info *plan = &run->plan;
    wfi_json_put_text(doc, object, "variant", plan->variant);
    wfi_json_put_text(doc, object, "chosen_by", plan->chosen_by);
    yyjson_mut_val *constants = yyjson_mut_obj_add_obj(doc, object, "constants");
    for (uint32_t i = 0; i < plan->constant_count; i++)
        yyjson_mut_obj_add_uint(doc, constants, plan->constants[i].name, plan->constants[i].value);
    yyjson_mut_val *size = yyjson_mut_obj_add_arr(doc, object, "group_size");
    for (int i = 0; i < 3; i++)
        yyjson_mut_arr_add_uint(doc, size, plan->kernel.group_size[i]);
    yyjson_mut_obj_add_uint(doc, object, "shared_bytes", plan->kernel.shared_bytes);
    yyjson_mut_obj_add_uint(doc, object, "subgroup_size", plan->kernel.subgroup_size);
    return object;
}

static yyjson_mut_val *left_out_of(yyjson_mut_doc *doc, const wfi_left_out *row)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    wfi_json_put_text(doc, object, "family", row->family);
    wfi_json_put_text(doc, object, "variant", row->variant);
    put_types(doc, object, row->types);
    wfi_json_put_text(doc, object, "reason", row->reason);
    return object;
}

bool wfi_profile_write(const char *path, const wfi_profile_result *result, wfi_io_error *error)
{
    yyjson_mut_doc *doc = wfi_json_create();
    if (!doc)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    wfi_results_heading(doc, root, "wavefit-profile/1");
    wfi_json_put_text(doc, root, "profile", result->file);
    wfi_json_put_text(doc, root, "not_told", result->untold);
    yyjson_mut_obj_add_val(doc, root, "device", wfi_device_json(doc, result->caps));
    yyjson_mut_val *runs = yyjson_mut_obj_add_arr(doc, root, "runs");
    for (uint32_t i = 0; i < result->run_count; i++)
        yyjson_mut_arr_append(runs, run_of(doc, &result->runs[i]));
    yyjson_mut_val *left_out = yyjson_mut_obj_add_arr(doc, root, "left_out");
    for (uint32_t i = 0; i < result->left_out_count; i++)
        yyjson_mut_arr_append(left_out, left_out_of(doc, &result->left_out[i]));
    const bool ok = wfi_json_write(path, doc, error);
    wfi_json_free(doc);
    return ok;
}
