import * as Flags from "@oclif/core/flags";
import { appleTrustApi } from "../../../api/devices/apple-trust.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { writeText } from "../../../cli/files/write-text.ts";
import { connectionFlags, generalFlags } from "../../../cli/flags.ts";

export default class MdmAppleCsr extends ClientCommand {
  static override summary = "Create a request for a push certificate.";
  static override description =
    "If the server has the certificate of an MDM vendor, the file can be uploaded to https://identity.apple.com as it is. Otherwise it is a certificate " +
    "request, which an MDM vendor or a signing service has to sign first. Each request replaces the one before it: upload the certificate that was made from the newest one with " +
    "`svc mdm apple certificate`. To renew, choose Renew for the existing certificate in the portal: a new one would be for another topic, and all devices would have to enroll again.";
  static override endpoints = [appleTrustApi.request];
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    out: Flags.string({ char: "o", summary: "File to write; - is stdout.", default: "-", helpValue: "FILE" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --out push-request.csr"];

  async run() {
    const { flags } = await this.parse(MdmAppleCsr);
    const { csr } = await this.call(appleTrustApi.request);
    const decoded = Buffer.from(csr, "base64").toString("utf8");
    // Apple's portal takes a signed request in base64; a vendor takes a certificate request as PEM.
    const isPlain = decoded.startsWith("-----BEGIN");
    const text = isPlain ? decoded : `${csr}\n`;
    if (await writeText(this.io, flags.out, text))
      this.note(
        `wrote ${flags.out}: ${isPlain ? "let an MDM vendor sign it, then upload that to https://identity.apple.com" : "upload it to https://identity.apple.com"}`,
      );
  }
}
