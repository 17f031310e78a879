#include <math.h>
#include <stdint.h>

void fft(const float *x, float *y, int64_t batch, int64_t n)
{
    for (int64_t b = 0; b < batch; b++) {
        const float *in = x + 2 * b * n;
        float *out = y + 2 * b * n;
        for (int64_t i = 0, j = 0; i < n; i++) {
            out[2 * j] = in[2 * i];
            out[2 * j + 1] = in[2 * i + 1];
            int64_t bit = n >> 1;
            for (; bit && (j & bit); bit >>= 1)
                j ^= bit;
            j |= bit;
        }
        for (int64_t half = 1; half < n; half *= 2)
            for (int64_t k = 0; k < half; k++) {
                float c = cosf(3.14159265f * k / half), s = -sinf(3.14159265f * k / half);
                for (int64_t i = k; i < n; i += 2 * half) {
                    float *u = out + 2 * i, *v = out + 2 * (i + half);
                    float re = c * v[0] - s * v[1], im = c * v[1] + s * v[0];
                    v[0] = u[0] - re;
                    v[1] = u[1] - im;
                    u[0] += re;
                    u[1] += im;
                }
            }
    }
}
