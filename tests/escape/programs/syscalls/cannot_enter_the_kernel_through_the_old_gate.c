// claim: a completion cannot enter the kernel through the old gate
// profile: program
// win: value
// control_safe: true
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* int 0x80 uses the 32-bit numbers, which a filter for the 64-bit ones does not know. */
int main(void) {
#if defined(__x86_64__)
    fflush(stdout);
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
    if (result == getpid())
        printf("PWNED: getpid through int 0x80 returned %ld\n", result);
    else
        printf("blocked: %ld\n", result);
#else
    printf("blocked: no such gate here\n");
#endif
    return 0;
}
