// Answers the requests of the Language Server Protocol about programs.
// Specification: https://microsoft.github.io/language-server-protocol/specification
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/protocol/frames.hpp"
#include "cli/protocol/session_state.hpp"
#include "cli/protocol/toy_document.hpp"

namespace flashlab::cli {

/// A request that is valid and cannot be done: the message says why.
class RefusedRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class LspServer {
 public:
  explicit LspServer(ProtocolStream& stream) : stream_(stream) {}

  /// Serves until `exit` or the end of the stream. Returns the exit code: 1 after an `exit` without
  /// `shutdown`, as the specification wants it.
  int run();

 private:
  using Json = nlohmann::json;
  using Handler = Json (LspServer::*)(const Json& params);
  static const RequestTable<Handler>& table();

  static std::string uri_in(const Json& params);
  static Json semantic_legend();

  void serve(const Frame& frame);
  void fail(const Json& id, int code, const std::string& message);
  /// Returns the document of `params`. Throws if it is not open.
  const ToyDocument& document(const Json& params) const;
  void open(const std::string& uri, const std::string& text, const Json& params);
  void publish(const std::string& uri);
  /// Edits of the document of `params`, as the client takes them.
  Json workspace_edit(const Json& params, Json edits) const;

  Json initialize(const Json& params);
  Json nothing(const Json& params);
  Json did_open(const Json& params);
  Json did_change(const Json& params);
  Json did_close(const Json& params);
  Json hover(const Json& params);
  Json inlay_hint(const Json& params);
  Json definition(const Json& params);
  Json references(const Json& params);
  Json document_symbol(const Json& params);
  Json folding_range(const Json& params);
  Json document_highlight(const Json& params);
  Json code_action(const Json& params);
  Json completion(const Json& params);
  Json prepare_rename(const Json& params);
  Json rename(const Json& params);
  Json semantic_tokens(const Json& params);
  Json code_lens(const Json& params);
  Json formatting(const Json& params);
  Json shutdown(const Json& params);
  Json exit(const Json& params);

  ProtocolStream& stream_;
  struct Open {
    std::shared_ptr<const ToyDocument> document;
    std::optional<std::int64_t> version;  // the client's number of this text
  };
  std::map<std::string, Open> documents_;  // by URI
  /// A result with hundreds of thousands of places, as JSON text: without objects in memory it takes
  /// a tenth of the time. Empty: the result is what the handler returned.
  std::string text_result_;
  unsigned state_ = kNew;
  bool has_exited_ = false;
  // What the client can do.
  bool wants_markdown_ = false, inserts_or_replaces_ = false, has_symbol_trees_ = false,
       has_versioned_edits_ = false;
};

}  // namespace flashlab::cli
