import { mix, Random } from "../random.ts";
import { CATALOG, type CatalogName, type Package } from "./catalog.ts";
import type { Machine } from "./machine.ts";
import type { Packages } from "./platforms.ts";

/** The shares of a host's software by catalogue. */
const SHARES: Record<Packages, Partial<Record<CatalogName, number>>> = {
  apps: { apps: 0.45, homebrew: 0.2, chrome: 0.12, python: 0.1, npm: 0.05, firefox: 0.04, vscode: 0.04 },
  programs: { programs: 0.55, chrome: 0.2, python: 0.1, npm: 0.05, firefox: 0.05, vscode: 0.05 },
  deb: { unix: 0.8, python: 0.1, npm: 0.04, chrome: 0.03, firefox: 0.02, vscode: 0.01 },
  rpm: { unix: 0.8, python: 0.1, npm: 0.04, chrome: 0.03, firefox: 0.02, vscode: 0.01 },
  portage: { unix: 0.9, python: 0.1 },
  none: { python: 0.5, npm: 0.3, chrome: 0.1, vscode: 0.1 },
};

/**
 * A host's items of one catalogue: a range of the shared template (so that hosts have most items in common), one item
 * of its own, and for each change so far one item that is moved to its newer version or back.
 */
export function softwareOf(machine: Machine, catalog: CatalogName, changes: number): Package[] {
  const pool = CATALOG[catalog];
  const share = SHARES[machine.platform.packages][catalog] ?? 0;
  const count = Math.round(machine.softwarePerHost * share);
  if (count === 0) return [];
  const random = machine.random(100 + pool.length);
  const outdated = random.chance(0.3) ? 0.3 : 0.05;
  const items: Package[] = [];
  for (let i = 0; i < count; i++) {
    const base = pool[i % pool.length] as Package;
    const round = Math.floor(i / pool.length);
    const name = round === 0 ? base.name : `${base.name}-${round + 1}`;
    items.push({ ...base, name, version: random.chance(outdated) ? base.previous : base.version });
  }
  const ownTool = `${machine.owner}-tool-${(machine.seed % 100_000).toString(36)}`;
  items[items.length - 1] = { ...(items.at(-1) as Package), name: ownTool, version: "1.0.0" };
  for (let change = 1; change <= changes; change++) applyChange(items, mix(machine.seed, change, pool.length));
  return items;
}

function applyChange(items: Package[], seed: number): void {
  const random = new Random(seed);
  const at = random.int(0, items.length - 1);
  const item = items[at] as Package;
  items[at] = { ...item, version: item.version === item.previous ? nextOf(item) : item.previous };
}

function nextOf(item: Package): string {
  const [major, minor, patch] = item.previous.split(".").map(Number) as [number, number, number];
  return `${major}.${minor}.${patch + 1}`;
}
