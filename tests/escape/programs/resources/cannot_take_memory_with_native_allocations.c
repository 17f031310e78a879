// claim: a completion cannot take memory with native allocations
// profile: program
// win: host
// control_safe: false
// expect: failed,error,limit,timeout
#include <stdlib.h>
#include <string.h>

int main(void) {
    for (;;) {
        char *block = malloc(1 << 20);
        if (block) memset(block, 1, 1 << 20);
    }
}
