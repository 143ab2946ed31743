/* Host memory from the application's VkAllocationCallbacks: all that the library allocates comes
 * from them and goes back to them, on whatever thread; each allocation fails in turn. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "harness.h"
#include "product.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Counts of one application's allocator. The driver calls it too, from threads of its own. */
typedef struct heap {
    VkAllocationCallbacks callbacks;
    atomic_uint asked, alive, others; /* others: blocks of another heap that it was to free */
} heap;

/* Before each block. */
typedef struct mark {
    heap *owner;
    void *start;
    size_t bytes;
} mark;

static void *VKAPI_CALL give(void *user, size_t bytes, size_t alignment,
                             VkSystemAllocationScope scope)
{
    heap *h = user;
    (void)scope;
    const size_t to = alignment < sizeof(mark) ? 32 : alignment > 32 ? alignment : 32;
    unsigned char *start = aligned_alloc(to, (sizeof(mark) + bytes + 2 * to - 1) / to * to + to);
    if (!start)
        return NULL;
    unsigned char *block = start + (sizeof(mark) + to - 1) / to * to;
    const mark m = {h, start, bytes};
    memcpy(block - sizeof m, &m, sizeof m);
    atomic_fetch_add(&h->asked, 1);
    atomic_fetch_add(&h->alive, 1);
    return block;
}

static void VKAPI_CALL take_back(void *user, void *block)
{
    heap *h = user;
    mark m;
    if (!block)
        return;
    memcpy(&m, (unsigned char *)block - sizeof m, sizeof m);
    atomic_fetch_add(&h->others, m.owner != h);
    atomic_fetch_sub(&m.owner->alive, 1);
    free(m.start);
}

static void *VKAPI_CALL give_more(void *user, void *block, size_t bytes, size_t alignment,
                                  VkSystemAllocationScope scope)
{
    mark m = {0};
    void *larger = bytes ? give(user, bytes, alignment, scope) : NULL;
    if (block)
        memcpy(&m, (unsigned char *)block - sizeof m, sizeof m);
    if (larger && block)
        memcpy(larger, block, m.bytes < bytes ? m.bytes : bytes);
    if (larger || !bytes)
        take_back(user, block);
    return larger;
}

static wf_device *adopt(const wf_vulkan *vulkan, heap *h)
{
    wf_device *device = NULL;
    wf_device_params params = engine_params();
    memset(h, 0, sizeof *h);
    h->callbacks = (VkAllocationCallbacks){
        .pUserData = h, .pfnAllocation = give, .pfnReallocation = give_more, .pfnFree = take_back};
    params.allocator = &h->callbacks;
    assert_int_equal(wf_device_adopt(vulkan, &params, &device), WF_SUCCESS);
    return device;
}

static void close_device(wf_device **device, heap *h)
{
    wf_device_destroy(device);
    assert_int_equal(atomic_load(&h->alive), 0);
    assert_int_equal(atomic_load(&h->others), 0);
}

enum { ROWS = 64 };

static const uint32_t *offsets_of_identity(void)
{
    static uint32_t offsets[ROWS + 1];
    for (uint32_t i = 0; i <= ROWS; i++)
        offsets[i] = i;
    return offsets;
}

static wf_result make_plans(wf_device *device)
{
    static float values[ROWS], b[ROWS], x[ROWS], u[9 * 9], gosa;
    static const double taps[5] = {0.2, 0.2, 0.2, 0.2, 0.2};
    wf_plan *plan = NULL;
    wf_cg *cg = NULL;
    wf_laplace *laplace = NULL;
    wf_himeno *himeno = NULL;
    wf_cg_result cg_result = {.product = {.size = sizeof cg_result.product}};
    wf_laplace_result laplace_result = {.size = sizeof laplace_result};
    const wf_spmv_params sparse = {.size = sizeof sparse,
                                   .rows = ROWS,
                                   .columns = ROWS,
                                   .row_offsets = offsets_of_identity(),
                                   .column_indices = offsets_of_identity(),
                                   .values = values};
    const wf_stencil_params star = {
        .size = sizeof star, .nx = 16, .ny = 16, .coefficients = taps, .vary_x = 1};
    const wf_vector_params vector = {.size = sizeof vector, .count = 10};
    const wf_cg_params solve = {.size = sizeof solve, .matrix = &sparse};
    const wf_laplace_params plate = {.size = sizeof plate, .nx = 9, .ny = 9};
    const wf_himeno_params small = {.size = sizeof small, .ni = 8, .nj = 8, .nk = 8};
    for (int i = 0; i < ROWS; i++)
        values[i] = b[i] = 1;
    wf_result result = wf_spmv_plan(device, &sparse, &plan);
    wf_plan_destroy(&plan);
    if (result == WF_SUCCESS)
        result = wf_stencil_plan(device, &star, &plan);
    wf_plan_destroy(&plan);
    if (result == WF_SUCCESS)
        result = wf_vector_plan(device, &vector, &plan);
    wf_plan_destroy(&plan);
    if (result == WF_SUCCESS)
        result = wf_cg_create(device, &solve, &cg);
    wf_cg_destroy(&cg);
    if (result == WF_SUCCESS)
        result = wf_laplace_create(device, &plate, &laplace);
    wf_laplace_destroy(&laplace);
    if (result == WF_SUCCESS)
        result = wf_cg_solve(device, &solve, b, x, &cg_result);
    if (result == WF_SUCCESS)
        result = wf_laplace_solve(device, &plate, u, &laplace_result);
    if (result == WF_SUCCESS)
        result = wf_himeno_create(device, &small, &himeno);
    if (result == WF_SUCCESS)
        result = wf_himeno_start(himeno);
    if (result == WF_SUCCESS)
        result = wf_himeno_run(himeno, 3, &gosa, NULL, NULL);
    wf_himeno_destroy(&himeno);
    return result;
}

/* What an application does with a device; queues and transfers work on threads too. */
static wf_result use(engine *e, wf_device *device)
{
    static float data[1024];
    static product p;
    wf_plan *copy = NULL;
    wf_queue *queue = NULL;
    wf_transfer *transfer = NULL;
    char text[64];
    size_t bytes = sizeof text;
    product_open(&p, device, NULL);
    product_poison(&p);
    VkCommandBuffer commands = engine_begin(e);
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < 100 && result == WF_SUCCESS; i++) /* the arena grows */
        result = wf_plan_record(p.plan, commands, p.arena, &p.bindings);
    engine_finish(e, commands);
    test_count_allocations(false); /* wf_matmul_check has no device */
    product_check(&p);
    test_count_allocations(true);
    if (result == WF_SUCCESS)
        result = wf_plan_run(p.plan, &p.bindings);
    if (result == WF_SUCCESS)
        result = wf_plan_copy(p.plan, &copy);
    if (result == WF_SUCCESS)
        result = wf_queue_create(device, &queue);
    if (result == WF_SUCCESS)
        result = wf_queue_run(queue, p.plan, &p.bindings, NULL);
    if (result == WF_SUCCESS)
        result = wf_queue_wait(queue, 0);
    if (result == WF_SUCCESS)
        result = wf_buffer_read_begin(p.buffers[2], 0, data, sizeof data, &transfer);
    if (result == WF_SUCCESS)
        result = wf_transfer_end(&transfer);
    if (result == WF_SUCCESS)
        result = wf_tuning_export(device, text, &bytes);
    wf_queue_destroy(&queue);
    wf_plan_destroy(&copy);
    product_close(&p);
    return result == WF_SUCCESS ? make_plans(device) : result;
}

static void test_all_of_it_is_the_applications(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    heap h;
    wf_features *features = NULL;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    test_count_allocations(true);
    wf_device *device = adopt(&vulkan, &h);
    assert_int_equal(use(&e, device), WF_SUCCESS);
    close_device(&device, &h);
    const wf_device_params params = {.size = sizeof params, .allocator = &h.callbacks};
    assert_int_equal(wf_required_features(&vulkan, 0, &params, &features), WF_SUCCESS);
    assert_true(atomic_load(&h.alive) > 0);
    wf_features_destroy(&features);
    assert_int_equal(atomic_load(&h.alive), 0);
    const unsigned from_c = test_allocations();
    /* Without callbacks the same comes from the C library, and the count shows it. */
    device = engine_adopt(&vulkan);
    assert_int_equal(use(&e, device), WF_SUCCESS);
    wf_device_destroy(&device);
    test_count_allocations(false);
    print_message("%u allocations from the callbacks, %u from the C library without them\n",
                  atomic_load(&h.asked), test_allocations());
    assert_int_equal(from_c, 0);
    assert_true(test_allocations() > 100 && atomic_load(&h.asked) > 100);
    engine_close(&e);
}

/* Two devices on one VkDevice, each with an allocator of its own: a plan's jobs run on another
 * thread, and what is left of a device outlives it. */
static void test_each_device_has_its_own(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    heap heaps[2];
    wf_device *devices[2];
    job_list list = {0};
    const wf_jobs jobs = {.size = sizeof jobs, .submit = job_list_keep, .user = &list};
    static product p[2];
    pthread_t thread;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    for (int i = 0; i < 2; i++)
        devices[i] = adopt(&vulkan, &heaps[i]);
    for (int i = 0; i < 2; i++)
        product_open(&p[i], devices[i], &jobs);
    test_count_allocations(true);
    const unsigned before = test_allocations();
    assert_int_equal(pthread_create(&thread, NULL, job_list_run, &list), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(wf_plan_status(p[i].plan), WF_SUCCESS);
    assert_int_equal(test_allocations(), before);
    test_count_allocations(false);
    wf_buffer *left = NULL;
    assert_int_equal(wf_buffer_create(devices[0], 1000, WF_MEMORY_DEVICE, &left), WF_SUCCESS);
    for (int i = 1; i >= 0; i--)
        product_close(&p[i]);
    wf_device_destroy(&devices[0]);
    assert_true(atomic_load(&heaps[0].alive) > 0);
    close_device(&devices[1], &heaps[1]);
    wf_buffer_destroy(&left);
    assert_int_equal(atomic_load(&heaps[0].alive), 0);
    assert_int_equal(atomic_load(&heaps[0].others), 0);
    engine_close(&e);
}

/* y = A x; returns what failed. */
static wf_result multiply(const wf_vulkan *vulkan, float out[4])
{
    static const uint32_t offsets[] = {0, 2, 3, 3, 5}, columns[] = {0, 2, 1, 0, 2};
    static const float values[] = {1, 2, 3, 4, 5}, vector[] = {1, 10, 100};
    const wf_spmv_params sparse = {.size = sizeof sparse,
                                   .rows = 4,
                                   .columns = 3,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    wf_device *device = NULL;
    wf_plan *plan = NULL;
    wf_buffer *x = NULL, *y = NULL;
    const wf_device_params params = engine_params();
    wf_result result = wf_device_adopt(vulkan, &params, &device);
    if (result == WF_SUCCESS)
        result = wf_spmv_plan(device, &sparse, &plan);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, sizeof vector, WF_MEMORY_DEVICE, &x);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, 4 * sizeof *out, WF_MEMORY_DEVICE, &y);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(x, 0, vector, sizeof vector);
    const wf_bindings bindings = {.size = sizeof bindings, .items = {{.buffer = x}, {.buffer = y}}};
    if (result == WF_SUCCESS)
        result = wf_plan_run(plan, &bindings);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(y, 0, out, 4 * sizeof *out);
    wf_buffer_destroy(&x);
    wf_buffer_destroy(&y);
    wf_plan_destroy(&plan);
    wf_device_destroy(&device);
    return result;
}

/* Sanitized builds notice what is lost. */
static void test_every_allocation_fails(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    float out[4];
    const float expected[] = {201, 30, 0, 504};
    unsigned failed = 0, all;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    test_count_allocations(true);
    const unsigned before = test_allocations();
    assert_int_equal(multiply(&vulkan, out), WF_SUCCESS);
    all = test_allocations() - before;
    test_count_allocations(false);
    test_expect_errors(true);
    for (unsigned n = 1; n <= all; n++) {
        memset(out, 0xff, sizeof out);
        test_fail_allocation(n);
        const wf_result result = multiply(&vulkan, out);
        test_fail_allocation(0);
        if (result == WF_SUCCESS) /* it could do without */
            assert_memory_equal(out, expected, sizeof out);
        else
            assert_int_equal(result, WF_ERROR_OUT_OF_HOST_MEMORY);
        failed += result != WF_SUCCESS;
    }
    test_expect_errors(false);
    print_message("%u of %u allocations are needed\n", failed, all);
    assert_true(failed > 10);
    engine_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_of_it_is_the_applications),
        cmocka_unit_test(test_each_device_has_its_own),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
