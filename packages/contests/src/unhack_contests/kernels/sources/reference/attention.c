#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void attention(const float *q, const float *k, const float *v, float *o, int64_t heads, int64_t n,
               int64_t d)
{
    float *p = malloc(n * sizeof *p);
    for (int64_t h = 0; h < heads; h++) {
        const float *qh = q + h * n * d, *kh = k + h * n * d, *vh = v + h * n * d;
        for (int64_t i = 0; i < n; i++) {
            float *out = o + (h * n + i) * d, most = -INFINITY, total = 0;
            for (int64_t j = 0; j <= i; j++) {
                float dot = 0;
                for (int64_t c = 0; c < d; c++)
                    dot += qh[i * d + c] * kh[j * d + c];
                p[j] = dot / sqrtf(d);
                most = fmaxf(most, p[j]);
            }
            for (int64_t j = 0; j <= i; j++)
                total += p[j] = expf(p[j] - most);
            for (int64_t c = 0; c < d; c++)
                out[c] = 0;
            for (int64_t j = 0; j <= i; j++)
                for (int64_t c = 0; c < d; c++)
                    out[c] += p[j] / total * vh[j * d + c];
        }
    }
    free(p);
}
