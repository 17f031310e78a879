// Long tables are sorted by a click on a heading; a second click turns the order.
document.addEventListener("click", (event) => {
  const heading = event.target.closest("th");
  const table = heading && heading.closest("table");
  if (!table || !table.tBodies.length || table.tBodies[0].rows.length < 20) return;
  const body = table.tBodies[0];
  const column = [...heading.parentNode.children].indexOf(heading);
  const turned = heading.dataset.order === "up";
  for (const other of heading.parentNode.children) delete other.dataset.order;
  heading.dataset.order = turned ? "down" : "up";
  const text = (row) => (row.cells[column] ? row.cells[column].textContent.trim() : "");
  const rows = [...body.rows].sort((one, other) => {
    const [a, b] = [text(one), text(other)];
    if (!a !== !b) return a ? -1 : 1; // empty cells come last in both orders
    const order = a.localeCompare(b, "en", { numeric: true });
    return turned ? -order : order;
  });
  body.append(...rows);
});
