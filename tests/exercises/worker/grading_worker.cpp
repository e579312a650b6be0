// The worker that the tests of isolation start: what `flashlab grading-worker` does, without the command.
#include <unistd.h>

#include "exercises/isolation/serve.hpp"

int main() { _exit(flashlab::exercises::serve_grading(STDIN_FILENO)); }
