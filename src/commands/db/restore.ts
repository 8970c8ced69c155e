import * as Args from "@oclif/core/args";
import { BaseCommand } from "../../cli/base-command.ts";
import { blobsFlag, blobsOf, dataDirOf, placeFlags, placeOf } from "../../cli/data-places.ts";
import { failed } from "../../cli/errors.ts";
import { readSecret, readText, secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { checkRestore, keyForRestore, restoreData } from "../../server/data-tools.ts";
import { readServerKey } from "../../server/platform/core/security/server-key.ts";
import { plural } from "../../text/plural.ts";

export default class DbRestore extends BaseCommand {
  static override summary = "Restore a backup to an empty store.";
  static override description =
    "The whole backup is read and checked before anything is written, and the restored data is compared with it. It needs the server key that the " +
    "backup was made with (server.key of that server): from --server-key-file, which is copied into the data directory, from a server.key that " +
    "exists there, or from SVC_SERVER_PRIVATE_KEY.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> svc-backup.gz --data-dir ./restored --server-key-file svc-server.key",
  ];
  static override args = { file: Args.string({ required: true, description: "file made by db backup" }) };
  static override flags = {
    ...placeFlags,
    ...blobsFlag,
    ...secretFlags("server-key", "the server key that the backup was made with"),
    ...dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DbRestore);
    const place = {
      place: placeOf(this, flags),
      dataDir: dataDirOf(this, flags),
      blobs: blobsOf(this, flags),
      env: this.io.env,
    };
    const serverKey = await readSecret(this.io, flags, "server-key");
    const text = serverKey ?? (await this.#askForKey(place, args.file));
    const where = text === undefined ? place : { ...place, key: readServerKey(text, "the server key") };
    if (flags["dry-run"]) {
      const checked = await checkRestore(where, args.file);
      return this.report(
        `would restore ${plural(checked.rows, "row")} of ${checked.created_at}: the backup is intact`,
        checked,
      );
    }
    const progress = this.progress("checking the backup ...");
    const restored = await restoreData(where, args.file, ({ table, rows }) =>
      progress.update(`${table}: ${rows}`),
    ).finally(() => progress.done());
    await this.report(
      `restored ${plural(restored.rows, "row")} and ${plural(restored.blobs, "blob")} of ${restored.created_at}`,
      restored,
    );
  }

  /** Checked first, because nothing can be restored without the backup's key. */
  async #askForKey(where: Parameters<typeof keyForRestore>[0], file: string): Promise<string | undefined> {
    const { keyId, isMissing } = await keyForRestore(where, file);
    if (!isMissing) return undefined;
    const what = `The secrets in ${file} are encrypted with server key ${keyId}`;
    if (!this.interactive)
      throw failed(
        `${what}, and there is no server key here; nothing was written`,
        "Copy server.key from the data directory of the server that was backed up, and give it as --server-key-file FILE (or its content as SVC_SERVER_PRIVATE_KEY).",
      );
    this.note(`${what}: it is in server.key in the data directory of the server that was backed up.`);
    return readText(this.io, await this.askText("File with that key?", "--server-key-file"), "--server-key-file");
  }
}
