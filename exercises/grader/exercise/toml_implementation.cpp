// toml++ itself, compiled once here (TOML_IMPLEMENTATION). A compiled library of the system would
// depend on one standard library, and flashlab would need it at run time.
//
// Assertions are off, as in the packages of distributions: one of them ends the program on a
// hostile file (parse_key of an invalid key), which must be an error message instead.
#ifndef NDEBUG
#define NDEBUG
#endif
#include <toml++/toml.h>
