// What the pages of the console looked like when somebody last looked at them.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { BLOCK, type Box, type View } from "./camera.ts";
import { type Device, type Scheme, schemes, widths } from "./views.ts";

export const FOLDER = "test/fixtures/console-pictures";

/** Levels of brightness by which a block may differ: the smoothing of letters is not the same in each browser. */
const MAX_DIFFERENCE = 20;
/** Blocks of a page that may differ more: a port or a time has another length. */
const MAX_BLOCKS = 8;
/** Pixels by which a landmark may be elsewhere. */
const MAX_PIXELS = 4;

/** The parts of the frame, whose place does not depend on the width of text. */
const frame: ReadonlySet<string> = new Set(["banner", "main"]);

interface StoredView {
  readonly boxes: Readonly<Record<string, Box>>;
  readonly columns: number;
  /** The blocks, compressed, in base64. */
  readonly blocks: string;
}

interface Baseline {
  /** What text was as wide as on the machine where it was made. */
  readonly fonts: string;
  readonly views: Readonly<Record<string, StoredView>>;
}

export type Variant = `${Device}-${Scheme}`;

export const variants = (Object.keys(widths) as Device[]).flatMap((device) =>
  schemes.map((scheme) => ({ device, scheme, variant: `${device}-${scheme}` as Variant })),
);

const fileOf = (variant: Variant): string => join(FOLDER, `${variant}.json`);

export function readBaseline(variant: Variant): Baseline {
  try {
    return JSON.parse(readFileSync(fileOf(variant), "utf8")) as Baseline;
  } catch {
    return { fonts: "", views: {} };
  }
}

/** One view on each line, so that changes of different pages do not meet. */
export function writeBaseline(variant: Variant, fonts: string, views: ReadonlyMap<string, View>): void {
  const lines = [...views]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { boxes, columns, blocks }]) => {
      const view: StoredView = { boxes, columns, blocks: deflateRawSync(blocks, { level: 9 }).toString("base64") };
      return `${JSON.stringify(name)}: ${JSON.stringify(view)}`;
    });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(fileOf(variant), `{"fonts": ${JSON.stringify(fonts)}, "views": {\n${lines.join(",\n")}\n}}\n`);
}

/** How a view differs from what was recorded; empty: not at all. */
export function differences(baseline: Baseline, name: string, view: View, fonts: string): string[] {
  const stored = baseline.views[name];
  if (stored === undefined) return ["was never recorded"];
  const isSameMachine = baseline.fonts === fonts;
  const moved = movedBoxes(stored.boxes, view.boxes, isSameMachine);
  // With other fonts, lines break elsewhere: only the frame is comparable.
  if (!isSameMachine) return moved;
  const blocks = inflateRawSync(Buffer.from(stored.blocks, "base64"));
  if (blocks.length !== view.blocks.length || stored.columns !== view.columns) return [...moved, "has another size"];
  const changed = [...blocks.keys()].filter((at) => Math.abs(blocks[at]! - view.blocks[at]!) > MAX_DIFFERENCE);
  return changed.length > MAX_BLOCKS ? [...moved, whereChanged(changed, view.columns)] : moved;
}

function movedBoxes(before: StoredView["boxes"], after: StoredView["boxes"], isSameMachine: boolean): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => isSameMachine || frame.has(name))
    .flatMap((name) => {
      const [old, next] = [before[name], after[name]];
      if (old === undefined || next === undefined) return [`${name} ${old === undefined ? "is new" : "is gone"}`];
      const compared = isSameMachine ? [0, 1, 2, 3] : [0, 2];
      const isMoved = compared.some((at) => Math.abs(old[at]! - next[at]!) > MAX_PIXELS);
      return isMoved ? [`${name} was at ${old.join(", ")} and is at ${next.join(", ")}`] : [];
    });
}

function whereChanged(changed: readonly number[], columns: number): string {
  const xs = changed.map((at) => at % columns);
  const ys = changed.map((at) => Math.floor(at / columns));
  const from = `${Math.min(...xs) * BLOCK}, ${Math.min(...ys) * BLOCK}`;
  const to = `${(Math.max(...xs) + 1) * BLOCK}, ${(Math.max(...ys) + 1) * BLOCK}`;
  return `${changed.length} of its blocks differ, between ${from} and ${to}`;
}
