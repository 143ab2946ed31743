/* What wavefit._native has besides the public header. It comes behind Python.h. */
#include <stdlib.h>

#include <wavefit/wavefit.h>

/* One call for what a product in a loop does, since each call from Python and each member that it
 * sets takes a tenth of a microsecond. */

/* Binds up to four buffers (NULL: as they are) and queues an execution. Returns its number, or 0
 * with *result set. */
static inline uint64_t python_queue_run(wf_queue *queue, wf_plan *plan, wf_bindings *bindings,
                                        const wf_buffer *first, uint64_t first_offset,
                                        const wf_buffer *second, uint64_t second_offset,
                                        const wf_buffer *third, uint64_t third_offset,
                                        const wf_buffer *fourth, uint64_t fourth_offset,
                                        wf_result *result)
{
    const wf_buffer *const buffers[4] = {first, second, third, fourth};
    const uint64_t offsets[4] = {first_offset, second_offset, third_offset, fourth_offset};
    uint64_t number = 0;
    for (int i = 0; i < 4; i++) {
        bindings->items[i].buffer = buffers[i];
        bindings->items[i].offset = offsets[i];
    }
    *result = wf_queue_run(queue, plan, bindings, &number);
    return *result == WF_SUCCESS ? number : 0;
}

/* A tensor as DLPack hands it over (version 0, the one that every library takes), with the names
 * that its fields have in Python here. */
#define PYTHON_TENSOR_AXES 8
typedef struct python_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits; /* of an element */
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: row-major */
    uint64_t byte_offset;
    void *context;
    void (*deleter)(struct python_tensor *tensor);
} python_tensor;

static const char python_tensor_name[] = "dltensor";

typedef struct python_owned_tensor {
    python_tensor tensor;
    int64_t sizes[2 * PYTHON_TENSOR_AXES];
} python_owned_tensor;

/* May be called on any thread, and when Python is gone. */
static void python_tensor_delete(python_tensor *tensor)
{
    if (Py_IsInitialized()) {
        const PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF((PyObject *)tensor->context);
        PyGILState_Release(state);
    }
    free(tensor);
}

/* Makes a tensor with room for its sizes, which keeps the object at `owner` alive until somebody
 * calls its deleter. NULL: no memory. */
static python_tensor *python_tensor_make(uintptr_t owner)
{
    python_owned_tensor *made = (python_owned_tensor *)calloc(1, sizeof *made);
    if (!made)
        return NULL;
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_INCREF((PyObject *)owner);
    PyGILState_Release(state);
    made->tensor.context = (void *)owner;
    made->tensor.deleter = python_tensor_delete;
    made->tensor.shape = made->sizes;
    made->tensor.strides = made->sizes + PYTHON_TENSOR_AXES;
    made->tensor.lanes = 1;
    return &made->tensor;
}

/* The destructor of a capsule that nobody took the tensor from. */
static void python_capsule_delete(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, python_tensor_name)) {
        python_tensor *tensor = (python_tensor *)PyCapsule_GetPointer(capsule, python_tensor_name);
        tensor->deleter(tensor);
    }
}

static uintptr_t python_capsule_destructor(void)
{
    return (uintptr_t)python_capsule_delete;
}

static uintptr_t python_capsule_name(void)
{
    return (uintptr_t)python_tensor_name;
}
