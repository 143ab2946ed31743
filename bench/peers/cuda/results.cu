// Results in wavefit's schema (bench/results.md), so that `wavefit report --compare` reads them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "peers.h"

double now_us()
{
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

Laps::Laps() : at(now_us())
{
}

void Laps::add(double &stage)
{
    const double now = now_us();
    stage += now - at;
    at = now;
}

std::vector<double> time_graph(const Context &context, Graph &graph, unsigned batch)
{
    const double warm_us = 1e5;
    const int least_warm = 5;
    const size_t count = context.brief ? 7 : 21;
    std::vector<double> samples;
    cudaEvent_t begin, end;
    CHECKED(cudaEventCreate(&begin));
    CHECKED(cudaEventCreate(&end));
    const double start = now_us();
    for (int i = 0; samples.size() < count; i++) {
        const bool warm = i >= least_warm && now_us() - start > warm_us;
        float ms = 0;
        CHECKED(cudaEventRecord(begin, context.stream));
        graph.launch();
        CHECKED(cudaEventRecord(end, context.stream));
        CHECKED(cudaEventSynchronize(end));
        CHECKED(cudaEventElapsedTime(&ms, begin, end));
        if (warm)
            samples.push_back(ms * 1e3 / batch);
    }
    CHECKED(cudaEventDestroy(begin));
    CHECKED(cudaEventDestroy(end));
    return samples;
}

static double order_statistic(std::vector<double> samples, double fraction)
{
    std::sort(samples.begin(), samples.end());
    return samples[static_cast<size_t>(fraction * static_cast<double>(samples.size() - 1) + 0.5)];
}

static bool holds(const Case &c)
{
    return c.error <= c.bound;
}

void print_case(const Case &c)
{
    std::printf("%s %s %s: whole %.1f us (analysis %.1f, upload %.1f, run %.1f, download %.1f)",
                c.family.c_str(), c.name.c_str(), c.type.c_str(), c.first.whole(), c.first.analysis,
                c.first.upload, c.first.run, c.first.download);
    if (!c.samples.empty())
        std::printf(", median %.3f us of %zu", order_statistic(c.samples, 0.5), c.samples.size());
    for (const auto &extra : c.extras)
        std::printf(", %s %g", extra.first.c_str(), extra.second);
    std::printf("; error %.3g of %.3g%s\n", c.error, c.bound, holds(c) ? "" : ": WRONG");
    std::fflush(stdout);
}

static void put_numbers(std::FILE *file, const std::vector<std::pair<std::string, double>> &numbers,
                        bool inside)
{
    bool first = inside;
    for (const auto &number : numbers) {
        std::fprintf(file, "%s\"%s\": %.17g", first ? "" : ", ", number.first.c_str(),
                     number.second);
        first = false;
    }
}

static void put_timing(std::FILE *file, const Case &c)
{
    const double median = order_statistic(c.samples, 0.5), q1 = order_statistic(c.samples, 0.25),
                 q3 = order_statistic(c.samples, 0.75), least = order_statistic(c.samples, 0);
    std::fprintf(file, ",\n   \"clock\": \"%s\", \"cache\": \"hot\"", c.clock);
    std::fprintf(file,
                 ",\n   \"time_us\": {\"median\": %.17g, \"min\": %.17g, \"q1\": %.17g, "
                 "\"q3\": %.17g, \"spread\": %.17g, \"count\": %zu, \"batch\": %u}",
                 median, least, q1, q3, (q3 - q1) / median, c.samples.size(), c.batch);
}

static void put_case(std::FILE *file, const Case &c, double device_us)
{
    const bool ok = holds(c);
    std::fprintf(file, "  {\"family\": \"%s\", \"name\": \"%s\", \"type\": \"%s\"",
                 c.family.c_str(), c.name.c_str(), c.type.c_str());
    std::fprintf(file, ", \"status\": \"%s\"%s,\n   \"variant\": \"%s\", \"problem\": {",
                 ok ? "ok" : "failed", ok ? "" : ", \"reason\": \"the check does not hold\"",
                 c.variant.c_str());
    put_numbers(file, c.problem, true);
    std::fprintf(file, "}");
    if (!c.samples.empty())
        put_timing(file, c);
    const Stages &s = c.first;
    std::fprintf(file, ",\n   \"whole_us\": %.17g, \"stages_us\": {\"device\": %.17g", s.whole(),
                 device_us);
    put_numbers(file,
                {{"analysis", s.analysis},
                 {"upload", s.upload},
                 {"run", s.run},
                 {"download", s.download},
                 {"check", s.check}},
                false);
    std::fprintf(file, "}");
    put_numbers(file, c.extras, false);
    std::fprintf(file, "}");
}

bool write_results(const char *path, int argc, char **argv, const Context &context,
                   const std::vector<Case> &cases)
{
    std::FILE *file = std::fopen(path, "w");
    if (!file)
        return false;
    cudaDeviceProp device;
    int runtime = 0, driver = 0;
    char date[32] = "";
    const std::time_t now = std::time(nullptr);
    CHECKED(cudaGetDeviceProperties(&device, 0));
    CHECKED(cudaRuntimeGetVersion(&runtime));
    CHECKED(cudaDriverGetVersion(&driver));
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    std::fprintf(file, "{\"schema\": \"wavefit-results/2\", \"date\": \"%s\", \"argv\": [", date);
    for (int i = 0; i < argc; i++) {
        std::fprintf(file, "%s\"", i ? ", " : "");
        for (const char *at = argv[i]; *at; at++)
            std::fprintf(file, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        std::fprintf(file, "\"");
    }
    std::fprintf(file,
                 "],\n \"device\": {\"index\": 0, \"name\": \"%s\", \"type\": \"discrete\", "
                 "\"driver\": {\"name\": \"CUDA\", \"info\": \"runtime %d, driver %d\"}},\n"
                 " \"peaks\": {},\n \"cases\": [\n",
                 device.name, runtime, driver);
    for (size_t i = 0; i < cases.size(); i++) {
        put_case(file, cases[i], context.device_us);
        std::fprintf(file, i + 1 < cases.size() ? ",\n" : "\n");
    }
    std::fprintf(file, " ]}\n");
    return std::fclose(file) == 0;
}
