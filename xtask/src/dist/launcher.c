/* The program `foreword` of the wheel: runs the command line in the Python extension.

   Before `main`, Rust's runtime opens missing standard streams and ignores SIGPIPE. A library has no
   such runtime, so it is done here. */

#include <fcntl.h>
#include <signal.h>

int foreword_main(void);

int main(void) {
    /* Otherwise the next file to be opened, such as the database, would be standard output. */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDWR) == -1)
            return 101;
    signal(SIGPIPE, SIG_IGN);
    return foreword_main();
}

/* What the extension wants from Python, so that it loads without one. The command line uses none of it. */
