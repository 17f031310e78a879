// claim: a completion cannot make a user namespace through the old gate
// profile: program
// win: value
// control_safe: true
#include <stdio.h>
#include <unistd.h>

/* unshare is number 310 among the 32-bit calls. */
int main(void) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(310), "b"(0x10000000)
                     : "memory", "r8", "r9", "r10", "r11");
    if (result == 0)
        printf("PWNED: unshare through int 0x80 returned 0\n");
    else
        printf("blocked: %ld\n", result);
#else
    printf("blocked: no such gate here\n");
#endif
    return 0;
}
