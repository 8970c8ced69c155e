import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../cli/base-command.ts";
import { writeText } from "../cli/files/write-text.ts";
import { generalFlags } from "../cli/flags.ts";

export default class OpenApi extends BaseCommand {
  static override summary = "Print the OpenAPI 3.1 document of the API. No server is needed.";
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags };
  static override flags = {
    out: Flags.string({ char: "o", summary: "File to write; - is stdout.", default: "-", helpValue: "FILE" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --out openapi.json"];

  async run() {
    const { flags } = await this.parse(OpenApi);
    const { openApiDocument } = await import("../api/openapi.ts");
    const text = `${JSON.stringify(openApiDocument(this.config.version), null, 2)}\n`;
    if (await writeText(this.io, flags.out, text)) this.note(`wrote ${flags.out}`);
  }
}
