// The test programs' main function, for a Catch2 2.x that was installed without one.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
