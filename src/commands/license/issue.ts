import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../../cli/base-command.ts";
import { failed, usage } from "../../cli/errors.ts";
import { readSecret, secretFlags } from "../../cli/files/input.ts";
import { isExposed } from "../../cli/files/private-file.ts";
import { durationMs } from "../../cli/output/text.ts";
import { plural } from "../../text/plural.ts";

const LONGEST_NOTE = 1000;

export default class LicenseIssue extends BaseCommand {
  static override summary = "Issue a license key for the premium tier, signed with your own private key.";
  static override description =
    "Prints the key on stdout; it is the setting SVC_LICENSE_KEY of servers whose SVC_LICENSE_PUBLIC_KEY is the public key of the same " +
    "pair (svc license keygen). No server or network is needed. The key cannot be revoked: it is valid until it expires.";
  static override flags = {
    ...secretFlags("private-key", "the private key (PEM; Ed25519 or P-256)"),
    organization: Flags.string({ summary: "Organization that the license is for.", helpValue: "NAME", required: true }),
    devices: Flags.integer({ summary: "Number of hosts that the license is for.", min: 0, required: true }),
    "expires-in": Flags.string({
      summary: "How long the license is valid, counted from now. Default: 365d.",
      helpValue: "TIME",
      exclusive: ["expires-at"],
    }),
    "expires-at": Flags.string({ summary: "When the license expires.", helpValue: "ISO-TIME" }),
    "valid-from": Flags.string({ summary: "When the license begins. Default: immediately.", helpValue: "ISO-TIME" }),
    note: Flags.string({ summary: "A remark that `svc license show` displays." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --private-key-file license-private.pem --organization 'Example Ltd' --devices 500 > license.txt",
  ];

  async run() {
    const { flags } = await this.parse(LicenseIssue);
    const now = this.io.now();
    const validFrom = flags["valid-from"] === undefined ? null : timeOf(flags["valid-from"], "--valid-from");
    const expires =
      flags["expires-at"] === undefined
        ? new Date(now.getTime() + durationMs(flags["expires-in"] ?? "365d", "--expires-in"))
        : timeOf(flags["expires-at"], "--expires-at");
    const end = flags["expires-at"] === undefined ? "--expires-in" : "--expires-at";
    if (Number.isNaN(expires.getTime()) || expires.getUTCFullYear() > 9999)
      throw usage(`${end}: the license must expire before the year 10000`);
    if (expires.getTime() < now.getTime() + 1000) throw usage(`${end}: the license would have expired already`);
    if (validFrom !== null && validFrom >= expires) throw usage("--valid-from must be before the license expires");
    const organization = flags.organization.trim();
    if (organization === "" || organization.length > 255) throw usage("--organization: must have 1 to 255 characters");
    if ((flags.note?.length ?? 0) > LONGEST_NOTE) throw usage(`--note: must have at most ${LONGEST_NOTE} characters`);

    const terms = { organization, devices: flags.devices, expires, validFrom, note: flags.note ?? null };
    const privateKey = await this.#privateKey(flags);
    const { LicenseError } = await import("../../license/license.ts");
    const { issueLicense } = await import("../../license/issue.ts");
    const issued = await issueLicense(terms, privateKey, now).catch((error: unknown) => {
      if (!(error instanceof LicenseError)) throw error;
      throw failed(`the ${error.of} ${error.message}`);
    });
    const { license, token, publicKey } = issued;
    const { expiration } = license;
    if (this.structured) {
      const valid_from = issued.validFrom;
      return this.printOne({ license_key: token, ...license, valid_from, public_key: publicKey });
    }
    this.note(`issued to ${organization} for ${plural(flags.devices, "host")}, until ${expiration}`);
    this.log(token);
  }

  async #privateKey(flags: Readonly<Record<string, unknown>>): Promise<string> {
    const file = flags["private-key-file"];
    if (typeof file === "string" && file !== "-" && (await isExposed(file)))
      this.warn(`other users of this machine can read ${file}: chmod 600 it`);
    const key = await readSecret(this.io, flags, "private-key", "SVC_LICENSE_PRIVATE_KEY");
    if (key === undefined)
      throw usage(
        "the private key is missing",
        "Give --private-key-file FILE, --private-key-stdin or SVC_LICENSE_PRIVATE_KEY. `svc license keygen` makes a key pair.",
      );
    return key;
  }
}

function timeOf(text: string, flag: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime()))
    throw usage(`${flag}: ${text} is not a time`, "Write times as 2027-01-31 or 2027-01-31T12:00:00Z.");
  return time;
}
