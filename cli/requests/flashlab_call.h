/* flashlab as one C function: a request in JSON, an answer in JSON. docs/json_interface.md lists the
 * requests. The answers hold the same objects that the command prints with --json.
 *
 *   const char request[] = "{\"request\": \"run\", \"program\": \"softmax_online\"}";
 *   char* answer = flashlab_call(request, sizeof request - 1, NULL);
 *   ...
 *   flashlab_free(answer);
 *
 * A call reads no files, writes none, and starts no processes. Calls of several threads are
 * independent of each other.
 */
#ifndef FLASHLAB_CALL_H
#define FLASHLAB_CALL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FLASHLAB_CALL_EXPORT __attribute__((visibility("default")))
#else
#define FLASHLAB_CALL_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of requests and answers. It grows when a field changes its meaning or goes away. */
#define FLASHLAB_CALL_VERSION 1

/* What one call may use. 0 in a field: its default. */
typedef struct flashlab_limits {
  int64_t milliseconds; /* processor time of the calling thread; default 10 000 */
  int64_t bytes;        /* memory beyond what is in use; default 1 GiB */
  int64_t steps;        /* executed instructions; default 100 000 000 */
} flashlab_limits;

/* Answers one request: `size` bytes of UTF-8. limits: null for the defaults. Returns a JSON object in
 * UTF-8 that ends with a zero byte, to be released by flashlab_free(); errors are such objects, too.
 * Returns null only if there is no memory for an answer. */
FLASHLAB_CALL_EXPORT char* flashlab_call(const char* request, size_t size,
                                         const flashlab_limits* limits);

/* Releases an answer; null is allowed. */
FLASHLAB_CALL_EXPORT void flashlab_free(char* answer);

#ifdef __cplusplus
}
#endif

#endif
