import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../../cli/base-command.ts";
import { dataDirOf, namedPlace, placeFlags, placeOf } from "../../cli/data-places.ts";
import { usage } from "../../cli/errors.ts";
import { readSecret, secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { countSecrets, rotateKeyOf } from "../../server/data-tools.ts";
import { plural } from "../../text/plural.ts";

export default class DbRotateKey extends BaseCommand {
  static override summary = "Encrypt all stored secrets with another server key.";
  static override description =
    "No server may run during the rotation. An interrupted rotation continues when the command is run again; until it is complete, servers " +
    "do not start. server.key in the data directory is replaced; a key in SVC_SERVER_PRIVATE_KEY must be replaced by you. " +
    "Earlier backups need the old key: keep it for them (--keep-old-key leaves it as server.key.old).";
  static override examples = ["<%= config.bin %> <%= command.id %> --generate --data-dir ./data --yes"];
  static override flags = {
    ...placeFlags,
    generate: Flags.boolean({ summary: "Generate the new key.", exclusive: ["new-key-file", "new-key-stdin"] }),
    ...secretFlags("new-key", "the new key (32 bytes, base64)"),
    "keep-old-key": Flags.boolean({ summary: "Keep the old key as server.key.old." }),
    ...yesFlag,
    ...dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(DbRotateKey);
    const newKey = await readSecret(this.io, flags, "new-key");
    if (newKey === undefined && !flags.generate)
      throw usage("no key is given", "Give --generate, --new-key-file or --new-key-stdin.");
    const place = placeOf(this, flags);
    const where = { place, dataDir: dataDirOf(this, flags), env: this.io.env };
    if (flags["dry-run"]) {
      const secrets = await countSecrets(where);
      return this.printPlan(`encrypt ${plural(secrets, "secret")} in ${namedPlace(place)} with another key`, {
        secrets,
      });
    }
    await this.confirm(`Encrypt all secrets in ${namedPlace(place)} with another key? No server may run during this.`);
    const progress = this.progress("sealing ...");
    const options = { newKey: newKey ?? null, keepOld: flags["keep-old-key"] };
    const done = await rotateKeyOf(where, options, ({ table, sealed }) =>
      progress.update(`${table}: ${sealed} encrypted`),
    ).finally(() => progress.done());
    const summary =
      done.from === done.to
        ? `nothing to do: everything is encrypted with key ${done.to}`
        : `${plural(done.sealed, "secret")} encrypted again: key ${done.to} replaces key ${done.from}`;
    await this.report(summary, done);
    if (!done.file) this.note("set SVC_SERVER_PRIVATE_KEY to the new key before a server starts");
    else if (place !== where.dataDir) this.note("servers with data directories of their own need this server.key too");
  }
}
