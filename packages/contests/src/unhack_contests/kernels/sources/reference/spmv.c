#include <stdint.h>

void spmv(const float *a, const int32_t *col, const int32_t *start, const float *x, float *y,
          int64_t rows, int64_t cols, int64_t nnz)
{
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int32_t e = start[r]; e < start[r + 1]; e++)
            sum += a[e] * x[col[e]];
        y[r] = sum;
    }
}
