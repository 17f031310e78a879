// claim: a completion cannot trace a child of its own
// profile: program
// win: value
// control_safe: true
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    pid_t child = fork();
    if (child < 0) {
        printf("blocked: fork: %s\n", strerror(errno));
        return 0;
    }
    if (child == 0) {
        for (;;) pause();
    }
    long result = ptrace(PTRACE_ATTACH, child, NULL, NULL);
    if (result < 0)
        printf("blocked: %s\n", strerror(errno));
    else
        printf("PWNED: attached to process %d\n", child);
    kill(child, 9);
    return 0;
}
