#include "toymachine/language/expression.hpp"

#include "text/lists.hpp"
#include "text/numbers.hpp"

namespace flashlab::toy {
namespace {

constexpr int kSumLevel = 1;
constexpr int kProductLevel = 2;
constexpr int kSignLevel = 3;
constexpr int kAtomLevel = 4;

int level(const Expression& e) {
  switch (e.op) {
    case ExpressionOp::kAdd:
    case ExpressionOp::kSub:
      return kSumLevel;
    case ExpressionOp::kMul:
    case ExpressionOp::kDiv:
      return kProductLevel;
    case ExpressionOp::kNegate:
      return kSignLevel;
    default:
      return kAtomLevel;
  }
}

std::string at_least(int wanted, const Expression& e) {
  return level(e) < wanted ? "(" + to_string(e) + ")" : to_string(e);
}

std::string joined_args(const std::vector<ExpressionPtr>& args) {
  return joined(args, ", ", [](const ExpressionPtr& arg) { return to_string(*arg); });
}

std::string call(const char* name, const Expression& e) {
  return std::string(name) + "(" + joined_args(e.args) + ")";
}

std::string subscripted(const Expression& e) {
  std::string text = e.name;
  for (const ExpressionPtr& arg : e.args) text += "[" + to_string(*arg) + "]";
  return text;
}

std::string reduction(const char* name, const Expression& e) {
  return std::string(name) + "(" + e.name + " in " + to_string(*e.args[0]) + ".." +
         to_string(*e.args[1]) + ": " + to_string(*e.args[2]) + ")";
}

std::string array_function(const char* name, const Expression& e) {
  return std::string(name) + "(" + e.name + (e.args.empty() ? "" : ", " + joined_args(e.args)) +
         ")";
}

std::string real_text(double value) {
  std::string result = short_text(value, 17);
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return result;
}

}  // namespace

std::string to_string(const Expression& e) {
  switch (e.op) {
    case ExpressionOp::kInteger:
      return std::to_string(e.integer);
    case ExpressionOp::kReal:
      return real_text(e.real);
    case ExpressionOp::kParam:
    case ExpressionOp::kConst:
    case ExpressionOp::kLoopVar:
      return e.name;
    case ExpressionOp::kRegisters:
      return "registers";
    case ExpressionOp::kInfinity:
      return "inf";
    case ExpressionOp::kAdd:
      return at_least(kSumLevel, *e.args[0]) + " + " + at_least(kProductLevel, *e.args[1]);
    case ExpressionOp::kSub:
      return at_least(kSumLevel, *e.args[0]) + " - " + at_least(kProductLevel, *e.args[1]);
    case ExpressionOp::kMul:
      return at_least(kProductLevel, *e.args[0]) + "*" + at_least(kSignLevel, *e.args[1]);
    case ExpressionOp::kDiv:
      return at_least(kProductLevel, *e.args[0]) + "/" + at_least(kSignLevel, *e.args[1]);
    case ExpressionOp::kNegate:
      return "-" + at_least(kSignLevel, *e.args[0]);
    case ExpressionOp::kMin:
      return call("min", e);
    case ExpressionOp::kMax:
      return call("max", e);
    case ExpressionOp::kCeilDiv:
      return call("ceildiv", e);
    case ExpressionOp::kFloorDiv:
      return call("floordiv", e);
    case ExpressionOp::kFloor:
      return call("floor", e);
    case ExpressionOp::kCeil:
      return call("ceil", e);
    case ExpressionOp::kSqrt:
      return call("sqrt", e);
    case ExpressionOp::kExp:
      return call("exp", e);
    case ExpressionOp::kLog:
      return call("log", e);
    case ExpressionOp::kTiles:
      return array_function("tiles", e);
    case ExpressionOp::kExtent:
      return array_function("extent", e);
    case ExpressionOp::kCell:
    case ExpressionOp::kLabel:
      return subscripted(e);
    case ExpressionOp::kSum:
      return reduction("sum", e);
    case ExpressionOp::kMaxOver:
      return reduction("max", e);
  }
  return {};
}

}  // namespace flashlab::toy
