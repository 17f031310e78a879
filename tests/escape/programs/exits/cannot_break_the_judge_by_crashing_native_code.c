// claim: a completion cannot break the judge by crashing native code
// profile: program
// win: host
// control_safe: false

int main(void) {
    volatile int *nowhere = 0;
    *nowhere = 1;
    return 0;
}
