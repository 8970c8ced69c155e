import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../../cli/base-command.ts";
import { failed } from "../../cli/errors.ts";
import { textOf } from "../../cli/files/file-errors.ts";
import { readText } from "../../cli/files/input.ts";
import { args } from "../../cli/flags.ts";
import { hasExpired } from "../../cli/topics/license.ts";

export default class LicenseVerify extends BaseCommand {
  static override summary = "Check a license key, without a server or a network.";
  static override description =
    "Prints the license in the key. Exit code 1 if the key is not signed with the public key's private key, has expired, or is not valid yet.";
  static override args = { file: args.required("file with the key; - is stdin") };
  static override flags = {
    "public-key": Flags.string({
      summary:
        "File with the public key (PEM) to verify with, instead of the built-in one. Env: SVC_LICENSE_PUBLIC_KEY, the key itself.",
      helpValue: "FILE",
    }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> license.txt --public-key license.pem"];

  async run() {
    const { args, flags } = await this.parse(LicenseVerify);
    const token = (await readText(this.io, args.file, "FILE")).trim();
    const { LicenseError, verifyLicense } = await import("../../license/license.ts");
    const { license, validFrom } = await verifyLicense(token, await this.#publicKey(flags["public-key"])).catch(
      (error: unknown) => {
        if (!(error instanceof LicenseError)) throw error;
        throw failed(`the ${error.of} ${error.message}`);
      },
    );
    const now = this.io.now();
    const expired = hasExpired(license, now);
    const early = validFrom !== null && Date.parse(validFrom) > now.getTime();
    await this.printOne({ ...license, valid_from: validFrom, expired, valid: !expired && !early });
    if (expired) throw failed(`the license expired on ${license.expiration.slice(0, 10)}`);
    if (early) throw failed(`the license is valid only from ${validFrom}`);
  }

  async #publicKey(file: string | undefined): Promise<string | undefined> {
    if (file === undefined) return this.io.env.SVC_LICENSE_PUBLIC_KEY || undefined;
    return textOf(file, "--public-key");
  }
}
