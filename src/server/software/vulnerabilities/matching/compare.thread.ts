// The thread in which all versions are compared. It has the reference files open, and keeps what it has looked up.
import { setImmediate as breathe } from "node:timers/promises";
import { serveThread } from "../../../platform/core/concurrency/thread-side.ts";
import { FeedLibrary } from "../reference/library.ts";
import type { Source } from "../reference/sources.ts";
import { type ComparedRow, type Comparer, comparerOf } from "./compare.ts";
import type { System } from "./systems.ts";

/** Steps after which other calls have their turn: a description is not to wait for the next batch of versions. */
const STEPS_PER_TURN = 20;

export interface PlacedSource extends Source {
  /** The path of its file on this machine. */
  readonly path: string;
}

let comparer: Comparer | null = null;
let steps = 0;
const turn = async () => {
  if (++steps % STEPS_PER_TURN === 0) await breathe();
};

function opened(): Comparer {
  if (comparer === null) throw new Error("no reference files are open");
  return comparer;
}

const methods = {
  open(sources: readonly PlacedSource[]): void {
    const paths = new Map(sources.map(({ name, path }) => [name, path]));
    comparer = comparerOf(new FeedLibrary(sources, { of: ({ name }) => paths.get(name)! }), turn);
  },
  compare: (rows: readonly ComparedRow[]) => opened().compare(rows),
  compareSystem: (system: System) => opened().compareSystem(system),
  describe: (cves: readonly string[]) => opened().describe(cves),
};

export type CompareThread = typeof methods;

serveThread({ methods });
