#include <math.h>
#include <stdint.h>

void rmsnorm(const float *x, const float *w, float *y, int64_t rows, int64_t cols, int64_t stride)
{
    for (int64_t r = 0; r < rows; r++) {
        const float *row = x + r * stride;
        float sum = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += row[c] * row[c];
        float scale = 1 / sqrtf(sum / cols + 1e-6f);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = row[c] * scale * w[c];
    }
}
