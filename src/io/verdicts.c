#include "io/verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "io/json.h"
#include "io/results_device.h"
#include "io/results_parts.h"

/* What is no number in JSON is a text: "nan", "inf". */
static void put_value(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, double value)
{
    if (isfinite(value))
        yyjson_mut_obj_add_real(doc, object, key, value);
    else
        wfi_json_put_text(doc, object, key, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

static void put_mismatches(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_verdict *v)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "first_wrong");
    for (uint64_t i = 0; i < v->check.wrong && i < WF_CHECK_MISMATCHES; i++) {
        const wf_mismatch *m = &v->check.mismatches[i];
        yyjson_mut_val *out = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_uint(doc, out, "index", m->index);
        wfi_json_put_text(doc, out, "place", v->places[i]);
        put_value(doc, out, "result", m->result);
        put_value(doc, out, "expected", m->expected);
        put_value(doc, out, "bound", m->bound);
    }
}

static void put_kernels(yyjson_mut_doc *doc, yyjson_mut_val *object, const wfi_verdict *v)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "kernels");
    for (uint32_t i = 0; i < v->kernel_count; i++) {
        char hash[24];
        yyjson_mut_val *out = yyjson_mut_arr_add_obj(doc, list);
        snprintf(hash, sizeof hash, "%016" PRIx64, v->kernels[i].hash);
        wfi_json_put_text(doc, out, "shader", v->kernels[i].name);
        wfi_json_put_text(doc, out, "spirv", hash);
    }
}

static yyjson_mut_val *finding_of(yyjson_mut_doc *doc, const wfi_verdict *v)
{
    yyjson_mut_val *out = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, out, "case", v->number);
    wfi_json_put_text(doc, out, "status", wfi_status_name(v->status));
    wfi_json_put_text(doc, out, "reason", v->reason);
    wfi_json_put_text(doc, out, "family", v->family_name);
    wfi_json_put_text(doc, out, "type", wf_type_name(v->type));
    wfi_json_put_text(doc, out, "problem", v->problem);
    wfi_json_put_text(doc, out, "repeat", v->repeat);
    if (v->has_plan) {
        wfi_results_point(doc, out, &v->plan);
        put_kernels(doc, out, v);
    }
    if (v->check.checked) {
        put_value(doc, out, "error_over_bound", v->check.error_over_bound);
        yyjson_mut_obj_add_uint(doc, out, "checked", v->check.checked);
        yyjson_mut_obj_add_uint(doc, out, "wrong", v->check.wrong);
        put_mismatches(doc, out, v);
    }
    return out;
}

bool wfi_verdicts_write(const char *path, const wfi_verdicts *v, wfi_io_error *error)
{
    yyjson_mut_doc *doc = wfi_json_create();
    if (!doc)
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    wfi_results_heading(doc, root, "wavefit-verify/1");
    yyjson_mut_val *argv = yyjson_mut_obj_add_arr(doc, root, "argv");
    for (int i = 0; i < v->argc; i++)
        yyjson_mut_arr_add_strcpy(doc, argv, v->argv[i]);
    if (v->caps)
        yyjson_mut_obj_add_val(doc, root, "device", wfi_device_json(doc, v->caps));
    yyjson_mut_obj_add_uint(doc, root, "seed", v->seed);
    yyjson_mut_obj_add_real(doc, root, "seconds", v->seconds);
    yyjson_mut_val *cases = yyjson_mut_obj_add_obj(doc, root, "cases");
    for (int i = 0; i < v->kind_count; i++)
        if (v->cases[i])
            yyjson_mut_obj_add_uint(doc, cases, v->kinds[i], v->cases[i]);
    yyjson_mut_obj_add_uint(doc, root, "unsupported", v->unsupported);
    yyjson_mut_obj_add_uint(doc, root, "failed", v->failed);
    yyjson_mut_obj_add_uint(doc, root, "elements", v->elements);
    yyjson_mut_val *findings = yyjson_mut_obj_add_arr(doc, root, "findings");
    for (uint32_t i = 0; i < v->count; i++)
        yyjson_mut_arr_append(findings, finding_of(doc, &v->findings[i]));
    const bool ok = wfi_json_write(path, doc, error);
    wfi_json_free(doc);
    return ok;
}
