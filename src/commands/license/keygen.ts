import { open, rm } from "node:fs/promises";
import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../../cli/base-command.ts";
import { CliError, failed, usage } from "../../cli/errors.ts";
import { oneLine } from "../../cli/topics/license.ts";

export default class LicenseKeygen extends BaseCommand {
  static override summary = "Make a key pair to issue license keys with.";
  static override description =
    "Writes two new files and never overwrites one. Keep the private key away from servers: whoever has it can issue licenses. " +
    "Servers need only the public key, as the setting license_public_key; the printed line is that setting for an environment file.";
  static override flags = {
    "private-key-file": Flags.string({
      summary: "File for the private key; only its owner can read it.",
      helpValue: "FILE",
      default: "license-private.pem",
    }),
    "public-key": Flags.string({
      summary: "File for the public key.",
      helpValue: "FILE",
      default: "license-public.pem",
    }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { flags } = await this.parse(LicenseKeygen);
    const [privateFile, publicFile] = [flags["private-key-file"], flags["public-key"]];
    if (privateFile === publicFile) throw usage("--private-key-file and --public-key must name two different files");
    const { makeLicenseKeyPair } = await import("../../license/issue.ts");
    const { privateKey, publicKey } = makeLicenseKeyPair();
    await writeNew(privateFile, privateKey, 0o600);
    await writeNew(publicFile, publicKey, 0o644).catch(async (error: unknown) => {
      // Delete the private key that was just written, because it is useless without its public key.
      await rm(privateFile, { force: true });
      throw error;
    });
    this.note(`wrote ${privateFile} (private: keep it secret) and ${publicFile}`);
    if (this.structured)
      return this.printOne({ private_key_file: privateFile, public_key_file: publicFile, public_key: publicKey });
    this.log(`SVC_LICENSE_PUBLIC_KEY=${oneLine(publicKey)}`);
  }
}

/** Fails if the file exists. */
async function writeNew(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, "wx", mode).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw failed(`${path} cannot be written (${error.code})`);
    throw new CliError(
      "conflict",
      `${path} already exists and is not overwritten`,
      "License keys that were signed with a lost private key cannot be renewed. Give other files to create a second pair.",
    );
  });
  try {
    // The process's umask may have removed permission bits; set them explicitly.
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
