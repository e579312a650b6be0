# `cmake --install` and `find_package(flashlab)`: the libraries, their public headers, the command.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/flashlab")

# A library has the name of its folder. Its public headers (flashlab_headers) are included as
# "toymachine/language/assembler.hpp". The attention variants of each instruction set are objects inside
# flashlab_attention_cpu; users do not see them.
set(folders text toymachine optimal attention attention_cpu)
option(FLASHLAB_INSTALL_KERNELS "Install the GPU kernels as static libraries, too, which are large" ON)
set(installs_kernels OFF)
if(FLASHLAB_HAS_CUDA AND FLASHLAB_INSTALL_KERNELS)
  set(installs_kernels ON)
  list(APPEND folders attention_cuda)
endif()
foreach(folder IN LISTS folders)
  set_target_properties(flashlab_${folder} PROPERTIES EXPORT_NAME ${folder})
  target_compile_features(flashlab_${folder} PUBLIC cxx_std_20)  # the headers need it as well
  install(TARGETS flashlab_${folder} EXPORT flashlab_targets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  get_property(public_headers GLOBAL PROPERTY FLASHLAB_PUBLIC_HEADERS_${folder})
  foreach(header IN LISTS public_headers)
    get_filename_component(room "${folder}/${header}" DIRECTORY)
    install(FILES "${PROJECT_SOURCE_DIR}/${folder}/${header}"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/flashlab/${room}")
  endforeach()
endforeach()
if(installs_kernels)
  set_target_properties(flashlab_attention_cuda_host PROPERTIES EXPORT_NAME attention_cuda_host)
  install(TARGETS flashlab_attention_cuda_host EXPORT flashlab_targets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(FLASHLAB_HAS_CUDA)  # the C functions of flashlab.h, also for programs that load libraries
  set_target_properties(flashlab_cuda PROPERTIES EXPORT_NAME cuda)
  target_include_directories(flashlab_cuda INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/flashlab>)
  install(TARGETS flashlab_cuda EXPORT flashlab_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(FILES "${PROJECT_SOURCE_DIR}/attention_cuda/flashlab.h"
                "${PROJECT_SOURCE_DIR}/attention_cuda/flashlab_ranks.h"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/flashlab/attention_cuda")
endif()
# For the Python module; installing builds it.
set_target_properties(flashlab_cpu PROPERTIES EXCLUDE_FROM_ALL FALSE)
if(FLASHLAB_BUNDLED_LIBRARIES)  # shared libraries of others that it uses, in packages (packaging/build.sh)
  install(FILES ${FLASHLAB_BUNDLED_LIBRARIES} DESTINATION "${CMAKE_INSTALL_LIBDIR}/flashlab")
  set_target_properties(flashlab_cpu PROPERTIES INSTALL_RPATH "$ORIGIN/flashlab")
endif()
install(TARGETS flashlab_cpu LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS flashlab RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/flashlabConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/flashlabConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/flashlabConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/flashlabConfig.cmake"
              "${PROJECT_BINARY_DIR}/flashlabConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindGMP.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindUtf8proc.cmake" DESTINATION "${package_dir}")
install(EXPORT flashlab_targets NAMESPACE flashlab:: FILE flashlabTargets.cmake
        DESTINATION "${package_dir}")
