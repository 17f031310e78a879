#include <stdint.h>

void scan(const int32_t *x, int64_t *y, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        y[i] = sum += x[i];
}
