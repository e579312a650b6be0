// Sorting by a click on a column's name. Without this the table stays in the order of the names.
"use strict";
(() => {
  const table = document.getElementById("students");
  const body = table.tBodies[0];
  const note = document.getElementById("sort-note");
  const collator = new Intl.Collator("en", { numeric: true });

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent.trim();
  };

  // Numbers by size, other text by its letters; students without a value come last either way.
  const compare = (a, b, direction) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const x = Number(a), y = Number(b);
    const order = Number.isNaN(x) || Number.isNaN(y) ? collator.compare(a, b) : x - y;
    return direction * order;
  };

  const sortBy = (header, column) => {
    const direction = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
    rows.sort((a, b) => compare(a[0], b[0], direction));
    body.append(...rows.map((pair) => pair[1]));
    note.textContent = `sorted by ${header.textContent}, ${direction === 1 ? "rising" : "falling"}`;
  };

  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    button.addEventListener("click", () => sortBy(header, column));
    header.replaceChildren(button);
  });
})();
