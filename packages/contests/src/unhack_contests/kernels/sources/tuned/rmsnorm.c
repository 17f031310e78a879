#include <math.h>
#include <stdint.h>

void rmsnorm(const float *x, const float *w, float *y, int64_t rows, int64_t cols, int64_t stride)
{
#pragma omp parallel for num_threads(THREADS) if (THREADS > 1)
    for (int64_t r = 0; r < rows; r++) {
        const float *row = x + r * stride;
        float part[LANES] = {0}, sum = 0;
        int64_t c = 0;
        for (; c + LANES <= cols; c += LANES)
            for (int i = 0; i < LANES; i++)
                part[i] += row[c + i] * row[c + i];
        for (; c < cols; c++)
            sum += row[c] * row[c];
        for (int i = 0; i < LANES; i++)
            sum += part[i];
        float scale = 1 / sqrtf(sum / cols + 1e-6f);
        for (c = 0; c < cols; c++)
            y[r * cols + c] = row[c] * scale * w[c];
    }
}
