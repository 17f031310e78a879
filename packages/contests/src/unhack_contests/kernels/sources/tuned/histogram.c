#include <stdint.h>
#include <string.h>

#define TABLES (LANES < 8 ? LANES : 8)

void histogram(const uint8_t *x, int32_t *counts, int64_t n)
{
    int32_t total[256] = {0};
#pragma omp parallel num_threads(THREADS) if (THREADS > 1) reduction(+ : total)
    {
        int32_t table[TABLES][256];
        memset(table, 0, sizeof table);
#pragma omp for nowait
        for (int64_t block = 0; block < n / TABLES; block++)
            for (int t = 0; t < TABLES; t++)
                table[t][x[block * TABLES + t]]++;
        for (int t = 0; t < TABLES; t++)
            for (int v = 0; v < 256; v++)
                total[v] += table[t][v];
    }
    for (int64_t i = n / TABLES * TABLES; i < n; i++)
        total[x[i]]++;
    memcpy(counts, total, sizeof total);
}
