#include <stdint.h>
#include <stdlib.h>

void levenshtein(const uint8_t *a, const uint8_t *b, int32_t *distance, int64_t pairs, int64_t n,
                 int64_t m)
{
    int32_t *row = malloc((m + 1) * sizeof *row);
    for (int64_t p = 0; p < pairs; p++) {
        for (int64_t j = 0; j <= m; j++)
            row[j] = (int32_t)j;
        for (int64_t i = 1; i <= n; i++) {
            int32_t corner = row[0];
            row[0] = (int32_t)i;
            for (int64_t j = 1; j <= m; j++) {
                int32_t best = corner + (a[p * n + i - 1] != b[p * m + j - 1]);
                if (row[j] + 1 < best)
                    best = row[j] + 1;
                if (row[j - 1] + 1 < best)
                    best = row[j - 1] + 1;
                corner = row[j];
                row[j] = best;
            }
        }
        distance[p] = row[m];
    }
    free(row);
}
