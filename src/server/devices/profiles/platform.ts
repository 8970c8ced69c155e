// What a platform adds to profiles: how its files are read, which hosts may get them, and how they get there.

import type { Entry } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import type { Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { configurationProfiles, hostProfiles, PlatformName, ProfileKind } from "./tables.ts";

export type ProfileRow = RowOf<typeof configurationProfiles>;
export type HostProfileRow = RowOf<typeof hostProfiles>;

/** What is known of a file. */
export interface ReadProfile {
  /** First letter of its uuid. */
  readonly letter: string;
  readonly kind: ProfileKind;
  readonly name: string;
  readonly identifier: string;
}

export interface ProfileFile {
  readonly bytes: Uint8Array;
  /** The display name, if one was given; where the content has no name, it is the profile's. */
  readonly name: string | null;
}

/** A profile for one host, with the host's values in place of variables. */
export interface Delivery {
  readonly row: HostProfileRow;
  readonly profile: ProfileRow;
  readonly content: Uint8Array;
}

export interface TeamName {
  readonly team_id: number | null;
  readonly team_name: string | null;
}

/** By the id of the host's row: the command that was queued, or null if the platform needs none. */
export type QueuedCommands = ReadonlyMap<number, string | null>;

export interface ProfilePlatform {
  readonly name: PlatformName;
  /** Whether device management of the platform is turned on. */
  isOn(ctx: Pick<Context, "config">): Promise<boolean>;
  /** Null: the file is not one of this platform. Throws a 422 that names the reason for a file that is refused. */
  read(file: ProfileFile): ReadProfile | null;
  /**
   * Reads an activation of the profile's own, and returns its identifier. Throws a 422 that names the reason for one
   * that is refused. Absent: profiles of the platform have none.
   */
  readActivation?(activation: Uint8Array, profile: ReadProfile, field: string): string;
  /**
   * What tells profiles of the platform apart. A profile whose content has no identifier is known by its name, which
   * takes its place inside the server, but is not shown as one.
   */
  readonly identifiedBy: "content" | "name";
  /** A file that replaces a profile renames it. */
  readonly isNamedByFile?: true;
  /** The name of the file in downloads. */
  fileName(profile: Pick<ProfileRow, "name" | "kind">): string;
  /** The hosts that may get profiles of the platform. */
  readonly hosts: Predicate;
  /** Escapes a value that takes the place of a variable in the content. */
  escape(value: string, kind: ProfileKind): string;
  /** Devices ask for the certificates of a profile only after they have answered that they have it. */
  readonly enrollsLater?: true;
  /** Queue commands, in the caller's transaction. */
  install(inside: Context, deliveries: readonly Delivery[]): Promise<QueuedCommands>;
  remove(inside: Context, rows: readonly HostProfileRow[]): Promise<QueuedCommands>;
  created(profile: ProfileRow, team: TeamName): Entry;
  deleted(profile: ProfileRow, team: TeamName): Entry;
  /** Profiles of this kind were replaced as a whole. */
  edited(kind: ProfileKind, team: TeamName): Entry;
}

export const profilePlatforms = extensionPoint<ProfilePlatform>("platforms of profiles");

export function platformOf({ extensions }: Pick<Context, "extensions">, name: PlatformName): ProfilePlatform {
  const platform = extensions.named(profilePlatforms, name);
  if (!platform) throw new Error(`no platform of profiles is named ${name}`);
  return platform;
}
