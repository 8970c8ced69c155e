import { type ReactElement, useId, useState } from "react";
import { counted, formatted } from "../counted.ts";
import { SmallTable } from "../small-table.tsx";
import { exactTime } from "../time.tsx";
import "./time-chart.css";

export interface TimePoint {
  readonly timestamp: string;
  readonly value: number;
}

interface TimeChartProps {
  /** What the values are, such as "Online hosts". */
  readonly name: string;
  /** At least one, the oldest first. */
  readonly points: readonly TimePoint[];
  /** What the full height stands for. */
  readonly total: number;
  /** A line, or a grid with a column for each day. */
  readonly shape?: "line" | "grid";
  /** In a grid, the points of a day. */
  readonly perDay?: number;
  /** A value in words; default: a number of hosts. */
  readonly words?: (value: number) => string;
}

const inHosts = (value: number): string => counted(value, "host");
const MILLISECONDS_PER_DAY = 86_400_000;

/** Values over time as a picture that is named with its figures, with a slider that reads each point, and a table. */
export function TimeChart(props: TimeChartProps): ReactElement {
  const { name, points, total, shape = "line", perDay = 1, words = inHosts } = props;
  const [at, setAt] = useState(points.length - 1);
  const [isTable, setIsTable] = useState(false);
  const sliderId = useId();
  const place = Math.min(at, points.length - 1);
  const point = points[place]!;
  const values = points.map(({ value }) => value);
  const days = Math.round(
    ((Date.parse(points.at(-1)!.timestamp) - Date.parse(points[0]!.timestamp)) / MILLISECONDS_PER_DAY) *
      (points.length / Math.max(1, points.length - 1)),
  );
  const label = `${name} in ${counted(days, "day")}: now ${formatted(values.at(-1)!)}, highest ${formatted(
    Math.max(...values),
  )}, lowest ${formatted(Math.min(...values))}`;
  const text = `${exactTime(point.timestamp)}: ${words(point.value)}`;
  return (
    <div className="time-chart">
      {shape === "line" ? (
        <Line label={label} values={values} total={total} marked={place} />
      ) : (
        <Grid label={label} values={values} total={total} marked={place} perDay={perDay} />
      )}
      <label htmlFor={sliderId} className="hidden">
        Point of the chart {name}
      </label>
      <input
        id={sliderId}
        type="range"
        min={0}
        max={points.length - 1}
        value={place}
        aria-valuetext={text}
        onChange={({ target }) => setAt(Number(target.value))}
      />
      <p className="quiet">{text}</p>
      <button type="button" className="plain small" aria-expanded={isTable} onClick={() => setIsTable(!isTable)}>
        {isTable ? "Hide table" : "Show as table"}
      </button>
      {isTable && (
        <SmallTable
          name={name}
          rows={points.toReversed()}
          keyOf={({ timestamp }) => timestamp}
          columns={[
            { name: "Time", cell: ({ timestamp }) => exactTime(timestamp) },
            { name: "Value", cell: ({ value }) => words(value), isNumber: true },
          ]}
          empty=""
        />
      )}
    </div>
  );
}

interface ShapeProps {
  readonly label: string;
  readonly values: readonly number[];
  readonly total: number;
  readonly marked: number;
}

const WIDTH = 600;
const HEIGHT = 120;

function Line({ label, values, total, marked }: ShapeProps): ReactElement {
  const full = Math.max(1, total, ...values);
  const step = WIDTH / values.length;
  const heightOf = (value: number): number => HEIGHT - 1 - (value / full) * (HEIGHT - 2);
  const steps = values.map((value, at) => `L${at * step} ${heightOf(value)}H${(at + 1) * step}`).join("");
  return (
    <svg className="line" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path className="area" d={`M0 ${HEIGHT}${steps}V${HEIGHT}Z`} />
      <path className="edge" d={`M0 ${heightOf(values[0]!)}${steps}`} />
      <rect className="mark" x={marked * step} y="0" width={Math.max(step, 2)} height={HEIGHT} />
    </svg>
  );
}

const CELL = 10;
const GAP = 2;

function Grid({ label, values, total, marked, perDay }: ShapeProps & { readonly perDay: number }): ReactElement {
  const columns = Math.ceil(values.length / perDay);
  const full = Math.max(1, total, ...values);
  return (
    <svg
      className="cells"
      viewBox={`0 0 ${columns * CELL} ${perDay * CELL}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.map((value, at) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: a point has no other identity than its place
          key={at}
          className={at === marked ? "cell marked" : "cell"}
          x={Math.floor(at / perDay) * CELL + GAP / 2}
          y={(at % perDay) * CELL + GAP / 2}
          width={CELL - GAP}
          height={CELL - GAP}
          rx="1"
          fillOpacity={value === 0 ? 0 : 0.25 + (0.75 * value) / full}
        />
      ))}
    </svg>
  );
}
