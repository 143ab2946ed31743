#include "io/results_device.h"

#include <stdio.h>

#include "core/arithmetic.h"
#include "io/json.h"

static void put_hex(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                    const uint8_t *bytes, size_t count)
{
    char text[65];
    for (size_t i = 0; i < count && i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    yyjson_mut_obj_add_strcpy(doc, object, key, text);
}

static const char *type_name(uint32_t device_type)
{
    static const char *const names[] = {"other", "integrated", "discrete", "virtual", "cpu"};
    return device_type < 5 ? names[device_type] : "other";
}

static yyjson_mut_val *limits_of(yyjson_mut_doc *doc, const wf_caps *caps)
{
    yyjson_mut_val *limits = yyjson_mut_obj(doc);
    yyjson_mut_val *size = yyjson_mut_arr_with_uint32(doc, caps->max_group_size, 3);
    yyjson_mut_val *groups = yyjson_mut_arr_with_uint32(doc, caps->max_groups, 3);
    wfi_json_put_text(doc, limits, "profile",
                      caps->limits == WF_LIMITS_MINIMUM ? "minimum" : "device");
    yyjson_mut_obj_add_uint(doc, limits, "max_invocations", caps->max_invocations);
    yyjson_mut_obj_add_val(doc, limits, "max_group_size", size);
    yyjson_mut_obj_add_val(doc, limits, "max_groups", groups);
    yyjson_mut_obj_add_uint(doc, limits, "max_shared_bytes", caps->max_shared_bytes);
    yyjson_mut_obj_add_uint(doc, limits, "max_storage_buffers", caps->max_storage_buffers);
    yyjson_mut_obj_add_uint(doc, limits, "max_storage_range", caps->max_storage_range);
    yyjson_mut_obj_add_uint(doc, limits, "max_allocation", caps->max_allocation);
    yyjson_mut_obj_add_uint(doc, limits, "storage_alignment", caps->storage_alignment);
    return limits;
}

static yyjson_mut_val *features_of(yyjson_mut_doc *doc, const wf_caps *caps)
{
    const struct {
        const char *name;
        bool on;
    } list[] = {
        {"f64", caps->f64},
        {"f16_arithmetic", caps->f16_arithmetic},
        {"f16_storage", caps->f16_storage},
        {"bf16", caps->bf16},
        {"int8_arithmetic", caps->int8_arithmetic},
        {"int8_storage", caps->int8_storage},
        {"int64", caps->int64},
        {"integer_dot", caps->integer_dot},
        {"integer_dot_accelerated", caps->integer_dot_accelerated},
        {"cooperative_matrix", caps->cooperative_matrix},
        {"cooperative_matrix2", caps->cooperative_matrix2},
        {"subgroup_size_control", caps->subgroup_size_control},
        {"push_descriptors", caps->push_descriptors},
        {"conditional_rendering", caps->conditional_rendering},
        {"pipeline_statistics", caps->pipeline_statistics},
        {"unified_memory", caps->unified_memory},
    };
    yyjson_mut_val *features = yyjson_mut_obj(doc);
    for (size_t i = 0; i < WFI_COUNT(list); i++)
        yyjson_mut_obj_add_bool(doc, features, list[i].name, list[i].on);
    return features;
}

static void put_subgroup(yyjson_mut_doc *doc, yyjson_mut_val *device, const wf_caps *caps)
{
    yyjson_mut_val *subgroup = yyjson_mut_obj_add_obj(doc, device, "subgroup");
    yyjson_mut_obj_add_uint(doc, subgroup, "size", caps->subgroup_size);
    yyjson_mut_obj_add_uint(doc, subgroup, "min", caps->subgroup_min);
    yyjson_mut_obj_add_uint(doc, subgroup, "max", caps->subgroup_max);
    yyjson_mut_obj_add_uint(doc, subgroup, "operations", caps->subgroup_operations);
}

static void put_memory(yyjson_mut_doc *doc, yyjson_mut_val *device, const wf_caps *caps)
{
    yyjson_mut_val *heaps = yyjson_mut_obj_add_arr(doc, device, "heaps");
    for (uint32_t i = 0; i < caps->heap_count && i < WF_MAX_HEAPS; i++) {
        yyjson_mut_val *heap = yyjson_mut_arr_add_obj(doc, heaps);
        yyjson_mut_obj_add_uint(doc, heap, "bytes", caps->heaps[i].bytes);
        yyjson_mut_obj_add_bool(doc, heap, "device_local", caps->heaps[i].device_local);
        yyjson_mut_obj_add_bool(doc, heap, "host_visible", caps->heaps[i].host_visible);
    }
    yyjson_mut_obj_add_uint(doc, device, "available_bytes", caps->available_bytes);
}

static void put_shapes(yyjson_mut_doc *doc, yyjson_mut_val *device, const wf_caps *caps)
{
    if (caps->cooperative_shape_count == 0)
        return;
    yyjson_mut_val *shapes = yyjson_mut_obj_add_arr(doc, device, "cooperative_shapes");
    for (uint32_t i = 0; i < caps->cooperative_shape_count; i++) {
        const wf_cooperative_shape *s = &caps->cooperative_shapes[i];
        yyjson_mut_val *shape = yyjson_mut_arr_add_obj(doc, shapes);
        yyjson_mut_obj_add_uint(doc, shape, "m", s->m);
        yyjson_mut_obj_add_uint(doc, shape, "n", s->n);
        yyjson_mut_obj_add_uint(doc, shape, "k", s->k);
        yyjson_mut_obj_add_uint(doc, shape, "a_type", s->a_type);
        yyjson_mut_obj_add_uint(doc, shape, "b_type", s->b_type);
        yyjson_mut_obj_add_uint(doc, shape, "c_type", s->c_type);
        yyjson_mut_obj_add_uint(doc, shape, "result_type", s->result_type);
        yyjson_mut_obj_add_uint(doc, shape, "scope", s->scope);
    }
}

yyjson_mut_val *wfi_device_json(yyjson_mut_doc *doc, const wf_caps *caps)
{
    char version[48];
    yyjson_mut_val *device = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, device, "index", caps->index);
    wfi_json_put_text(doc, device, "name", caps->name);
    wfi_json_put_text(doc, device, "type", type_name(caps->device_type));
    yyjson_mut_obj_add_uint(doc, device, "vendor_id", caps->vendor_id);
    yyjson_mut_obj_add_uint(doc, device, "device_id", caps->device_id);
    put_hex(doc, device, "uuid", caps->uuid, sizeof caps->uuid);
    snprintf(version, sizeof version, "%u.%u.%u", VK_API_VERSION_MAJOR(caps->api_version),
             VK_API_VERSION_MINOR(caps->api_version), VK_API_VERSION_PATCH(caps->api_version));
    wfi_json_put_text(doc, device, "api_version", version);
    yyjson_mut_val *driver = yyjson_mut_obj_add_obj(doc, device, "driver");
    yyjson_mut_obj_add_uint(doc, driver, "id", caps->driver_id);
    yyjson_mut_obj_add_uint(doc, driver, "version", caps->driver_version);
    wfi_json_put_text(doc, driver, "name", caps->driver_name);
    wfi_json_put_text(doc, driver, "info", caps->driver_info);
    yyjson_mut_obj_add_val(doc, device, "limits", limits_of(doc, caps));
    put_subgroup(doc, device, caps);
    yyjson_mut_obj_add_val(doc, device, "features", features_of(doc, caps));
    put_shapes(doc, device, caps);
    put_memory(doc, device, caps);
    yyjson_mut_obj_add_bool(doc, device, "display_attached", caps->display_attached);
    if (caps->compute_units)
        yyjson_mut_obj_add_uint(doc, device, "compute_units", caps->compute_units);
    yyjson_mut_val *timestamps = yyjson_mut_obj_add_obj(doc, device, "timestamps");
    yyjson_mut_obj_add_uint(doc, timestamps, "valid_bits", caps->timestamp_valid_bits);
    wfi_json_put_number(doc, timestamps, "period_ns", caps->timestamp_period_ns);
    return device;
}
