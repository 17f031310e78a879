#include <stdint.h>

#ifdef __AVX512F__
#define LANES 16
#else
#define LANES 8
#endif
#define CHAINS 10
#define SAID 64

typedef float vector __attribute__((vector_size(4 * LANES)));

void pass(const float *x, float *y, int64_t n, int64_t repeats)
{
    vector sum[8] = {{0}};
    const vector *v = (const vector *)x;
    for (int64_t r = 0; r < repeats; r++) {
        for (int64_t i = 0; i + 8 <= n / LANES; i += 8)
            for (int k = 0; k < 8; k++)
                sum[k] += v[i + k];
        __asm__ volatile("" ::: "memory");
    }
    for (int k = 1; k < 8; k++)
        sum[0] += sum[k];
    *(vector *)y = sum[0];
}

void multiply_add(const float *x, float *y, int64_t n, int64_t repeats)
{
    vector part[CHAINS], a, b;
    for (int i = 0; i < LANES; i++)
        a[i] = x[i], b[i] = x[n - 1 - i];
    for (int k = 0; k < CHAINS; k++)
        part[k] = a * (float)k;
    for (int64_t r = 0; r < repeats; r++)
        for (int k = 0; k < CHAINS; k++)
            part[k] = part[k] * a + b;
    for (int k = 1; k < CHAINS; k++)
        part[0] += part[k];
    *(vector *)y = part[0];
    y[SAID] = 2 * LANES * CHAINS;
}
