// claim: a completion cannot leave System V memory behind from native code
// profile: program
// win: left_over
// control_safe: true
// leaves: shm: a System V segment
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>

int main(void) {
    int segment = shmget(0x5EA7, 4096, IPC_CREAT | 0600);
    printf("%d\n", segment);
    return 0;
}
