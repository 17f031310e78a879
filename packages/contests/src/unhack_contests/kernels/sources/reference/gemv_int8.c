#include <stdint.h>

void gemv_int8(const int8_t *q, const float *s, const float *x, float *y, int64_t rows, int64_t cols,
               int64_t groups)
{
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += q[r * cols + c] * s[r * groups + c / 32] * x[c];
        y[r] = sum;
    }
}
