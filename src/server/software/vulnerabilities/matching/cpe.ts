// Names and version ranges of NVD (CPE 2.3).

import { compareGeneric } from "../../../platform/versions/generic.ts";
import type { CpeRange, ProductRecord } from "../reference/records.ts";

/** The software as NVD describes it. */
export interface Target {
  readonly version: string;
  /** An edition such as `esr`; empty: none. */
  readonly edition: string;
  /** Our word for the system: darwin, windows, linux; empty: any. */
  readonly platform: string;
  /** Words of NVD for the system, or for the program that is extended. */
  readonly software: ReadonlySet<string>;
  /** Only ranges that name the target: those without one are about something else of the same name. */
  readonly needsTarget: boolean;
}

/** The version in which the range ends; null: unknown. Undefined: the target is not in the range. */
function endOf(range: CpeRange, target: Target): string | null | undefined {
  const [software, exact, from, after, upTo, before, edition = ""] = range;
  if (software === "" ? target.needsTarget : !target.software.has(software)) return undefined;
  if (edition === "-" ? target.edition !== "" : edition === "esr" && target.edition !== "esr") return undefined;
  const { version } = target;
  if (exact !== null) return compareGeneric(version, exact) === 0 && /\d/.test(exact) ? null : undefined;
  if (from !== null && compareGeneric(version, from) < 0) return undefined;
  if (after !== null && compareGeneric(version, after) <= 0) return undefined;
  if (upTo !== null && compareGeneric(version, upTo) > 0) return undefined;
  if (before !== null && compareGeneric(version, before) >= 0) return undefined;
  return before;
}

/** The version that resolves the vulnerability, null if none is known; undefined: the target is not vulnerable. */
export function resolvedIn(record: ProductRecord, target: Target): string | null | undefined {
  if (record.on !== undefined && target.platform !== "" && !record.on.includes(target.platform)) return undefined;
  let resolution: string | null | undefined;
  for (const range of record.ranges) {
    const end = endOf(range, target);
    if (end === undefined) continue;
    if (end !== null) return end;
    resolution = null;
  }
  return resolution;
}

/** Whether any range of the product is about such a target, whatever its version. */
export const isAbout = (record: ProductRecord, { software, needsTarget }: Target): boolean =>
  record.ranges.some(([target]) => (target === "" ? !needsTarget : software.has(target)));

const escaped = (text: string): string => text.replaceAll(/[^A-Za-z0-9._-]/g, "\\$&").replaceAll(" ", "_");

interface CpeName {
  readonly part: "a" | "o";
  readonly vendor: string;
  readonly product: string;
  readonly version: string;
  readonly edition?: string;
  readonly target?: string;
}

/** The formatted name, such as `cpe:2.3:a:mozilla:firefox:121.0:*:*:*:*:macos:*:*`. */
export function cpeName({ part, vendor, product, version, edition = "", target = "" }: CpeName): string {
  const any = (text: string) => (text === "" ? "*" : escaped(text.toLowerCase()));
  return `cpe:2.3:${part}:${any(vendor)}:${any(product)}:${any(version)}:*:*:*:${any(edition)}:${any(target)}:*:*`;
}
