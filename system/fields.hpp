// What two libraries that exchange structures must agree on: where each field lies. One list for
// each structure; a fingerprint of names, places, sizes and kinds tells apart what sizes alone do
// not, for example two fields of one type in another order.
//
//   FLASHLAB_FIELDS(flashlab::cuda::GpuInfo, name, compute_capability, …)   // at global scope
//
// A list that leaves out a field does not compile, and neither does one whose field is a structure
// of this project without a list.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace flashlab::system {

struct Field {
  std::string name;
  std::size_t offset = 0, size = 0;
  std::string kind;  // "integer", or the fingerprint of a structure
};

/// FNV-1a of the fields' texts, in the order of their places.
inline std::uint64_t fingerprint_of(std::vector<Field> fields) {
  std::ranges::stable_sort(fields, {}, &Field::offset);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Field& field : fields) {
    const std::string text = field.name + " " + field.kind + " " + std::to_string(field.offset) +
                             " " + std::to_string(field.size) + "\n";
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  }
  return hash;
}

/// Defined by FLASHLAB_FIELDS.
template <class Struct>
struct FieldsOf;

template <class Struct>
std::vector<Field> fields_of();
template <class Type>
std::string kind_of();

template <class Type>
struct KindOfClass {  // of a structure of this project
  static std::string text() { return std::to_string(fingerprint_of(fields_of<Type>())); }
};
/// Of the standard library: both sides have it from the same headers, or other sizes.
template <>
struct KindOfClass<std::string> {
  static std::string text() { return "string"; }
};
template <>
struct KindOfClass<std::string_view> {
  static std::string text() { return "view"; }
};
template <class Result, class... Arguments>
struct KindOfClass<std::function<Result(Arguments...)>> {
  static std::string text() {
    return ("function" + ... + (" " + kind_of<std::remove_cvref_t<Arguments>>()));
  }
};
template <class Element>
struct KindOfClass<std::vector<Element>> {
  static std::string text() { return "vector " + kind_of<Element>(); }
};
template <class Value>
struct KindOfClass<std::optional<Value>> {
  static std::string text() { return "optional " + kind_of<Value>(); }
};
template <class Key, class Value>
struct KindOfClass<std::map<Key, Value>> {
  static std::string text() { return "map " + kind_of<Key>() + " " + kind_of<Value>(); }
};
template <class Type>
requires requires { typename Type::rep; }  // std::chrono::duration
struct KindOfClass<Type> {
  static std::string text() { return "duration " + kind_of<typename Type::rep>(); }
};

template <class Type>
std::string kind_of() {
  const std::string size = std::to_string(sizeof(Type));
  if constexpr (std::is_pointer_v<Type>) return "pointer" + size;
  if constexpr (std::is_enum_v<Type>) return "enum" + size;
  if constexpr (std::same_as<Type, bool>) return "bool" + size;
  if constexpr (std::is_floating_point_v<Type>) return "float" + size;
  if constexpr (std::is_integral_v<Type>) return "integer" + size;
  if constexpr (std::is_class_v<Type>) return KindOfClass<Type>::text() + "/" + size;
}

/// Returns the fields in the order of the list.
template <class Struct>
std::vector<Field> fields_of() {
  static const Struct object = {};
  std::vector<Field> result;
  FieldsOf<Struct>::each(object, [&]<class Type>(const char* name, const Type& field) {
    const auto place = reinterpret_cast<std::uintptr_t>(&field);
    const auto begin = reinterpret_cast<std::uintptr_t>(&object);
    result.push_back({name, place - begin, sizeof(Type), kind_of<Type>()});
  });
  return result;
}

/// One number for several structures, including the size of each as a whole.
template <class... Structs>
std::uint64_t fingerprint() {
  std::vector<Field> whole;
  std::size_t place = 0;
  (whole.push_back({"", place++, sizeof(Structs), kind_of<Structs>()}), ...);
  return fingerprint_of(std::move(whole));
}

}  // namespace flashlab::system

#define FLASHLAB_FIELDS(type, ...)                             \
  template <>                                                  \
  struct flashlab::system::FieldsOf<type> {                    \
    template <class See>                                       \
    static void each(const type& object, const See& see) {     \
      /* A list that is not all of them does not compile. */   \
      [[maybe_unused]] constexpr auto kAll = [](type& whole) { \
        [[maybe_unused]] auto& [__VA_ARGS__] = whole;          \
      };                                                       \
      FLASHLAB_EACH_FIELD(__VA_ARGS__)                         \
    }                                                          \
  }
// The usual way to repeat a macro for each argument: a rescan for each power of 3.
#define FLASHLAB_EACH_FIELD(...) __VA_OPT__(FLASHLAB_RESCAN(FLASHLAB_NEXT_FIELD(__VA_ARGS__)))
#define FLASHLAB_NEXT_FIELD(name, ...) \
  see(#name, object.name);             \
  __VA_OPT__(FLASHLAB_AGAIN FLASHLAB_PARENTHESES(__VA_ARGS__))
#define FLASHLAB_AGAIN() FLASHLAB_NEXT_FIELD
#define FLASHLAB_PARENTHESES ()
#define FLASHLAB_RESCAN(...) FLASHLAB_RESCAN3(FLASHLAB_RESCAN3(FLASHLAB_RESCAN3(__VA_ARGS__)))
#define FLASHLAB_RESCAN3(...) FLASHLAB_RESCAN2(FLASHLAB_RESCAN2(FLASHLAB_RESCAN2(__VA_ARGS__)))
#define FLASHLAB_RESCAN2(...) FLASHLAB_RESCAN1(FLASHLAB_RESCAN1(FLASHLAB_RESCAN1(__VA_ARGS__)))
#define FLASHLAB_RESCAN1(...) __VA_ARGS__
