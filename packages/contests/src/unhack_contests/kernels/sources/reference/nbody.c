#include <math.h>
#include <stdint.h>

void nbody(const float *p, const float *m, float *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        float x = 0, y = 0, z = 0;
        for (int64_t j = 0; j < n; j++) {
            float dx = p[3 * j] - p[3 * i];
            float dy = p[3 * j + 1] - p[3 * i + 1];
            float dz = p[3 * j + 2] - p[3 * i + 2];
            float apart = dx * dx + dy * dy + dz * dz + 0.01f;
            float pull = m[j] / (apart * sqrtf(apart));
            x += pull * dx;
            y += pull * dy;
            z += pull * dz;
        }
        a[3 * i] = x;
        a[3 * i + 1] = y;
        a[3 * i + 2] = z;
    }
}
