#include <math.h>
#include <stdint.h>

void layernorm_backward(const float *x, const float *w, const float *dy, float *dx, float *dw,
                        float *db, int64_t rows, int64_t cols)
{
    for (int64_t c = 0; c < cols; c++)
        dw[c] = db[c] = 0;
    for (int64_t r = 0; r < rows; r++) {
        const float *xr = x + r * cols, *gr = dy + r * cols;
        float mean = 0, variance = 0, average = 0, along = 0;
        for (int64_t c = 0; c < cols; c++)
            mean += xr[c];
        mean /= cols;
        for (int64_t c = 0; c < cols; c++)
            variance += (xr[c] - mean) * (xr[c] - mean);
        float scale = 1 / sqrtf(variance / cols + 1e-5f);
        for (int64_t c = 0; c < cols; c++) {
            average += gr[c] * w[c];
            along += gr[c] * w[c] * (xr[c] - mean) * scale;
        }
        average /= cols;
        along /= cols;
        for (int64_t c = 0; c < cols; c++) {
            float unit = (xr[c] - mean) * scale;
            dx[r * cols + c] = scale * (gr[c] * w[c] - average - unit * along);
            dw[c] += gr[c] * unit;
            db[c] += gr[c];
        }
    }
}
