// toml++ itself, compiled here once (TOML_IMPLEMENTATION): a system's compiled one is made for one
// standard library, and would have to be there wherever flashlab runs.
//
// Without assertions, as in the packages of distributions: one of them ends the program on a
// hostile file (parse_key of a key that is none), which is an error to report.
#ifndef NDEBUG
#define NDEBUG
#endif
#include <toml++/toml.h>
