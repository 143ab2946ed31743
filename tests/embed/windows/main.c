/* Heat that spreads over a plate, in a window: a timer asks wavefit for the next steps, and GDI
 * draws what comes back. With a number of frames as argument no window opens, and the last frame
 * is checked instead. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wavefit/wavefit.h>

#define SIZE 256
#define CELLS (SIZE * SIZE)

/* The centre's coefficient, then those of the neighbours left, right, above and below. */
static const double coefficients[5] = {0.2, 0.2, 0.2, 0.2, 0.2};

static wf_stencil_params stencil;
static wf_device *device;
static wf_plan *plan;
static wf_buffer *grid[2], *workspace;
static wf_bindings bindings;
static unsigned frame;
static float cells[CELLS], before[CELLS];
static DWORD pixels[CELLS];

static void print_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        fprintf(stderr, "%s\n", text);
}

static wf_result make_buffers(void)
{
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < 2 && result == WF_SUCCESS; i++) {
        result = wf_buffer_create(device, sizeof cells, WF_MEMORY_DEVICE, &grid[i]);
        if (result == WF_SUCCESS)
            result = wf_buffer_write(grid[i], 0, cells, sizeof cells);
    }
    const uint64_t bytes = wf_plan_workspace(plan);
    if (result == WF_SUCCESS && bytes > 0)
        result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &workspace);
    bindings.workspace.buffer = workspace;
    return result;
}

static wf_result start(void)
{
    wf_device_params params = {0};
    params.size = sizeof params;
    params.log = print_log;
    stencil.size = sizeof stencil;
    stencil.nx = stencil.ny = SIZE;
    stencil.coefficients = coefficients;
    stencil.steps = 16; /* a frame */
    bindings.size = sizeof bindings;
    for (int i = 0; i < CELLS; i++)
        cells[i] = i % SIZE == 0; /* the left edge is hot and stays so */
    wf_result result = wf_device_create(&params, &device);
    if (result == WF_SUCCESS)
        result = wf_stencil_plan(device, &stencil, &plan);
    return result == WF_SUCCESS ? make_buffers() : result;
}

static void stop(void)
{
    wf_plan_destroy(&plan);
    wf_buffer_destroy(&workspace);
    wf_buffer_destroy(&grid[0]);
    wf_buffer_destroy(&grid[1]);
    wf_device_destroy(&device);
}

/* The steps of one frame: what was computed last is the next one's input. */
static wf_result step(void)
{
    bindings.items[WF_STENCIL_IN].buffer = grid[frame % 2];
    bindings.items[WF_STENCIL_OUT].buffer = grid[(frame + 1) % 2];
    frame++;
    const wf_result result = wf_plan_run(plan, &bindings);
    return result == WF_SUCCESS ? wf_buffer_read(grid[frame % 2], 0, cells, sizeof cells) : result;
}

static void draw(HDC to)
{
    BITMAPINFO info = {0};
    info.bmiHeader.biSize = sizeof info.bmiHeader;
    info.bmiHeader.biWidth = SIZE;
    info.bmiHeader.biHeight = -SIZE; /* from the top */
    info.bmiHeader.biPlanes = 1;
    info.bmiHeader.biBitCount = 32;
    info.bmiHeader.biCompression = BI_RGB;
    for (int i = 0; i < CELLS; i++) {
        const DWORD heat = (DWORD)(255 * cells[i]);
        pixels[i] = heat << 16 | (255 - heat); /* from blue to red */
    }
    StretchDIBits(to, 0, 0, 2 * SIZE, 2 * SIZE, 0, 0, SIZE, SIZE, pixels, &info, DIB_RGB_COLORS,
                  SRCCOPY);
}

static LRESULT CALLBACK handle(HWND window, UINT message, WPARAM w, LPARAM l)
{
    PAINTSTRUCT paint;
    switch (message) {
    case WM_TIMER:
        if (step() != WF_SUCCESS)
            DestroyWindow(window);
        InvalidateRect(window, NULL, FALSE);
        return 0;
    case WM_PAINT:
        draw(BeginPaint(window, &paint));
        EndPaint(window, &paint);
        return 0;
    case WM_DESTROY:
        PostQuitMessage(0);
        return 0;
    default:
        return DefWindowProcW(window, message, w, l);
    }
}

static int show(void)
{
    WNDCLASSW class = {0};
    MSG message;
    class.lpfnWndProc = handle;
    class.hInstance = GetModuleHandleW(NULL);
    class.lpszClassName = L"wavefit plate";
    RegisterClassW(&class);
    const HWND window = CreateWindowW(
        class.lpszClassName, L"Heat by wavefit", WS_OVERLAPPEDWINDOW | WS_VISIBLE, CW_USEDEFAULT,
        CW_USEDEFAULT, 2 * SIZE, 2 * SIZE, NULL, NULL, class.hInstance, NULL);
    if (!window || !SetTimer(window, 1, 16, NULL))
        return 1;
    while (GetMessageW(&message, NULL, 0, 0) > 0)
        DispatchMessageW(&message);
    return 0;
}

/* Frames without a window; the last one must be the stencil of the one before. */
static int run(int frames)
{
    wf_check check = {0};
    for (int i = 0; i < frames; i++) {
        memcpy(before, cells, sizeof cells);
        if (step() != WF_SUCCESS)
            return 1;
    }
    if (wf_stencil_check(&stencil, before, cells, 0, 0, &check) != WF_SUCCESS ||
        !(check.error_over_bound <= 1))
        return 1;
    printf("ok: %.3f beside the hot edge\n", (double)cells[CELLS / 2 + 1]);
    return 0;
}

int main(int argc, char **argv)
{
    int code = 1;
    if (start() == WF_SUCCESS)
        code = argc > 1 ? run(atoi(argv[1])) : show();
    stop();
    return code;
}
