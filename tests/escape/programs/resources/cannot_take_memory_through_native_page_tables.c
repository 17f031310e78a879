// claim: a completion cannot take memory through native page tables
// profile: program
// win: host
// control_safe: false
// leaves: kernel memory outside the resident set
// expect: failed,error,limit,timeout
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

int main(void) {
    unsigned long size = 1UL << 45, touched = 0;
    while (size > (1UL << 30)) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        char *area = mmap(NULL, size, PROT_READ, flags, -1, 0);
        if (area == MAP_FAILED) {
            size /= 2;
            continue;
        }
        for (unsigned long at = 0; at < size; at += 2UL << 20)
            touched += ((volatile char *)area)[at] + 1;
    }
    printf("touched %lu tables\n", touched);
    return 0;
}
