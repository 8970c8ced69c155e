// How much software one host may add: titles and versions are rows for all hosts, so a host that reports new names each
// time would fill the store.
import type { Services } from "../../platform/core/context.ts";
import { limit } from "../../platform/core/limits.ts";
import { grant, hostLimit } from "../../platform/host-limits/usage.ts";
import type { ReportedVersion, SoftwareEntry, StoredVersion } from "./reported-rows/read.ts";

export const ADDED_SOFTWARE = hostLimit("added_software", {
  what: "software that is new on a host: for each version about a kilobyte and its texts, a fifth of a kilobyte if it is known from other hosts",
  max: 12 * 1024 * 1024,
  unit: "bytes",
  period: 24 * 3_600_000,
  beyond: "Further new entries are left out until a later report.",
});
export const ENTRIES = limit({
  what: "software of a host",
  max: 10_000,
  unit: "entries",
  per: "host",
  beyond: "Further entries are left out.",
});
export const PATHS = limit({
  what: "paths of one software version on a host",
  max: 32,
  unit: "entries",
  beyond: "Further paths are left out.",
});
export const PATH_TEXT = limit({
  what: "paths of all software of a host that differ from the usual ones",
  max: 1024 * 1024,
  unit: "characters",
  per: "host",
  beyond: "Further paths are left out.",
});

/** What the rows of a new version need, without its texts: the version, its title, and their counts in two scopes. */
const NEW_VERSION_BYTES = 1_000;
/** The counts of a version and its title in the scope of a team. */
const KNOWN_VERSION_BYTES = 200;
/** The name is in the rows of version, title and counts, and in the indexes by which it is found. */
const COPIES_OF_NAME = 12;

const charactersOf = ({ software }: ReportedVersion): number =>
  Object.values(software).reduce(
    (sum: number, value: string) => sum + value.length,
    COPIES_OF_NAME * software.name.length,
  );

const bytesOf = ({ version, installed_paths }: SoftwareEntry, isStored: boolean): number =>
  isStored ? KNOWN_VERSION_BYTES : NEW_VERSION_BYTES + charactersOf(version) + (installed_paths[0]?.length ?? 0);

interface HostAdditions {
  readonly hostId: number;
  /** The versions that the host has. */
  readonly had: ReadonlySet<number>;
  readonly entries: readonly SoftwareEntry[];
  readonly stored: readonly (StoredVersion | undefined)[];
}

interface AdmittedEntries {
  readonly entries: readonly SoftwareEntry[];
  readonly stored: readonly (StoredVersion | undefined)[];
  /** Whether entries were left out. */
  readonly isPartial: boolean;
}

/** The entries of each host that its limit admits. Those that it had cost nothing. */
export async function admitEntries(
  services: Pick<Services, "store" | "clock" | "log" | "metrics">,
  hosts: readonly HostAdditions[],
): Promise<AdmittedEntries[]> {
  const costs = hosts.map(({ had, entries, stored }) =>
    entries.map((entry, i) => {
      const version = stored[i];
      return version && had.has(version.id) ? 0 : bytesOf(entry, version !== undefined);
    }),
  );
  const sums = costs.map((all) => all.reduce((sum, cost) => sum + cost, 0));
  const granted = await grant(services, ADDED_SOFTWARE, new Map(hosts.map(({ hostId }, i) => [hostId, sums[i]!])), {
    lock: true,
  });
  return hosts.map(({ hostId, entries, stored }, i) => {
    let room = granted.get(hostId) ?? 0;
    if (room >= sums[i]!) return { entries, stored, isPartial: false };
    const places = [...entries.keys()].filter((place) => {
      const cost = costs[i]![place]!;
      if (cost > room) return false;
      room -= cost;
      return true;
    });
    return {
      entries: places.map((place) => entries[place]!),
      stored: places.map((place) => stored[place]),
      isPartial: true,
    };
  });
}

/** Leaves out paths beyond the limit for all software of a host. */
export class PathRoom {
  #charactersLeft = PATH_TEXT.max;

  fit(paths: readonly string[]): readonly string[] {
    return paths.filter((path) => {
      if (path.length > this.#charactersLeft) return false;
      this.#charactersLeft -= path.length;
      return true;
    });
  }
}
