// Sorts a table by the column of the button that was pressed; pressed again, the other way round.
"use strict";
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const title = button.closest("th");
    const table = title.closest("table");
    const column = Array.prototype.indexOf.call(title.parentNode.children, title);
    const ascending = title.getAttribute("aria-sort") !== "ascending";
    for (const other of title.parentNode.children) {
      other.setAttribute("aria-sort", "none");
    }
    title.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const body = table.tBodies[0];
    const value = (row) => row.children[column].textContent.trim();
    const order = (one, other) => {
      const [a, b] = [value(one), value(other)];
      const [x, y] = [parseFloat(a), parseFloat(b)];
      if (column === 0) {
        return a.localeCompare(b);
      }
      if (Number.isNaN(x) || Number.isNaN(y)) {
        // What has no value comes last, either way.
        return (Number.isNaN(x) - Number.isNaN(y)) * (ascending ? 1 : -1);
      }
      return x - y;
    };
    const rows = Array.from(body.rows).sort(order);
    body.append(...(ascending ? rows : rows.reverse()));
  });
}
