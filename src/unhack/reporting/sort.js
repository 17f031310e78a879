// A click on a heading sorts its table, a second one turns the order; a choice filters its rows.
document.addEventListener("click", (event) => {
  const heading = event.target.closest("th");
  const body = heading && heading.closest("table").tBodies[0];
  if (!body) return;
  const column = [...heading.parentNode.children].indexOf(heading);
  const turned = heading.dataset.order === "up";
  for (const other of heading.parentNode.children) delete other.dataset.order;
  heading.dataset.order = turned ? "down" : "up";
  const text = (row) => row.cells[column].textContent.trim();
  const rows = [...body.rows].map((row) => [text(row), row]);
  rows.sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }) * (turned ? -1 : 1));
  body.append(...rows.map(([, row]) => row));
});
document.addEventListener("change", (event) => {
  if (!event.target.matches("select[data-filter]")) return;
  const word = event.target.value;
  for (const row of event.target.closest(".card").querySelectorAll("tbody tr")) {
    const shown = row.querySelector("summary");
    row.hidden = word !== "" && !(shown && shown.textContent.split(" ").includes(word));
  }
});
