// The timeline panel: when the current step runs, in the model that the reader chose, and what both
// units do with the cycles of the run in every model.
"use strict";

/** The lanes of one model. One of them may end before the other, where the trace ends. */
class StepLanes extends Lanes {
  bounds() {
    const filled = this.lanes.filter(({ intervals }) => intervals.length > 0);
    const first = Math.min(...filled.map(({ intervals }) => intervals[0].start));
    const last = Math.max(...filled.map(({ intervals }) => intervals.at(-1).end));
    this.busy = filled.flatMap(({ intervals }) => intervals)
      .filter(({ cause }) => cause === "busy").sort((a, b) => a.step - b.step);
    this.steps = this.busy.map(({ step }) => step);
    return [first, Math.max(first + 1, last)];
  }

  get total() { return this.last - this.first; }

  /** Where a step is executed; null for one that takes no cycle or is not recorded. */
  busyOf(step) {
    const found = this.busy[countUpTo(this.steps, step) - 1];
    return found?.step === step ? found : null;
  }

  /** The cycle to look at for a step: where it or the one before it begins. */
  cycleOf(step) { return this.busy[countUpTo(this.steps, step) - 1]?.start ?? this.first; }

  /** `length` cycles around a step. The same step is always seen in the same place. */
  lookAt(step, length) {
    const size = Math.min(length, this.total);
    this.look(this.first + windowStart(this.cycleOf(step) - this.first, size, this.total), size);
  }

  /** What a unit does in a cycle. */
  at(unit, cycle) {
    const { intervals } = this.lanes.find((lane) => lane.unit === unit);
    return intervals.find(({ start, end }) => start <= cycle && cycle < end);
  }
}

class TimelinePanel {
  constructor(trace, data, goTo) {
    this.data = data;
    this.models = data.models.map((model) => new StepLanes({ ...data, models : [model] },
      (lane, index) => {
        const { step } = this.lanes.lanes[lane].intervals[index];
        if (step) goTo(step);
      }));
    this.chosen = data.models.length - 1;
    this.length = this.models[0].firstView();  // the same in every model, to compare them
    byId("legend").append(...laneLegend(data.instructions));
    byId("models").append(...data.models.map((model, index) => this.choice(model, index)));
    byId("verdict").textContent = this.verdict();
    this.causes = data.models.map((model) => this.causesOf(model));
    byId("causes").append(...this.causes);
    this.listen();
  }

  get lanes() { return this.models[this.chosen]; }

  choice(model, index) {
    const input = Object.assign(document.createElement("input"),
      { type : "radio", name : "model", value : index, checked : index === this.chosen });
    return node("label", "", input, node("span", "", modelName(model)));
  }

  /** The rows of one model: its cycles, and where they go in each unit. */
  causesOf(model) {
    const cycles = Number(model.cycles);
    const title = node("th", "", `${modelName(model)}: ${grouped(cycles)} cycles`);
    title.colSpan = 5;
    title.scope = "rowgroup";
    const rows = kUnits.map((unit) => {
      const parts = Object.keys(kCauses).map((cause) => Number(model[unit][cause]));
      const cells = parts.map((part) => node("td", "", part > 0 ? percent(part, cycles) : "–"));
      return node("tr", "", header("row", unit), ...cells);
    });
    return node("tbody", "", node("tr", "sum", title), ...rows);
  }

  /** What the second buffer is good for in this run. */
  verdict() {
    const of = (buffers) => this.data.models.find((model) => model.buffers === buffers);
    const [one, two] = [of(1), of(2)];
    if (!one || !two) return "";
    const waits = ({ memory, compute }) => Number(memory.buffer) + Number(compute.buffer);
    const saved = Number(one.cycles) - Number(two.cycles);
    if (saved === 0) return "A second buffer saves nothing in this run.";
    return `Double buffering saves ${grouped(saved)} of ${grouped(one.cycles)} cycles: `
      + `waiting for registers in use takes ${grouped(waits(two))} cycles instead of `
      + `${grouped(waits(one))}.`;
  }

  draw(view) {
    this.view = view;
    const { lanes } = this;
    const step = view.trace.numbers[view.position];
    lanes.lookAt(step, this.length);
    lanes.draw({ step });
    this.causes.forEach((rows, index) => {
      if (index === this.chosen) rows.setAttribute("aria-current", "true");
      else rows.removeAttribute("aria-current");
    });
    byId("detail").replaceChildren(...this.detail(step));
    byId("timeline-note").textContent = this.note(view.trace);
  }

  /** When the current step runs, and what the other unit does then. */
  detail(step) {
    const { lanes } = this;
    const busy = lanes.busyOf(step);
    if (step === 0) return ["Nothing runs yet."];
    const last = lanes.steps.at(-1) ?? 0;
    if (step > last && lanes.data.models[0].intervals_left_out > 0) {
      return [`The lanes end before this step, with step ${grouped(last)}.`];
    }
    if (!busy) return ["This step takes no cycles."];
    const { start, end, unit } = busy;
    const span = `${unit}, cycles ${grouped(start)} to ${grouped(end)} (${grouped(end - start)})`;
    const waited = lanes.lanes.flatMap(({ intervals }) => intervals)
      .filter((interval) => interval.step === step && interval.cause !== "busy")
      .map(({ cause, start: from, end: to }) => `${kCauses[cause]} (${grouped(to - from)})`);
    const other = kUnits.find((name) => name !== unit);
    const then = lanes.at(other, start);
    const text = then?.cause === "busy" ? lanes.instruction(then).text : kCauses[then?.cause];
    const meanwhile = text ? `; meanwhile ${other}: ${text}` : "";
    const before = waited.length > 0 ? `; before that it ${waited.join(" and ")}` : "";
    return [node("b", "", lanes.instruction(busy).text), `: ${span}${before}${meanwhile}`];
  }

  note(trace) {
    const { lanes } = this;
    const notes = [];
    const [model] = lanes.data.models;
    if (model.intervals_left_out > 0) {
      notes.push(`The lanes end with step ${grouped(lanes.steps.at(-1) ?? 0)}: the page holds `
        + `${grouped(model.intervals.length)} stretches of each model.`);
    }
    const isPart = trace.gaps.length > 0 || trace.about.complete === false;
    if (isPart) notes.push("The table is about the whole run, not only the steps shown here.");
    return notes.join(" ");
  }

  zoom(factor) {
    const most = Math.max(...this.models.map(({ total }) => total));
    this.length = Math.max(4, Math.min(Math.round(this.length * factor), most));
    this.draw(this.view);
  }

  listen() {
    const factors = { out : 2, in : 0.5, all : Infinity };
    for (const [id, factor] of Object.entries(factors)) {
      byId(id).addEventListener("click", () => this.zoom(factor));
    }
    byId("models").addEventListener("change", (event) => {
      this.chosen = Number(event.target.value);
      this.draw(this.view);
    });
    window.addEventListener("resize", () => this.view && this.draw(this.view));
  }
}

/** Null for a page without a timeline. */
function timelinePanel(trace, goTo) {
  const json = byId("trace-timeline");
  if (!json) return null;
  const data = JSON.parse(json.textContent);
  const isShown = data.models?.some(({ intervals }) => intervals.length > 0);
  byId("timeline-section").hidden = !isShown && !data.missing;
  for (const element of byId("timeline-section").children) {
    element.hidden = !isShown && !element.matches("#timeline-note, .lanes-head");
  }
  byId("timeline-heading").nextElementSibling.hidden = !isShown;
  if (isShown) return new TimelinePanel(trace, data, goTo);
  byId("timeline-note").textContent = data.missing ? `There is none: ${data.missing}.` : "";
  return null;
}
