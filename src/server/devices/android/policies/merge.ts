// One policy from the profiles of a host. Pure functions.
import { basePolicy } from "./base.ts";

export interface PolicyProfile {
  readonly id: number;
  readonly name: string;
  /** A JSON object. */
  readonly content: string;
}

export interface MergedPolicy {
  readonly policy: Readonly<Record<string, unknown>>;
  /** The settings of each profile, by its id, without those that another profile has replaced. */
  readonly settings: ReadonlyMap<number, readonly string[]>;
  /** By the id of a profile: its settings that another one has replaced, with the other's name. */
  readonly replaced: ReadonlyMap<number, ReadonlyMap<string, string>>;
}

/** Merges profiles. If several contain the same setting, the later one in the list decides. */
export function mergeProfiles(profiles: readonly PolicyProfile[]): MergedPolicy {
  const policy: Record<string, unknown> = {};
  const owner = new Map<string, PolicyProfile>();
  const replaced = new Map<number, Map<string, string>>();
  for (const profile of profiles)
    for (const [setting, value] of Object.entries(JSON.parse(profile.content) as Record<string, unknown>)) {
      const before = owner.get(setting);
      if (before) {
        const lost = replaced.get(before.id) ?? new Map<string, string>();
        replaced.set(before.id, lost.set(setting, profile.name));
      }
      owner.set(setting, profile);
      policy[setting] = value;
    }
  const settings = new Map<number, string[]>(profiles.map(({ id }) => [id, []]));
  for (const [setting, { id }] of owner) settings.get(id)!.push(setting);
  return { policy: { ...policy, ...basePolicy }, settings, replaced };
}
