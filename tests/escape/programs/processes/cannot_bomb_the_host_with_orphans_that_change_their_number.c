// claim: a completion cannot bomb the host with orphans that change their number
// profile: program
// win: host
// control_safe: false
// leaves: a comet: a process that forks and exits for ever
// expect: failed,error,timeout,limit
#include <unistd.h>

int main(void) {
    for (;;) {
        if (fork() > 0) _exit(0);
        setsid();
    }
}
