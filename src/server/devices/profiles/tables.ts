import type { LabelRule } from "../../hosts/labels/targeting.ts";
import { bool, id, idOf, int, packed, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly configurationProfiles: typeof configurationProfiles;
    readonly profileContents: typeof profileContents;
    readonly profileLabels: typeof profileLabels;
    readonly hostProfiles: typeof hostProfiles;
    readonly profileChallenges: typeof profileChallenges;
  }
}

export type PlatformName = "darwin" | "windows" | "android";
export type ProfileKind = "profile" | "declaration";

export const configurationProfiles = table(
  "configuration_profiles",
  {
    id: id(),
    /** The first letter names the format. */
    uuid: text().unique(),
    team_id: ref("teams").nullable().onDelete("cascade"),
    platform: text<PlatformName>(),
    kind: text<ProfileKind>(),
    name: text(),
    /** What the device calls it. Where devices know no identifiers, it is the name. */
    identifier: text(),
    /** SHA-256 of the content, hexadecimal. */
    checksum: text(),
    /** Identifier of the profile's own activation, if it has one. */
    activation_identifier: text().nullable(),
    /** Made by the server, which changes and removes it as settings demand. */
    is_own: bool().default(false),
    /** Platform of the only hosts, among those that the profile's platform manages, that get it. Null: all. */
    host_platform: text().nullable(),
    /** Whether the content differs from host to host. */
    has_variables: bool().default(false),
    created_at: time(),
    /** When anything of it was changed. */
    updated_at: time(),
    /** When the content was changed. */
    uploaded_at: time(),
  },
  {
    unique: [
      ["team_id", "name"],
      ["team_id", "platform", "identifier"],
    ],
  },
);

/** Files of profiles, base64: apart from the rows, because lists do not read them. */
export const profileContents = table("profile_contents", {
  id: idOf("configuration_profiles"),
  content: packed<string>(),
  activation: packed<string>().nullable(),
});

/** The labels that limit a profile. A deleted label stays, without its id: the profile is not applied to more hosts. */
export const profileLabels = table(
  "profile_labels",
  {
    id: id(),
    profile_id: ref("configuration_profiles"),
    label_id: ref("labels").nullable(),
    name: text(),
    rule: text<LabelRule>(),
  },
  { unique: [["profile_id", "rule", "name"]] },
);

export type ProfileStatus = "verified" | "verifying" | "pending" | "failed";

/** A configuration profile on one host. It outlives the profile itself until the host has removed it. */
export const hostProfiles = table(
  "host_profiles",
  {
    id: id(),
    host_id: ref("hosts"),
    profile_uuid: text().index(),
    platform: text<PlatformName>(),
    kind: text<ProfileKind>().default("profile"),
    name: text(),
    identifier: text().default(""),
    operation_type: text<"install" | "remove">(),
    /** Null: the operation is still to be queued. Users see that as pending. */
    status: text<ProfileStatus>().nullable().index(),
    scope: text().default(""),
    managed_local_account: text().default(""),
    detail: text().default(""),
    /** How often the operation was repeated after an error, or because the profile was missing in a report. */
    retries: int().default(0),
    /** The command that installs or removes it. */
    command_uuid: text().nullable().index(),
    /** The profile's checksum when this row was last reset. */
    checksum: text().default(""),
    /** Digest of the values that replaced the variables; empty without variables. */
    variables: text().default(""),
    /** An installation that is older than this is one of earlier content. */
    installed_after: time().nullable(),
  },
  { unique: [["host_id", "profile_uuid"]] },
);

/** How a host enrolls a certificate through the SCEP proxy with what a profile on it says. */
export const profileChallenges = table(
  "profile_challenges",
  {
    id: id(),
    host_id: ref("hosts"),
    profile_uuid: text(),
    ca_id: ref("certificate_authorities"),
    /** The address of the proxy, which contains the secret. */
    url: text().secret(),
    secret_hash: text().unique(),
    /** Whether a request for a certificate was passed on. */
    used: bool().default(false),
    /** What the authority has given for this one certificate: a challenge, or the key with its certificate. JSON. */
    requested: text().secret().nullable(),
    requested_at: time().nullable(),
    /** When the certificate that the profile contains has to be replaced. */
    renew_at: time().nullable(),
  },
  { unique: [["host_id", "profile_uuid", "ca_id"]] },
);
