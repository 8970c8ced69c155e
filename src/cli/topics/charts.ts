// Charts in a terminal: a line of blocks, whose height is the share of the highest value.

const BLOCKS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

interface Point {
  readonly timestamp: string;
  readonly value: number;
}

/** One block for each point. If they do not fit, a block shows the highest of several points. */
export function blocks(values: readonly number[], width: number): string {
  const size = Math.max(1, Math.ceil(values.length / Math.max(1, width)));
  const heights: number[] = [];
  for (let at = 0; at < values.length; at += size) heights.push(Math.max(...values.slice(at, at + size)));
  const highest = Math.max(...heights);
  return heights
    .map((value) => (highest === 0 ? BLOCKS[0] : BLOCKS[Math.ceil((value / highest) * (BLOCKS.length - 1))]))
    .join("");
}

/** The figures of a chart in one sentence. */
export function figuresOf(data: readonly Point[], total: number): string {
  const values = data.map(({ value }) => value);
  return `now ${values.at(-1)} of ${total} hosts; highest ${Math.max(...values)}, lowest ${Math.min(...values)}`;
}
