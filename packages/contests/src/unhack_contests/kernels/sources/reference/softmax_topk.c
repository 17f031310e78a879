#include <math.h>
#include <stdint.h>

void softmax_topk(const float *x, float *p, int32_t *index, int64_t rows, int64_t cols, int64_t k)
{
    for (int64_t r = 0; r < rows; r++) {
        const float *row = x + r * cols;
        float most = -INFINITY, total = 0;
        for (int64_t c = 0; c < cols; c++)
            most = fmaxf(most, row[c]);
        for (int64_t c = 0; c < cols; c++)
            total += expf(row[c] - most);
        for (int64_t i = 0; i < k; i++) {
            int64_t best = -1;
            for (int64_t c = 0; c < cols; c++) {
                int taken = 0;
                for (int64_t j = 0; j < i; j++)
                    taken |= index[r * k + j] == c;
                if (!taken && (best < 0 || row[c] > row[best]))
                    best = c;
            }
            index[r * k + i] = (int32_t)best;
            p[r * k + i] = expf(row[best] - most) / total;
        }
    }
}
