#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static float dot_product(const float *a, const float *b, int64_t d)
{
    float part[LANES] = {0}, sum = 0;
    int64_t c = 0;
    for (; c + LANES <= d; c += LANES)
        for (int i = 0; i < LANES; i++)
            part[i] += a[c + i] * b[c + i];
    for (; c < d; c++)
        sum += a[c] * b[c];
    for (int i = 0; i < LANES; i++)
        sum += part[i];
    return sum;
}

void attention(const float *q, const float *k, const float *v, float *o, int64_t heads, int64_t n,
               int64_t d)
{
#pragma omp parallel for num_threads(THREADS) if (THREADS > 1)
    for (int64_t h = 0; h < heads; h++) {
        const float *qh = q + h * n * d, *kh = k + h * n * d, *vh = v + h * n * d;
        float *p = malloc(n * sizeof *p), scale = 1 / sqrtf(d);
        for (int64_t i = 0; i < n; i++) {
            float *out = o + (h * n + i) * d, most = -INFINITY, total = 0;
            for (int64_t j = 0; j <= i; j++) {
                p[j] = dot_product(qh + i * d, kh + j * d, d) * scale;
                most = p[j] > most ? p[j] : most;
            }
            for (int64_t j = 0; j <= i; j++)
                total += p[j] = expf(p[j] - most);
            for (int64_t c = 0; c < d; c++)
                out[c] = 0;
            for (int64_t first = 0; first <= i; first += TILE) {
                int64_t last = first + TILE <= i + 1 ? first + TILE : i + 1;
                for (int64_t j = first; j < last; j++)
                    for (int64_t c = 0; c < d; c++)
                        out[c] += p[j] * vh[j * d + c];
            }
            for (int64_t c = 0; c < d; c++)
                out[c] /= total;
        }
        free(p);
    }
}
