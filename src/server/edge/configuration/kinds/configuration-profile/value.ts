import { z } from "zod";
import { ProfilePlatform } from "../../../../../api/devices/profiles.ts";
import { deletedLabel } from "../../../../../api/edge/configuration.ts";
import { LabelNames } from "../../../../../api/hosts/label-scope.ts";
import type { ProfileRow } from "../../../../devices/profiles/platform.ts";
import type { Upload } from "../../../../devices/profiles/rules.ts";
import type { ProfileLabel } from "../../../../devices/profiles/scope.ts";
import type { LabelRule } from "../../../../hosts/labels/targeting.ts";
import type { Context } from "../../../../platform/core/context.ts";
import type { RequestedChange } from "../../changes.ts";
import { parsed } from "../../parse.ts";
import { ownersOf, type SharedRows } from "../../shared-rows.ts";
import type { Contents, Texts, Thing } from "../../values.ts";

/** The content only by its digest: plans compare it, and need not show it. */
const ProfileValue = z.strictObject({
  platform: ProfilePlatform,
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 digest in hex" }),
  activation_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 digest in hex" })
    .nullable()
    .default(null),
  labels_include_all: LabelNames.optional(),
  labels_include_any: LabelNames.optional(),
  labels_exclude_any: LabelNames.optional(),
});
type ProfileValue = z.output<typeof ProfileValue>;

const whole = ({ platform, sha256, activation_sha256, ...labels }: ProfileValue) => {
  const names = (labelNames: readonly string[] | undefined) =>
    [...new Set(labelNames?.map((name) => name.normalize("NFC").trim()))].sort();
  return {
    platform,
    sha256,
    activation_sha256,
    labels_include_all: names(labels.labels_include_all),
    labels_include_any: names(labels.labels_include_any),
    labels_exclude_any: names(labels.labels_exclude_any),
  };
};

export interface DesiredProfile {
  readonly value: ReturnType<typeof whole>;
  /** Undefined if the request does not contain it: then the profile keeps its content. */
  readonly content: Uint8Array | undefined;
  /** Activation of the profile; undefined: not read. Null: it has none of its own. */
  readonly activation: Uint8Array | null | undefined;
}

/** The uploads of the changes that have a content, by the index of the change. */
export type ProfileUploads = ReadonlyMap<number, Upload>;

export interface ProfileRows {
  readonly profiles: readonly ProfileRow[];
  readonly labels: ReadonlyMap<number, readonly ProfileLabel[]>;
  /** The activations of their own, by the profiles' ids. */
  readonly activations: ReadonlyMap<number, Activation>;
}

export interface Activation {
  readonly sha256: string;
  readonly content: Buffer;
}

export function* profileThings({ profiles, labels, activations }: ProfileRows, shared: SharedRows): Generator<Thing> {
  const ownerOf = ownersOf(shared);
  const present = new Map(shared.labels.map(({ id, name }) => [id, name]));
  for (const row of profiles) {
    const owner = ownerOf(row);
    if (owner === undefined) continue;
    // A deleted label still keeps the profile from hosts: its name differs from every label's, so that files can
    // correct it.
    const named = (rule: LabelRule) =>
      (labels.get(row.id) ?? [])
        .filter((label) => label.rule === rule)
        .map(({ label_id, name }) => (label_id === null ? deletedLabel(name) : (present.get(label_id) ?? name)));
    const value = whole({
      platform: row.platform,
      sha256: row.checksum,
      activation_sha256: activations.get(row.id)?.sha256 ?? null,
      labels_include_all: named("include_all"),
      labels_include_any: named("include_any"),
      labels_exclude_any: named("exclude_any"),
    });
    yield { kind: "configuration_profile", owner, name: row.name, value };
  }
}

export function readProfile(_: Context, { value }: RequestedChange, _texts: Texts, contents: Contents): DesiredProfile {
  const input = whole(parsed(ProfileValue, value));
  const { sha256, activation_sha256: activation } = input;
  return {
    value: input,
    content: contents.get(sha256),
    activation: activation === null ? null : contents.get(activation),
  };
}
