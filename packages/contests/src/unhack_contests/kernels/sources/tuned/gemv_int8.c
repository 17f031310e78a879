#include <stdint.h>

void gemv_int8(const int8_t *q, const float *s, const float *x, float *y, int64_t rows, int64_t cols,
               int64_t groups)
{
#pragma omp parallel for num_threads(THREADS) if (THREADS > 1)
    for (int64_t r = 0; r < rows; r++) {
        const int8_t *row = q + r * cols;
        float part[LANES] = {0}, sum = 0;
        for (int64_t g = 0; g < groups; g++) {
            float scale = s[r * groups + g];
            for (int64_t c = 0; c < 32; c += LANES)
                for (int i = 0; i < LANES; i++)
                    part[i] += scale * ((float)row[g * 32 + c + i] * x[g * 32 + c + i]);
        }
        for (int i = 0; i < LANES; i++)
            sum += part[i];
        y[r] = sum;
    }
}
