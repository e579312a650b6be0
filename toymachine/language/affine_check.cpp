#include "toymachine/language/affine_check.hpp"

#include <algorithm>

namespace flashlab::toy::detail {
namespace {

/// Whether loop variables occur, and whether any is inside min, max or a division.
struct AffineShape {
  bool varies = false;
  bool piecewise = false;
  bool bad = false;
};

class AffineCheck {
 public:
  AffineCheck(Usage usage, std::vector<Diagnostic>& diagnostics)
      : usage_(usage), diagnostics_(diagnostics) {}

  AffineShape visit(const Expression& e) {
    AffineShape shape;
    int varying = 0;
    bool last_varies = false;
    for (const ExpressionPtr& arg : e.args) {
      const AffineShape inner = visit(*arg);
      varying += inner.varies ? 1 : 0;
      last_varies = inner.varies;
      shape.varies |= inner.varies;
      shape.piecewise |= inner.piecewise;
      shape.bad |= inner.bad;
    }
    if (e.op == ExpressionOp::kLoopVar) shape.varies = true;
    if (shape.bad || !shape.varies) return shape;
    return combine(e, shape, varying, last_varies);
  }

 private:
  AffineShape combine(const Expression& e, AffineShape shape, int varying, bool last_varies) {
    switch (e.op) {
      case ExpressionOp::kLoopVar:
      case ExpressionOp::kAdd:
      case ExpressionOp::kSub:
      case ExpressionOp::kNegate:
        return shape;
      case ExpressionOp::kMul:
        if (varying == 2) return bad(e, "a product of loop variables");
        return shape;
      case ExpressionOp::kMin:
      case ExpressionOp::kMax:
        shape.piecewise = true;
        break;
      case ExpressionOp::kCeilDiv:
      case ExpressionOp::kFloorDiv:
        if (last_varies) return bad(e, "a division by a loop variable");
        shape.piecewise = true;
        break;
      default:
        return bad(e, e.op == ExpressionOp::kDiv ? "a quotient of a loop variable"
                                                 : "a function of a loop variable");
    }
    if (usage_ == Usage::kIndex) return bad(e, "min, max or a division of a loop variable");
    return shape;
  }

  AffineShape bad(const Expression& e, const std::string& what) {
    diagnostics_.push_back(
        {Severity::kError,
         Fault::kProgram,
         e.span,
         what + (usage_ == Usage::kIndex ? " cannot be an index" : " cannot be a bound"),
         usage_ == Usage::kIndex
             ? "an index such as 2*i + j + n: loop variables times integers, added up"
             : "a bound such as min(i + 1, ceildiv(n, 4)): loop variables times integers, added "
               "up, and min, max, ceildiv, floordiv of such sums",
         {}});
    AffineShape shape;
    shape.bad = true;
    return shape;
  }

  Usage usage_;
  std::vector<Diagnostic>& diagnostics_;
};

}  // namespace

bool check_affine(const Expression& expression, Usage usage, std::vector<Diagnostic>& diagnostics) {
  return !AffineCheck(usage, diagnostics).visit(expression).bad;
}

}  // namespace flashlab::toy::detail
