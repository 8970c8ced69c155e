/** The cells of CSV as RFC 4180 has it, with rows that end in `end`. Throws if a quote or a line break is not quoted. */
export function parseCsv(text: string, end = "\r\n"): string[][] {
  const rows: string[][] = [];
  for (let at = 0; at < text.length; ) {
    const row: string[] = [];
    for (;;) {
      const { cell, next } = text[at] === '"' ? quotedCell(text, at) : bareCell(text, at);
      row.push(cell);
      at = next;
      if (text[at] === ",") at++;
      else break;
    }
    if (!text.startsWith(end, at))
      throw new Error(`row ${rows.length} does not end as a row: ${text.slice(at, at + 40)}`);
    at += end.length;
    rows.push(row);
  }
  return rows;
}

function quotedCell(text: string, start: number): { cell: string; next: number } {
  let cell = "";
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] !== '"') cell += text[at];
    else if (text[at + 1] === '"') cell += text[at++];
    else return { cell, next: at + 1 };
  }
  throw new Error(`a quoted cell does not end: ${text.slice(start, start + 40)}`);
}

function bareCell(text: string, start: number): { cell: string; next: number } {
  const cell = /[^",\r\n]*/y;
  cell.lastIndex = start;
  const [value = ""] = cell.exec(text) ?? [];
  if (text[start + value.length] === '"') throw new Error(`a quote in a bare cell: ${text.slice(start, start + 40)}`);
  return { cell: value, next: start + value.length };
}
