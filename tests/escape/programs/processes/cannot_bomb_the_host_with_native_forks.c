// claim: a completion cannot bomb the host with native forks
// profile: program
// win: host
// control_safe: false
// leaves: processes without end
// expect: failed,error,timeout,limit
#include <signal.h>
#include <unistd.h>

int main(void) {
    for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
    for (;;) fork();
}
