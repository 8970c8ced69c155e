// The base class of commands that work directly on stored data, without a server.
import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "./base-command.ts";

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

export abstract class DataCommand extends BaseCommand {
  /** The data directory from the flags or the environment. */
  protected dataDir(flags: { "data-dir"?: string | undefined }): string {
    return flags["data-dir"] ?? this.io.env.SVC_DATA_DIR ?? "./data";
  }

  /** The database from the flags or the environment if one is named, otherwise the data directory. */
  protected place(flags: { "data-dir"?: string | undefined; "database-url"?: string | undefined }): string {
    if (flags["database-url"] !== undefined) return flags["database-url"];
    if (flags["data-dir"] !== undefined) return flags["data-dir"];
    return this.io.env.SVC_DATABASE_URL || this.dataDir(flags);
  }

  /** The bucket of the blobs from the flags or the environment; undefined: the folder in the data directory. */
  protected blobs(flags: { "blobs-url"?: string | undefined }): string | undefined {
    return flags["blobs-url"] ?? (this.io.env.SVC_BLOBS_URL || undefined);
  }

  /** A Postgres URL without its password, for messages. */
  protected named(place: string): string {
    if (!URL.canParse(place) || !place.startsWith("postgres")) return place;
    const url = new URL(place);
    if (url.password !== "") url.password = "***";
    return url.toString();
  }
}
