// What commands for configuration profiles share.

import * as Flags from "@oclif/core/flags";
import { ConfigurationProfile, profilesApi, type StatusCounts } from "../../../api/devices/profiles.ts";
import { plural } from "../../../text/plural.ts";
import type { ClientCommand } from "../../client-command.ts";
import { CliError, notFound } from "../../errors.ts";
import { uploadSource } from "../../files/upload.ts";
import { args, listOf } from "../../flags.ts";
import type { View } from "../../output/output.ts";
import { waitFor } from "../../wait.ts";

export const profileTeamFlag = {
  team: Flags.string({ summary: "Name or id of the team. Default: hosts without a team.", helpValue: "TEAM" }),
};
export const profileArg = args.required("uuid, or name within the team, of the profile");

export const activationFlag = {
  activation: Flags.string({
    summary: "File with an activation of the declaration's own, in place of the one that the server makes.",
    helpValue: "FILE",
  }),
};

const labels = (summary: string) => Flags.string({ summary, helpValue: "NAME", multiple: true });
export const labelFlags = {
  "labels-include-all": labels("Only hosts with all of these labels."),
  "labels-include-any": labels("Only hosts with one of these labels."),
  "labels-exclude-any": labels("No hosts with one of these labels."),
};

/** The lists of labels that were given. */
export function labelsOf(flags: { readonly [K in keyof typeof labelFlags]?: readonly string[] | undefined }) {
  const list = (values: readonly string[] | undefined) => (values === undefined ? undefined : listOf(values));
  const scope = {
    labels_include_all: list(flags["labels-include-all"]),
    labels_include_any: list(flags["labels-include-any"]),
    labels_exclude_any: list(flags["labels-exclude-any"]),
  };
  return Object.fromEntries(Object.entries(scope).filter(([, names]) => names !== undefined));
}

export const profileView: View = {
  schema: () => ConfigurationProfile,
  columns: [
    { key: "profile_uuid", header: "uuid" },
    { key: "name" },
    { key: "platform" },
    { key: "identifier", spare: 1 },
    { key: "uploaded_at", header: "uploaded" },
  ],
};

const UUID = /^[a-z][0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const READS_WITHOUT_HOSTS = 5;

/** Finds a profile by uuid in any team, or by name within the given team. */
export async function findProfile(
  command: ClientCommand,
  text: string,
  team: string | undefined,
): Promise<ConfigurationProfile> {
  const { profiles } = await command.call(profilesApi.list, { query: await command.teamFilter(team) });
  const named = profiles.find(({ profile_uuid, name }) => profile_uuid === text || name === text);
  if (named) return named;
  if (UUID.test(text)) return profileWith(command, text);
  throw notFound(
    `there is no configuration profile ${text}${team === undefined ? " for hosts without a team" : " of that team"}`,
    "`svc mdm profiles list` shows them; a team's need --team.",
  );
}

/** The part of the form, if the file was given. */
export async function activationPart(command: ClientCommand, file: string | undefined) {
  return file === undefined ? {} : { activation: await uploadSource(command.io, file, "--activation") };
}

/**
 * Waits until the profile is verified, or has failed, on each host that it is for. Returns a message with the counts,
 * and the counts. Fails with exit code 6 if the profile failed on some hosts.
 */
export async function waitForDelivery(
  command: ClientCommand,
  profile_uuid: string,
  timeout: string,
): Promise<[message: string, counts: StatusCounts]> {
  const read = () => command.call(profilesApi.status, { params: { profile_uuid } });
  let counts = await read();
  let emptyReads = 0;
  const done = async () => {
    counts = await read();
    const hosts = counts.verified + counts.verifying + counts.pending + counts.failed;
    // The server finds the hosts of a new profile shortly after the upload.
    if (hosts === 0) return ++emptyReads >= READS_WITHOUT_HOSTS;
    return counts.verifying + counts.pending === 0;
  };
  const progress = command.progress("waiting for the hosts ...");
  const waiting = () => plural(counts.pending + counts.verifying, "host");
  try {
    await waitFor(command.io, command.stop.signal, {
      timeout,
      done,
      going: () => ({
        what: `${waiting()} had not confirmed the profile`,
        hint: `It stays assigned: \`svc mdm profiles status ${profile_uuid}\` counts the hosts.`,
      }),
    });
  } finally {
    progress.done();
  }
  if (counts.failed > 0)
    throw new CliError(
      "partial",
      `the profile failed on ${plural(counts.failed, "host")}, and is verified on ${counts.verified}`,
      `\`svc hosts list --profile-uuid ${profile_uuid} --profile-status failed\` lists them; \`svc hosts profiles HOST\` shows the reason.`,
    );
  const verified = `verified on ${plural(counts.verified, "host")}`;
  return [counts.verified === 0 ? "no hosts need command profile now" : verified, counts];
}

async function profileWith(command: ClientCommand, profile_uuid: string): Promise<ConfigurationProfile> {
  return ConfigurationProfile.parse(await command.call(profilesApi.get, { params: { profile_uuid } }));
}
