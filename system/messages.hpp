// Messages over a descriptor: their length in eight bytes, then their content.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "system/descriptor.hpp"

namespace flashlab::system {

/// Maximum length of a message, for both sides.
inline constexpr std::size_t kMostMessageBytes = std::size_t{64} << 20;

/// Returns two connected sockets, which executed programs do not inherit. Whoever sends waits at
/// most `patience` for the other side; 0: as long as it takes. Throws std::system_error.
std::pair<Descriptor, Descriptor> connected_sockets(std::chrono::seconds patience);

/// Sends a message. Returns false if the other side is closed. Raises no signal.
bool send_message(int descriptor, std::string_view message);

/// Waits for a message. Returns nothing if the other side is closed, if the data is not a
/// message, or if `wait` returns false. `wait` is called before each read and returns when
/// data is available.
std::optional<std::string> receive_message(int descriptor, const std::function<bool()>& wait = {});

}  // namespace flashlab::system
