import * as Flags from "@oclif/core/flags";
import { ssoApi } from "../../api/accounts/sso.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { writeText } from "../../cli/files/write-text.ts";
import { connectionFlags, generalFlags } from "../../cli/flags.ts";

export default class SsoMetadata extends ClientCommand {
  static override summary = "Download the server's SAML metadata, for the identity provider.";
  static override endpoints = [ssoApi.metadata];
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    out: Flags.string({ char: "o", summary: "File to write; - is stdout.", default: "-", helpValue: "FILE" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> > svc-metadata.xml"];

  async run() {
    const { flags } = await this.parse(SsoMetadata);
    const { body } = await (await this.client()).open(ssoApi.metadata);
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    const text = Buffer.concat(parts).toString("utf8");
    if (await writeText(this.io, flags.out, text)) this.note(`wrote ${flags.out}`);
  }
}
