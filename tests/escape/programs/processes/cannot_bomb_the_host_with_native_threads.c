// claim: a completion cannot bomb the host with native threads
// profile: program
// win: host
// control_safe: false
// expect: failed,error,timeout,limit
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *wait_for_ever(void *nothing) {
    pause();
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    int started = 0;
    while (started < 100000 && !pthread_create(&thread, &small, wait_for_ever, NULL)) started++;
    printf("started %d\n", started);
    fflush(stdout);
    pause();
}
