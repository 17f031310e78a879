// claim: a completion cannot fill the disk while it is built
// profile: program
// win: host
// control_safe: false
// leaves: an object file of two gigabytes
// expect: timeout,limit,error,invalid
#include <stdio.h>

#ifdef __STRICT_ANSI__
char large[2000000000] = {1};
#endif

int main(void) {
    puts("built");
    return 0;
}
