/* A management library of one card, as far as `sandbox.gpu.cards` asks: NVIDIA's own bindings call it. */
#include <string.h>

typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned gpu, memory; } load_t;
typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; } process_t;

int nvmlInitWithFlags(unsigned flags) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **card) { *card = (void *)8; return index ? 2 : 0; }
int nvmlDeviceGetName(void *card, char *text, unsigned size) { strncpy(text, "NVIDIA Fake", size); return 0; }
int nvmlDeviceGetUUID(void *card, char *text, unsigned size) { strncpy(text, "GPU-fake", size); return 0; }
int nvmlDeviceGetMinorNumber(void *card, unsigned *minor) { *minor = 3; return 0; }
int nvmlDeviceGetMemoryInfo(void *card, memory_t *held) { held->used = 5; held->total = 80; return 0; }
int nvmlDeviceGetUtilizationRates(void *card, load_t *load) { load->gpu = 42; return 0; }
int nvmlDeviceGetClockInfo(void *card, int kind, unsigned *mhz) { *mhz = kind == 1 ? 1980 : 2619; return 0; }
int nvmlDeviceGetTemperature(void *card, int sensor, unsigned *celsius) { *celsius = 33; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *card, unsigned long long *bits) { *bits = 0x4 | 0x20; return 0; }

int nvmlDeviceGetComputeRunningProcesses_v3(void *card, unsigned *count, process_t *found) {
    unsigned room = *count;
    *count = 2;
    if (room < 2) return 7; /* insufficient size */
    found[0].pid = 11; found[0].used = 100;
    found[1].pid = 12; found[1].used = ~0ULL; /* the driver does not tell */
    return 0;
}
