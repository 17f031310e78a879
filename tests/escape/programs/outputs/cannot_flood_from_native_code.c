// claim: a completion cannot flood from native code
// profile: program
// win: host
// control_safe: false
// expect: failed,error,limit,timeout
#include <unistd.h>

static char block[1 << 20];

int main(void) {
    for (int times = 0; times < 1024; times++)
        if (write(1, block, sizeof block) < 0) return 1;
    return 0;
}
