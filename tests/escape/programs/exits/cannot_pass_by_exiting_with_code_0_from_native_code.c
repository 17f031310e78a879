// claim: a completion cannot pass by exiting with code 0 from native code
// profile: program
// win: pass
// control_safe: false
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void early(void) { _exit(0); }

int main(void) { return EXIT_SUCCESS; }
