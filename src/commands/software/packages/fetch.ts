import * as Flags from "@oclif/core/flags";
import { packagesApi } from "../../../api/software/packages.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { saveBytes } from "../../../cli/files/whole-file.ts";
import { args, connectionFlags, generalFlags } from "../../../cli/flags.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwarePackagesFetch extends ClientCommand {
  static override summary = "Download a package once, with the token of `svc software packages link`.";
  static override endpoints = [packagesApi.downloadByToken];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override args = { title: args.required("id of the software title"), token: args.required("token") };
  static override flags = {
    out: Flags.string({
      char: "o",
      summary: "File to write; - is stdout. Default: title-ID.package, in the current folder.",
      helpValue: "FILE",
    }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 1XnS3bBxVbIpDqBkNnXK -o tool.sh"];

  async run() {
    const { args, flags } = await this.parse(SoftwarePackagesFetch);
    const client = await this.client();
    const params = { id: args.title, token: args.token };
    const { body } = await client.open(packagesApi.downloadByToken, { params, query: { alt: "media" } });
    const path = flags.out ?? `title-${args.title.replaceAll(/\D/g, "")}.package`;
    const size = await saveBytes(this.io, path, body);
    if (path !== "-") await this.report(`${plural(size, "byte")} in ${printable(path)}`, { file: path, size });
  }
}
