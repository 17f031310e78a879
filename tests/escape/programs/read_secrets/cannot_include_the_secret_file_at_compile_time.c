// claim: a completion cannot include the secret file at compile time
// profile: program
// win: token
// control_safe: false
// expect: invalid,error,failed

// The path is the one that the escape tests use for their secret; the compiler runs sealed too.
#include <stdio.h>

int main(void) {
    static const char answer[] = {
#if __has_include("/tmp/unhack-escape-secret")
#include "/tmp/unhack-escape-secret"
#endif
        0};
    puts(answer);
    return 0;
}
