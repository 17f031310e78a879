// claim: a completion cannot be built for ever
// profile: program
// win: host
// control_safe: false
// leaves: a compiler that includes the file twice at every level
// expect: timeout,limit,error,invalid
#include <stdio.h>

#if defined(__STRICT_ANSI__) && __INCLUDE_LEVEL__ < 150
#include __FILE__
#include __FILE__
#endif

#if __INCLUDE_LEVEL__ == 0
int main(void) {
    puts("built");
    return 0;
}
#endif
