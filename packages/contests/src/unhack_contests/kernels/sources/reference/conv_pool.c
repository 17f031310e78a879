#include <stdint.h>

void conv_pool(const float *x, const float *f, float *y, int64_t c, int64_t h, int64_t w, int64_t h2,
               int64_t w2)
{
    for (int64_t n = 0; n < c; n++)
        for (int64_t i = 0; i < h2; i++)
            for (int64_t j = 0; j < w2; j++) {
                float best = 0;
                for (int64_t s = 0; s < 4; s++) {
                    int64_t row = 2 * i + s / 2, column = 2 * j + s % 2;
                    float sum = 0;
                    for (int64_t a = 0; a < 3; a++)
                        for (int64_t b = 0; b < 3; b++) {
                            int64_t u = row + a - 1, v = column + b - 1;
                            if (u >= 0 && u < h && v >= 0 && v < w)
                                sum += f[n * 9 + a * 3 + b] * x[(n * h + u) * w + v];
                        }
                    best = sum > best ? sum : best;
                }
                y[(n * h2 + i) * w2 + j] = best;
            }
}
