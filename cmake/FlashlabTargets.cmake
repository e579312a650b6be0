# What every target of this project shares: C++20, warnings, no fused multiply-add behind our back
# (the machine's MAC rounds twice on every processor).
add_library(flashlab_options INTERFACE)
target_compile_features(flashlab_options INTERFACE cxx_std_20)
target_compile_options(flashlab_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion;-ffp-contract=off>")
# -lineinfo: profilers show source lines.
target_compile_options(flashlab_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-lineinfo;-Xcompiler=-Wall,-Wextra>")
# g++ 12 sees overlapping copies inside "text" + std::string (GCC bug 105651).
target_compile_options(flashlab_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
if(FLASHLAB_WERROR)
  target_compile_options(flashlab_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
