// claim: a completion cannot count events from native code
// profile: program
// win: value
// control_safe: false
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    char attributes[112] = {1, 0, 0, 0, 112};
    long result = syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0);
    if (result < 0) {
        printf("blocked: %s\n", strerror(errno));
        return 0;
    }
    printf("PWNED: perf_event_open returned %ld\n", result);
    return 0;
}
