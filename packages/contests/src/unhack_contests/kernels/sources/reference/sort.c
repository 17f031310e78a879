#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void sort(const float *x, float *y, int64_t n)
{
    float *from = malloc(n * sizeof *from), *to = y;
    memcpy(from, x, n * sizeof *from);
    float *spare = from;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t left = 0; left < n; left += 2 * width) {
            int64_t middle = left + width < n ? left + width : n;
            int64_t right = left + 2 * width < n ? left + 2 * width : n;
            int64_t i = left, j = middle;
            for (int64_t k = left; k < right; k++)
                to[k] = i < middle && (j >= right || from[i] <= from[j]) ? from[i++] : from[j++];
        }
        float *other = from;
        from = to;
        to = other;
    }
    if (from != y)
        memcpy(y, from, n * sizeof *y);
    free(spare);
}
