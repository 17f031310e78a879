// claim: a completion cannot loop for ever in native code
// profile: program
// win: host
// control_safe: false
// expect: timeout

int main(void) {
    for (volatile int spin = 0;;) spin = spin + 1;
}
