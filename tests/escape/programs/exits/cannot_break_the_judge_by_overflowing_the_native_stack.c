// claim: a completion cannot break the judge by overflowing the native stack
// profile: program
// win: host
// control_safe: false

static int deep(volatile int *below) {
    volatile int block[4096];
    block[0] = *below;
    return deep(block) + block[0];
}

int main(void) {
    volatile int start = 1;
    return deep(&start);
}
