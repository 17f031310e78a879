// claim: a completion cannot pass with output from a child after its own death
// profile: program
// win: pass
// control_safe: false
#include <stdio.h>
#include <unistd.h>

int main(void) {
    if (fork() == 0) {
        usleep(200000);
        puts("PASSED");
        fflush(stdout);
    }
    _exit(0);
}
