# The libraries that flashlab needs. They come from the system's packages. If one is missing, the
# configure step stops with the name of the package, or fetches a fixed version with -DFLASHLAB_FETCH=ON.
include(FetchContent)

macro(flashlab_need package target repository version packages)
  find_package(${package} QUIET)
  if(NOT TARGET ${target} AND FLASHLAB_FETCH)
    message(STATUS "fetching ${package} ${version}")
    FetchContent_Declare(${package} GIT_REPOSITORY https://github.com/${repository}
                                    GIT_TAG ${version} GIT_SHALLOW ON)
    FetchContent_MakeAvailable(${package})
  elseif(NOT TARGET ${target})
    message(FATAL_ERROR "${package} is missing. Install ${packages}, or let ./lab do it, "
                        "or configure with -DFLASHLAB_FETCH=ON to fetch its source.")
  endif()
endmacro()

flashlab_need(Eigen3 Eigen3::Eigen libeigen/eigen 3.4.0
              "libeigen3-dev (Debian, Ubuntu) or eigen3-devel (Fedora)")
find_package(OpenMP QUIET)  # part of the compiler, so never fetched
if(NOT OpenMP_CXX_FOUND AND NOT FLASHLAB_ONLY_REQUESTS)
  message(FATAL_ERROR "OpenMP is missing. g++ has it; for clang install libomp-dev (Debian, Ubuntu: the "
                      "one of your clang, libomp-16-dev say) or libomp (Fedora, Homebrew).")
endif()
if(NOT FLASHLAB_ONLY_CUDA)
  find_package(GMP REQUIRED)  # not built with CMake, so never fetched
  find_package(Utf8proc REQUIRED)
  flashlab_need(fmt fmt::fmt-header-only fmtlib/fmt 9.1.0 "libfmt-dev (Debian, Ubuntu) or fmt-devel (Fedora)")
  flashlab_need(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json v3.11.3
                "nlohmann-json3-dev (Debian, Ubuntu) or json-devel (Fedora)")
  if(NOT FLASHLAB_ONLY_REQUESTS)
    flashlab_need(CLI11 CLI11::CLI11 CLIUtils/CLI11 v2.4.2
                  "libcli11-dev (Debian, Ubuntu) or cli11-devel (Fedora)")
  endif()
  flashlab_need(tomlplusplus tomlplusplus::tomlplusplus marzer/tomlplusplus v3.4.0
                "libtomlplusplus-dev (Debian, Ubuntu) or tomlplusplus-devel (Fedora)")
  add_library(flashlab_toml INTERFACE)  # its headers; exercises/grader/exercise/toml_implementation.cpp compiles them
  target_include_directories(flashlab_toml SYSTEM INTERFACE
    $<TARGET_PROPERTY:tomlplusplus::tomlplusplus,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(flashlab_toml INTERFACE TOML_HEADER_ONLY=0)
endif()
if(NOT FLASHLAB_ONLY_CUDA)
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("#include <charconv>
    int main() { const char text[] = \"1\"; double value; return std::from_chars(text, text + 1, value).ptr == text; }"
    FLASHLAB_STANDARD_LIBRARY_READS_DOUBLES)
  if(NOT FLASHLAB_STANDARD_LIBRARY_READS_DOUBLES)  # libc++ before 20
    flashlab_need(FastFloat FastFloat::fast_float fastfloat/fast_float v6.1.6
                  "libfast-float-dev (Debian, Ubuntu) or fast_float-devel (Fedora)")
  endif()
endif()
if(FLASHLAB_BUILD_TESTS)
  flashlab_need(Catch2 Catch2::Catch2 catchorg/Catch2 v3.7.1
                "catch2 (Debian, Ubuntu) or catch-devel (Fedora)")
  if(catch2_SOURCE_DIR)  # if fetched, its CMake module is in the source
    list(APPEND CMAKE_MODULE_PATH "${catch2_SOURCE_DIR}/extras")
  endif()
endif()
