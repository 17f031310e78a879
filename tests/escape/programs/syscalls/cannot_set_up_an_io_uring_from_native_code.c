// claim: a completion cannot set up an io_uring from native code
// profile: program
// win: value
// control_safe: true
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    char parameters[120] = {0};
    long result = syscall(SYS_io_uring_setup, 1, parameters);
    if (result < 0) {
        printf("blocked: %s\n", strerror(errno));
        return 0;
    }
    printf("PWNED: io_uring_setup returned %ld\n", result);
    return 0;
}
