#include <algorithm>
#include <map>
#include <numeric>

#include "cli/picture/pictures.hpp"
#include "cli/terminal/failure.hpp"
#include "text/lists.hpp"
#include "text/picture/axes.hpp"
#include "text/picture/svg.hpp"
#include "toymachine/history/data_flow.hpp"

namespace flashlab::cli {
namespace {

using picture::Point;

constexpr double kBoxHeight = 46, kLayerGap = 44, kBoxGap = 16, kThroughWidth = 6, kGraphTop = 66;

/// A box, or a place in a layer where a long arrow passes.
struct GraphNode {
  std::uint32_t array = 0;
  int layer = 0;
  bool is_box = true;
  double width = kThroughWidth, x = 0;  // x: of the centre
  double order = 0;
};

/// Two nodes of neighbouring layers.
struct GraphEdge {
  std::size_t from = 0, to = 0;
};

/// The arrays of a program in layers. Each array is below all arrays that it is computed from.
class GraphPanel {
 public:
  explicit GraphPanel(const PicturedProgram& program)
      : program_(program), flows_(toy::array_flows(program.run)) {
    const std::vector<int> depths = toy::flow_depths(flows_, arrays().size());
    for (std::uint32_t array = 0; array < arrays().size(); ++array) {
      const double width =
          std::max(picture::text_width(arrays()[array].name), picture::text_width(shape(array)));
      nodes_.push_back({array, depths[array], true, width + 12});
    }
    for (const toy::ArrayFlow& flow : flows_) {
      if (!flow.goes_back) connect(flow);
    }
    num_layers_ = 1 + *std::max_element(depths.begin(), depths.end());
    order_layers();
    place();
  }

  /// Returns the lower end.
  double draw(picture::Svg& svg, double top) const {
    svg.text({10, top}, program_.name, "strong");
    top += 14;
    for (const GraphEdge& edge : edges_) draw_edge(svg, edge, top);
    for (const toy::ArrayFlow& flow : flows_) {
      if (flow.goes_back) draw_way_back(svg, nodes_[flow.from], nodes_[flow.to], top);
    }
    for (const GraphNode& node : nodes_) {
      if (node.is_box) draw_box(svg, node, top);
    }
    return top + num_layers_ * (kBoxHeight + kLayerGap) - kLayerGap + 40;
  }

  /// "bwd_naive: p from q, k, lse; dv from do, p."
  std::string description() const {
    std::string text;
    for (std::uint32_t to = 0; to < arrays().size(); ++to) {
      std::vector<std::string> names;
      for (const toy::ArrayFlow& flow : flows_) {
        if (flow.to == to)
          names.push_back(arrays()[flow.from].name + (flow.goes_back ? " (later)" : ""));
      }
      if (names.empty()) continue;
      text += (text.empty() ? "" : "; ") + arrays()[to].name + " from " + joined(names);
    }
    return program_.name + ": " + text + ".";
  }

 private:
  const std::vector<toy::BoundArray>& arrays() const { return program_.bound->arrays; }

  std::string shape(std::uint32_t array) const {
    return joined(arrays()[array].extents, " x ",
                  [](std::int64_t extent) { return std::to_string(extent); });
  }

  /// Adds the arrow, with a place in each layer between its ends.
  void connect(const toy::ArrayFlow& flow) {
    std::size_t last = flow.from;
    for (int layer = nodes_[flow.from].layer + 1; layer < nodes_[flow.to].layer; ++layer) {
      nodes_.push_back({flow.from, layer, false});
      edges_.push_back({last, nodes_.size() - 1});
      last = nodes_.size() - 1;
    }
    edges_.push_back({last, flow.to});
  }

  std::vector<std::size_t> layer(int number) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].layer == number) found.push_back(i);
    }
    std::stable_sort(found.begin(), found.end(), [&](std::size_t a, std::size_t b) {
      return nodes_[a].order < nodes_[b].order;
    });
    return found;
  }

  /// Moves each node below, and then above, the mean of its neighbours, so that few arrows cross.
  void order_layers() {
    constexpr int kSweeps = 8;
    for (int number = 0; number < num_layers_; ++number) keep_order(layer(number));
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (int i = 0; i < num_layers_; ++i) {
        const bool down = sweep % 2 == 0;
        const std::vector<std::size_t> nodes = layer(down ? i : num_layers_ - 1 - i);
        for (const std::size_t node : nodes) nodes_[node].order = mean_neighbour(node, down);
        keep_order(layer(down ? i : num_layers_ - 1 - i));
      }
    }
  }

  void keep_order(const std::vector<std::size_t>& nodes) {
    const double middle = (static_cast<double>(nodes.size()) - 1) / 2;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      nodes_[nodes[i]].order = static_cast<double>(i) - middle;
  }

  double mean_neighbour(std::size_t node, bool above) const {
    double sum = 0;
    int count = 0;
    for (const GraphEdge& edge : edges_) {
      if ((above ? edge.to : edge.from) != node) continue;
      sum += nodes_[above ? edge.from : edge.to].order;
      ++count;
    }
    return count > 0 ? sum / count : nodes_[node].order;
  }

  /// Spreads each layer around the middle of the picture.
  void place() {
    for (int number = 0; number < num_layers_; ++number) {
      const std::vector<std::size_t> nodes = layer(number);
      double width = 0;
      for (const std::size_t node : nodes) width += nodes_[node].width;
      const auto num_gaps = static_cast<double>(nodes.size() + 1);
      const double gap = std::min(3 * kBoxGap, (picture::kPictureWidth - width) / num_gaps);
      if (gap < 4) {
        throw request_failure(program_.name + " has too many arrays for a picture",
                              "a program with fewer arrays side by side");
      }
      double x = (picture::kPictureWidth - width - gap * (num_gaps - 2)) / 2;
      for (const std::size_t node : nodes) {
        nodes_[node].x = x + nodes_[node].width / 2;
        x += nodes_[node].width + gap;
      }
    }
  }

  static double y_of(const GraphNode& node, double top) {
    return top + node.layer * (kBoxHeight + kLayerGap);
  }

  void draw_edge(picture::Svg& svg, const GraphEdge& edge, double top) const {
    const GraphNode &from = nodes_[edge.from], &to = nodes_[edge.to];
    const Point start{from.x, y_of(from, top) + kBoxHeight};
    const Point end{to.x, y_of(to, top) - (to.is_box ? 5 : 0)};
    svg.line(start, end, "thin c6");
    if (to.is_box) {
      svg.marker(picture::Marker::kDown, end, "filled c6", 3);
    } else {
      svg.line(end, {end.x, end.y + kBoxHeight}, "thin c6");
    }
  }

  static void draw_way_back(picture::Svg& svg, const GraphNode& from, const GraphNode& to,
                            double top) {
    constexpr double kBeside = 12;  // the way there
    const Point end{to.x + kBeside, y_of(to, top) + kBoxHeight + 5};
    svg.line({from.x + kBeside, y_of(from, top)}, end, "thin dash c6");
    svg.marker(picture::Marker::kUp, end, "filled c6", 3);
  }

  void draw_box(picture::Svg& svg, const GraphNode& node, double top) const {
    const Point corner{node.x - node.width / 2, y_of(node, top)};
    const toy::ArrayRole role = arrays()[node.array].role;
    const bool is_input = role == toy::ArrayRole::kInput;
    svg.rect(corner, node.width, kBoxHeight, is_input ? "band" : "paper");
    svg.rect(corner, node.width, kBoxHeight,
             is_input                          ? "ink"
             : role == toy::ArrayRole::kOutput ? "roof"
                                               : "ink dash");
    svg.text({node.x, corner.y + 19}, arrays()[node.array].name, "strong middle");
    svg.text({node.x, corner.y + 38}, shape(node.array), "soft middle");
  }

  const PicturedProgram& program_;
  std::vector<toy::ArrayFlow> flows_;
  std::vector<GraphNode> nodes_;  // the arrays first, in their order
  std::vector<GraphEdge> edges_;
  int num_layers_ = 0;
};

}  // namespace

std::string graph_svg(const std::vector<PicturedProgram>& programs) {
  picture::Svg svg(picture::kPictureWidth);
  const std::string title = "What is computed from what";
  picture::draw_heading(svg, title, "shaded: inputs, dashed: stored in between, thick: results");
  double y = kGraphTop + 10;
  std::string description;
  for (const PicturedProgram& program : programs) {
    const GraphPanel panel(program);
    y = panel.draw(svg, y);
    description += (description.empty() ? "" : " ") + panel.description();
  }
  return svg.finish(y - 24, title, description);
}

}  // namespace flashlab::cli
