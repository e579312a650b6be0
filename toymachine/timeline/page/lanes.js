// The lanes: one figure of two for each model, over the same stretch of cycles.
"use strict";

const kSvg = "http://www.w3.org/2000/svg";
const kUnits = ["memory", "compute"];
const kGutter = 66;       // px before a lane, for its name
const kLane = 30;         // px
const kLaneGap = 4;
const kLetterRoom = 11;   // px that a letter needs
const kStepRoom = 40;     // px that each of the first steps may take at first
const kMostBoxes = 900;   // in a lane: beyond, it is drawn by columns
const kColumn = 3;        // px
const kStack = ["load", "store", "compute", "data", "buffer", "elided"];  // in a column, from below

function shape(tag, attributes, ...children) {
  const element = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const modelName = ({ model, buffers }) =>
  model === "serial" ? "Serial" : `Overlap, ${buffers} ${buffers === 1 ? "buffer" : "buffers"}`;

const kCauses = { busy : "busy", data : "waits for data", buffer : "waits for a register in use",
  idle : "nothing to do" };

/** Of cycles; a part that is there is never shown as none. */
const percent = (part, whole) => (part / whole < 0.0005
  ? "<\u00a00.1\u00a0%" : `${((100 * part) / whole).toFixed(1)}\u00a0%`);

const kElided = "iterations that are not shown";
const isElided = ({ cause }) => cause === "elided";

/** What the boxes of a lane mean. */
function laneLegend(instructions, hasElided = false) {
  const used = new Map();
  for (const instruction of instructions) {
    const names = used.get(instruction.letter) ?? { kind : instruction.unit === "compute"
      ? "compute" : instruction.loads ? "load" : "store", names : new Set() };
    names.names.add(instruction.op);
    used.set(instruction.letter, names);
  }
  const swatch = (kind, letter = "") => {
    const box = shape("rect", { x : 1, y : 1, width : 22, height : 16, class : kind });
    return shape("svg", { viewBox : "0 0 24 18", "aria-hidden" : "true" }, box,
      shape("text", { x : 12, y : 13, "text-anchor" : "middle" }, letter));
  };
  const entries = [...used].map(([letter, { kind, names }]) =>
    node("li", "", swatch(kind, letter), [...names].join(", ")));
  return [...entries, node("li", "", swatch("data"), kCauses.data),
    node("li", "", swatch("buffer"), kCauses.buffer),
    ...(hasElided ? [node("li", "", swatch("elided", "⋯"), kElided)] : [])];
}

class Lanes {
  constructor(data, choose) {
    this.data = data;
    this.choose = choose;
    this.lanes = [];
    data.models.forEach((model, index) => {
      for (const unit of kUnits) {
        const intervals = model.intervals.filter((interval) => interval.unit === unit)
          .map((interval) => ({ ...interval, start : Number(interval.start),
            end : Number(interval.end) }));
        this.lanes.push({ index, model, unit, intervals });
      }
    });
    [this.first, this.last] = this.bounds();
    this.from = this.first;
    this.length = this.firstView();
  }

  /** Lanes have no holes; what was recorded of all of them can be shown. */
  bounds() {
    const starts = this.lanes.map(({ intervals }) => intervals[0]?.start ?? 0);
    const ends = this.lanes.map(({ intervals }) => intervals.at(-1)?.end ?? 0);
    const cuts = ends.filter((end, lane) => end > 0 && end < Number(this.lanes[lane].model.cycles));
    const first = Math.max(...starts);
    return [first, Math.max(first + 1, cuts.length > 0 ? Math.min(...cuts) : Math.max(...ends))];
  }

  /** As many cycles as the first steps take under the first model, until some are not shown. */
  firstView() {
    const steps = Math.max(8, Math.floor(byId("lanes").clientWidth / kStepRoom));
    const ends = this.lanes.filter(({ index }) => index === 0)
      .flatMap(({ intervals }) => intervals.filter(({ cause }) => cause === "busy")
        .slice(0, steps)).map(({ end }) => end).sort((a, b) => a - b);
    const gap = Math.min(...this.lanes.filter(({ index }) => index === 0)
      .map(({ intervals }) => intervals.find(isElided)?.start ?? Infinity));
    const end = Math.min(ends[Math.min(steps, ends.length) - 1] ?? this.last, gap);
    return Math.min(this.last - this.first, Math.max(4, end - this.first));
  }

  instruction(interval) { return this.data.instructions[interval.site]; }

  classOf(lane, interval) {
    if (interval.cause !== "busy") return interval.cause;
    if (lane.unit === "compute") return "compute";
    return this.instruction(interval).loads ? "load" : "store";
  }

  draw(chosen) {
    this.chosen = chosen;
    const width = Math.max(200, byId("lanes").clientWidth);
    this.scale = (width - kGutter - 1) / this.length;
    const figures = this.data.models.map((model, index) => this.figure(model, index, width));
    byId("lanes").replaceChildren(this.patterns(), ...figures);
  }

  look(from, length) {
    this.length = Math.max(4, Math.min(Math.round(length), this.last - this.first));
    this.from = Math.max(this.first, Math.min(Math.round(from), this.last - this.length));
  }

  patterns() {
    const hatch = (id, d) => shape("pattern", { id, width : 6, height : 6,
      patternUnits : "userSpaceOnUse" }, shape("path", { d, "stroke-width" : 1.4, fill : "none" }));
    return shape("svg", { class : "hidden", "aria-hidden" : "true" }, shape("defs", {},
      hatch("hatch-data", "M-1 7 7 -1M-1 1 1 -1M5 7 7 5"), hatch("hatch-buffer", "M0 1.5H6M0 4.5H6")));
  }

  x(cycle) { return kGutter + (cycle - this.from) * this.scale; }

  figure(model, index, width) {
    const height = 18 + 2 * kLane + kLaneGap + 1;
    const svg = shape("svg", { viewBox : `0 0 ${width} ${height}`, height, "aria-hidden" : "true" });
    svg.append(...this.axis(width, height));
    kUnits.forEach((unit, row) => {
      const y = 18 + row * (kLane + kLaneGap);
      svg.append(shape("text", { class : "name", x : 0, y : y + kLane / 2 + 4 }, unit));
      const recorded = this.lanes[2 * index + row].intervals.at(-1)?.end ?? 0;
      const end = Math.min(recorded, this.from + this.length);
      if (end > this.from) {
        svg.append(shape("rect", { class : "bed", x : kGutter, y,
          width : this.x(end) - kGutter, height : kLane }));
      }
      svg.append(...this.boxes(2 * index + row, y));
    });
    return node("figure", "", node("figcaption", "", modelName(model),
      node("span", "", `${grouped(model.cycles)} cycles`)), svg);
  }

  axis(width, height) {
    const wanted = 80 / this.scale;
    const decade = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
    const step = [1, 2, 5, 10].map((factor) => factor * decade).find((s) => s >= wanted) ?? decade;
    const marks = [];
    const end = this.from + this.length;
    for (let cycle = Math.ceil(this.from / step) * step; cycle <= end; cycle += step) {
      const x = this.x(cycle);
      marks.push(shape("line", { x1 : x, x2 : x, y1 : 4, y2 : height }));
      if (x > width - 30) continue;
      marks.push(shape("text", { class : "axis", x : x + 3, y : 12 }, grouped(cycle)));
    }
    return marks;
  }

  /** Of a lane, what is in view: [first, end) of its intervals. */
  inView({ intervals }) {
    const search = (isBefore) => {
      let low = 0, high = intervals.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (isBefore(intervals[middle])) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    return [search((i) => i.end <= this.from), search((i) => i.start < this.from + this.length)];
  }

  boxes(number, y) {
    const lane = this.lanes[number];
    const [first, end] = this.inView(lane);
    if (end - first > kMostBoxes) return this.columns(lane, first, end, y);
    const { chosen } = this;
    const boxes = [], marked = [];
    for (let i = first; i < end; ++i) {
      const interval = lane.intervals[i];
      const left = Math.max(this.x(interval.start), kGutter);
      const width = Math.max(0.5, this.x(Math.min(interval.end, this.from + this.length)) - left);
      const isChosen = chosen && (interval === chosen
        || (interval.cause === "busy" && interval.step === chosen.step));
      const kind = this.classOf(lane, interval);
      const inset = width > 3 && !["data", "buffer", "elided"].includes(kind) ? 0.5 : 0;
      const look = kind + (inset ? "" : " thin") + (isChosen ? " chosen" : "");
      const box = shape("rect", { class : look, x : left + inset,
        y : y + inset, width : width - 2 * inset, height : kLane - 2 * inset,
        "stroke-width" : inset ? 1 : 0 });
      box.addEventListener("click", () => this.choose(number, i));
      const group = isChosen ? marked : boxes;
      group.push(box);
      const letter = interval.cause === "busy" ? this.instruction(interval).letter
        : isElided(interval) ? "⋯" : "";
      if (letter && width >= kLetterRoom) {
        group.push(shape("text", { x : left + width / 2, y : y + kLane / 2 + 4,
          "text-anchor" : "middle" }, letter));
      }
    }
    return [...boxes, ...marked];
  }

  /** Too many for boxes: columns of a few pixels, in which each kind has its share of the height. */
  columns(lane, first, end, y) {
    const columns = new Map();
    const last = this.x(this.from + this.length);
    for (let i = first; i < end; ++i) {
      const interval = lane.intervals[i];
      const kind = this.classOf(lane, interval);
      const right = Math.min(this.x(interval.end), last);
      for (let left = Math.max(this.x(interval.start), kGutter); left < right;) {
        const column = Math.floor((left - kGutter) / kColumn);
        const next = Math.min(right, kGutter + (column + 1) * kColumn);
        const shares = columns.get(column) ?? {};
        shares[kind] = (shares[kind] ?? 0) + (next - left) / kColumn;
        columns.set(column, shares);
        left = next;
      }
    }
    return [...columns].flatMap(([column, shares]) => {
      let top = y + kLane;
      return kStack.filter((kind) => shares[kind] > 0).map((kind) => {
        const height = kLane * shares[kind];
        top -= height;
        return shape("rect", { class : `${kind} thin`, x : kGutter + column * kColumn, y : top,
          width : kColumn, height, "stroke-width" : 0 });
      });
    });
  }
}
