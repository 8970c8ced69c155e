// The base of commands that work on data where it lies, without a server.
import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "./base-command.ts";

export const placeFlags = {
  "data-dir": Flags.string({
    summary: "Data directory of the server. Env: SVC_DATA_DIR. Default: ./data.",
    helpValue: "DIR",
  }),
  "database-url": Flags.string({
    summary: "Postgres, when the server uses one. Env: SVC_DATABASE_URL.",
    helpValue: "URL",
  }),
};

export abstract class DataCommand extends BaseCommand {
  /** The data directory that flags and environment name. */
  protected dataDir(flags: { "data-dir"?: string | undefined }): string {
    return flags["data-dir"] ?? this.io.env.SVC_DATA_DIR ?? "./data";
  }

  /** The place that flags and environment name: a database where one is named, else the data directory. */
  protected place(flags: { "data-dir"?: string | undefined; "database-url"?: string | undefined }): string {
    if (flags["database-url"] !== undefined) return flags["database-url"];
    if (flags["data-dir"] !== undefined) return flags["data-dir"];
    return this.io.env.SVC_DATABASE_URL || this.dataDir(flags);
  }

  /** A postgres URL without its password, for messages. */
  protected named(place: string): string {
    if (!URL.canParse(place) || !place.startsWith("postgres")) return place;
    const url = new URL(place);
    if (url.password !== "") url.password = "***";
    return url.toString();
  }
}
