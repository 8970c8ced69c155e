// Commands that work directly on stored data, without a server: where the data is.

import * as Flags from "@oclif/core/flags";
import type { BaseCommand } from "./base-command.ts";

export const placeFlags = {
  "data-dir": Flags.string({
    summary: "Data directory of the server. Env: SVC_DATA_DIR. Default: ./data.",
    helpValue: "DIR",
  }),
  "database-url": Flags.string({
    summary: "URL of the Postgres database, if the server uses one. Env: SVC_DATABASE_URL.",
    helpValue: "URL",
  }),
};

export const blobsFlag = {
  "blobs-url": Flags.string({
    summary: "Bucket of uploaded files (s3://...), if the server uses one. Env: SVC_BLOBS_URL.",
    helpValue: "URL",
  }),
};

/** The data directory from the flags or the environment. */
export function dataDirOf(command: BaseCommand, flags: { "data-dir"?: string | undefined }): string {
  return flags["data-dir"] ?? command.io.env.SVC_DATA_DIR ?? "./data";
}

/** The database from the flags or the environment if one is named, otherwise the data directory. */
export function placeOf(
  command: BaseCommand,
  flags: { "data-dir"?: string | undefined; "database-url"?: string | undefined },
): string {
  if (flags["database-url"] !== undefined) return flags["database-url"];
  if (flags["data-dir"] !== undefined) return flags["data-dir"];
  return command.io.env.SVC_DATABASE_URL || dataDirOf(command, flags);
}

/** The bucket of the blobs from the flags or the environment; undefined: the folder in the data directory. */
export function blobsOf(command: BaseCommand, flags: { "blobs-url"?: string | undefined }): string | undefined {
  return flags["blobs-url"] ?? (command.io.env.SVC_BLOBS_URL || undefined);
}

/** A Postgres URL without its password, for messages. */
export function namedPlace(place: string): string {
  if (!URL.canParse(place) || !place.startsWith("postgres")) return place;
  const url = new URL(place);
  if (url.password !== "") url.password = "***";
  return url.toString();
}
