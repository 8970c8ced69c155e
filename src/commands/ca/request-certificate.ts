import * as Flags from "@oclif/core/flags";
import { caApi } from "../../api/certificates/ca.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readSecret, readText, secretFlags } from "../../cli/files/input.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { findAuthority } from "../../cli/topics/ca.ts";

export default class CaRequestCertificate extends ClientCommand {
  static override summary = "Request a certificate from an EST authority.";
  static override description =
    "Prints the authority's reply: a PKCS #7 message in PEM form, or only the certificate. With a token of the end user, the request must belong to " +
    "that user: its only email address must equal the token's user name and begin with its user principal name.";
  static override endpoints = [caApi.requestCertificate];
  static override args = { authority: args.required("name or id of a hosted_est_ca or custom_est_proxy") };
  static override flags = {
    csr: Flags.string({ summary: "File with the request, PEM; - is stdin.", helpValue: "FILE", required: true }),
    "idp-oauth-url": Flags.string({ summary: "URL to check the end user's token with (RFC 7662).", helpValue: "URL" }),
    "idp-client-id": Flags.string({ summary: "Client id for the check of the token." }),
    ...secretFlags("idp-token", "the end user's token"),
    "return-pem-certificate": Flags.boolean({ summary: "Print only the certificate." }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> EST --csr request.pem --return-pem-certificate"];

  async run() {
    const { args, flags } = await this.parse(CaRequestCertificate);
    const csr = await readText(this.io, flags.csr, "--csr");
    const token = await readSecret(this.io, flags, "idp-token");
    const { id, name } = await findAuthority(this, args.authority);
    const body = {
      csr,
      ...(flags["idp-oauth-url"] === undefined ? {} : { idp_oauth_url: flags["idp-oauth-url"] }),
      ...(flags["idp-client-id"] === undefined ? {} : { idp_client_id: flags["idp-client-id"] }),
      ...(token === undefined ? {} : { idp_token: token }),
      return_pem_certificate: flags["return-pem-certificate"],
    };
    if (flags["dry-run"]) {
      this.trying(`request a certificate of ${name}`, { id, name });
    }
    const reply = await this.call(caApi.requestCertificate, { params: { id }, body });
    if (this.structured) return this.printOne(reply);
    this.log(reply.certificate.trimEnd());
  }
}
