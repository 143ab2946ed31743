/* The families' tables: a family gives each id to one name, and finds parameters by it; all of a
 * variant's parameters fit what holds them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/heap.h"
#include "kernels/families.h"
#include "plan/family.h"

/* What each id of a family is called. */
typedef struct names {
    const char *of[WFI_PARAMETER_IDS];
} names;

static void check_parameter(names *known, const wfi_family *family, const wfi_variant *variant,
                            const wfi_parameter *parameter)
{
    const char **name = &known->of[parameter->id];
    /* A square tile is as high as it is wide. */
    const char *own = strcmp(parameter->name, "tile") == 0 ? "tile_m" : parameter->name;
    if (*name && strcmp(*name, own) != 0)
        fail_msg("%s %s: id %u is %s and %s", family->name, variant->name, parameter->id, *name,
                 own);
    *name = own;
}

static void ids_have_one_name_each(void **state)
{
    (void)state;
    for (int f = 0; f < WF_FAMILY_COUNT; f++) {
        const wfi_family *family = wfi_family_get((wf_family)f);
        names known = {{NULL}};
        for (uint32_t v = 0; v < family->variant_count; v++) {
            const wfi_variant *variant = family->variants[v];
            bool taken[WFI_PARAMETER_IDS] = {false};
            assert_true(variant->parameter_count <= WF_MAX_PARAMETERS);
            for (uint32_t p = 0; p < variant->parameter_count; p++) {
                const uint32_t id = variant->parameters[p].id;
                assert_true(id < WFI_PARAMETER_IDS);
                assert_false(taken[id]);
                taken[id] = true;
                check_parameter(&known, family, variant, &variant->parameters[p]);
            }
        }
    }
}

static void values_belong_to_ids(void **state)
{
    (void)state;
    for (int f = 0; f < WF_FAMILY_COUNT; f++) {
        const wfi_family *family = wfi_family_get((wf_family)f);
        for (uint32_t v = 0; v < family->variant_count; v++) {
            wfi_point point = {.variant = family->variants[v]};
            memset(point.values, 0xff, sizeof point.values);
            wfi_point_defaults(&point);
            for (uint32_t id = 0; id < WFI_PARAMETER_IDS; id++) {
                const bool has = wfi_variant_has(point.variant, id);
                assert_int_equal(wfi_point_value(&point, id, 77), has ? point.values[id] : 77);
                assert_true(has || point.values[id] == 0);
            }
            for (uint32_t p = 0; p < point.variant->parameter_count; p++) {
                assert_int_equal(wfi_point_get(&point, p),
                                 point.variant->parameters[p].default_value);
                wfi_point_put(&point, p, 1000 + p);
                assert_int_equal(point.values[point.variant->parameters[p].id], 1000 + p);
            }
        }
    }
}

/* Constants past the last that fits are counted, so that making the pipeline fails, and none is
 * overwritten. */
static void constants_past_the_last_are_counted(void **state)
{
    (void)state;
    struct {
        wfi_pipeline_desc desc;
        uint32_t guard;
    } kept = {.guard = 42};
    for (uint32_t i = 0; i < WFI_MAX_CONSTANTS + 3; i++)
        wfi_pipeline_constant(&kept.desc, i, i);
    assert_int_equal(kept.desc.constant_count, WFI_MAX_CONSTANTS + 3);
    assert_int_equal(kept.desc.constants[WFI_MAX_CONSTANTS - 1].value, WFI_MAX_CONSTANTS - 1);
    assert_int_equal(kept.guard, 42);
}

/* Whether a module takes the remainder of signed integers (OpSRem, OpSMod): GLSL leaves that of
 * negative ones undefined, and NVIDIA's driver makes another number of it than CPU drivers. */
static bool takes_signed_remainders(const uint32_t *words, size_t count)
{
    enum { HEADER = 5, OP_SREM = 138, OP_SMOD = 139 };
    for (size_t at = HEADER; at < count && words[at] >> 16; at += words[at] >> 16)
        if ((words[at] & 0xffff) == OP_SREM || (words[at] & 0xffff) == OP_SMOD)
            return true;
    return false;
}

static uint32_t check_module(const wfi_spirv *module)
{
    if (!module || !module->packed)
        return 0;
    uint32_t *words = wfi_spirv_unpack(module);
    assert_non_null(words);
    if (takes_signed_remainders(words, module->word_count))
        fail_msg("%s takes the remainder of signed integers", module->name);
    wfi_free(words);
    return 1;
}

static void no_remainder_is_undefined(void **state)
{
    (void)state;
    const uint32_t planted[] = {0, 0, 0, 0, 0, 1u << 16 | 253, 5u << 16 | 139, 1, 2, 3, 4};
    uint32_t modules = 0;
    assert_true(takes_signed_remainders(planted, sizeof planted / sizeof *planted));
    assert_false(takes_signed_remainders(planted, 6));
    for (int f = 0; f < WF_FAMILY_COUNT; f++) {
        const wfi_family *family = wfi_family_get((wf_family)f);
        for (uint32_t v = 0; v < family->variant_count; v++)
            for (int type = 0; type < WF_TYPE_COUNT; type++)
                modules += check_module(family->variants[v]->modules[type]) +
                           check_module(family->variants[v]->second[type]) +
                           check_module(family->variants[v]->few_steps[type]);
    }
    assert_true(modules > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_have_one_name_each),
        cmocka_unit_test(values_belong_to_ids),
        cmocka_unit_test(constants_past_the_last_are_counted),
        cmocka_unit_test(no_remainder_is_undefined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
