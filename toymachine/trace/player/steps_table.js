// The table of steps around the current one. Only the rows in sight exist: the scroller is as tall
// as all of them would be, up to a limit, the table stays in sight, and the place of the scroll bar
// says which rows it has.
"use strict";

const kRegisterColumns = 40;
const kRowsInSight = 14;
const kRowsPrinted = 200;
const kTallestScroller = 8e6;  // pixels; browsers cap an element's height
const kScrollBar = 18;

class StepsTable {
  constructor(trace, goTo) {
    this.trace = trace;
    this.columns = Math.min(trace.about.num_registers, kRegisterColumns);
    this.wanted = kRowsInSight;
    this.table = byId("steps");
    this.body = this.table.tBodies[0];
    this.box = byId("steps-scroller");
    const names = Array.from({ length: this.columns }, (_, r) => trace.registerName(r));
    const heads = ["Step", "Instruction", "Makes", ...names].map((text) => header("col", text));
    this.table.tHead.replaceChildren(node("tr", "", ...heads));
    const hasAll = this.columns === trace.about.num_registers;
    const rest = `The registers from ${trace.registerName(this.columns)} are above.`;
    byId("steps-note").textContent = hasAll ? "" : rest;
    this.box.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row) goTo(Number(row.dataset.position));
    });
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
  }

  get rows() { return Math.min(this.wanted, this.trace.last + 1); }
  get hiddenRows() { return this.trace.last + 1 - this.rows; }
  get room() { return this.box.scrollHeight - this.box.clientHeight; }

  /** Shows the rows around the view's position. */
  draw(view) {
    this.view = view;
    this.layOut();
    this.first = windowStart(view.position, this.rows, this.trace.last + 1);
    this.box.scrollTop = this.hiddenRows ? (this.first / this.hiddenRows) * this.room : 0;
    this.scrolledTo = this.box.scrollTop;
    this.drawRows();
  }

  layOut() {
    this.table.setAttribute("aria-rowcount", this.trace.last + 2);
    const rowHeight = this.body.firstChild?.offsetHeight || 28;
    const height = (this.table.tHead.offsetHeight || 28) + rowHeight * this.rows;
    const scrolling = Math.min(kTallestScroller, height + rowHeight * this.hiddenRows);
    byId("steps-sizer").style.height = `${scrolling}px`;
    this.box.style.maxHeight = `${height + kScrollBar}px`;
  }

  scrolled() {
    if (this.box.scrollTop === this.scrolledTo) return;  // it was draw(), or sideways
    this.scrolledTo = this.box.scrollTop;
    const part = Math.min(1, this.scrolledTo / this.room);
    this.first = Math.round(part * this.hiddenRows);
    this.drawRows();
  }

  print(on) {
    this.wanted = on ? kRowsPrinted : kRowsInSight;
    this.draw(this.view);
  }

  drawRows() {
    const rows = [];
    for (let p = this.first; p < this.first + this.rows; ++p) rows.push(this.row(p));
    this.body.replaceChildren(...rows);
  }

  row(position) {
    const { trace, view } = this;
    const step = trace.step(position);
    const row = node("tr", "", header("row", grouped(trace.numbers[position])));
    row.append(node("td", "", step ? step.instruction : "(start)"));
    row.append(node("td", "makes", (step && trace.makesOf(step)) ?? ""));
    row.dataset.position = position;
    row.setAttribute("aria-rowindex", position + 2);
    if (position === view.position) row.setAttribute("aria-current", "step");
    const beginsPass = step && trace.passStart.get(step.pass ?? 0) === position;
    if (beginsPass && position > 1) row.className = "new-pass";
    for (let r = 0; r < this.columns; ++r) {
      const held = trace.register(r, position);
      const kind = held && step?.writes?.register === r ? "changed" : "carried";
      row.append(node("td", kind, held ? shownText(held, view.showSymbols, kCellDigits) : ""));
    }
    return row;
  }
}
