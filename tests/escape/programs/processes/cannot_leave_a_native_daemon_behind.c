// claim: a completion cannot leave a native daemon behind
// profile: program
// win: left_over
// control_safe: true
// leaves: process: a daemon in a session of its own that ignores signals
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void) {
    puts("started");
    fflush(stdout);
    if (fork() == 0) {
        setsid();
        prctl(PR_SET_PDEATHSIG, 0);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        prctl(PR_SET_NAME, "kworker/0:9");
        for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
        if (fork() == 0) {
            for (int handle = 0; handle < 256; handle++) close(handle);
            sleep(600);
        }
        _exit(0);
    }
    return 0;
}
