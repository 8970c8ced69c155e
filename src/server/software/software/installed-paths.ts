// Where a host has a version. Most hosts have it at the same place, or at the same place below the home folder of their
// user, which is stored with the version. Hosts store only other places, and one home folder.
import type { InstalledDetails } from "./tables.ts";

const HOME = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root|[A-Za-z]:\\Users\\[^\\]+)(?=[/\\])/;
/** Stands for the home folder at the start of a usual path. */
const TILDE = "~";

/** What is stored with a version that a host has at this path; empty if there is nothing to assume of other hosts. */
export function usualPathOf(path: string | undefined): string {
  if (path === undefined || path.startsWith(TILDE)) return "";
  const home = HOME.exec(path)?.[0];
  return home === undefined ? path : TILDE + path.slice(home.length);
}

/** Remembers the home folders in the paths of one host, so that all paths of one user are searched for one only once. */
export class HomeFolders {
  readonly #homes = new Set<string>();
  #last = "";

  note(path: string | undefined, usualPath: string): void {
    if (path === undefined || !usualPath.startsWith(TILDE)) return;
    if (path.length === this.#last.length + usualPath.length - 1 && path.startsWith(this.#last)) return;
    const home = HOME.exec(path)?.[0];
    if (home === undefined) return;
    this.#last = home;
    this.#homes.add(home);
  }

  /** One of the paths: the one before, as long as the host has it. */
  chosen(before: string): string {
    return this.#homes.has(before) ? before : ([...this.#homes].sort()[0] ?? "");
  }
}

/** The only path that a host does not have to store; null if it assumes none. */
function assumed(usualPath: string, home: string): string | null {
  if (!usualPath.startsWith(TILDE)) return usualPath === "" ? null : usualPath;
  return home === "" ? null : home + usualPath.slice(TILDE.length);
}

/** Whether `installedPaths` gives these paths for a host that stores none of its own. */
export function isUsual(paths: readonly string[], usualPath: string, home: string): boolean {
  const path = assumed(usualPath, home);
  return path === null ? paths.length === 0 : paths.length === 1 && paths[0] === path;
}

/** `detail` is what the host stores about the version, `home` the home folder that it stores. */
export function installedPaths(
  detail: InstalledDetails[string] | undefined,
  usualPath: string,
  home: string,
): readonly string[] {
  if (detail?.[1] !== undefined) return detail[1];
  const path = assumed(usualPath, home);
  return path === null ? [] : [path];
}
