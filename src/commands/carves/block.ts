import { writeFile } from "node:fs/promises";
import * as Flags from "@oclif/core/flags";
import { carvesApi } from "../../api/checks/carves.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { cannotWrite } from "../../cli/files/file-errors.ts";
import { args, connectionFlags, generalFlags } from "../../cli/flags.ts";
import { sizeText } from "../../cli/output/size.ts";
import { printable } from "../../text/printable.ts";

export default class CarvesBlock extends ClientCommand {
  static override summary = "Fetch the bytes of one block of a carve, even if other blocks have not arrived yet.";
  static override endpoints = [carvesApi.block];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override args = {
    id: args.required("id of the carve"),
    block: args.required("number of the block; the first is 0"),
  };
  static override flags = {
    out: Flags.string({ char: "o", summary: "File to write; - is stdout.", helpValue: "FILE", default: "-" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 0 -o first.bin"];

  async run() {
    const { args, flags } = await this.parse(CarvesBlock);
    const { data } = await this.call(carvesApi.block, { params: { id: args.id, block_id: args.block } });
    const bytes = Buffer.from(data, "base64");
    if (flags.out === "-") return this.io.outBytes(bytes);
    await writeFile(flags.out, bytes).catch((error: unknown) => {
      throw cannotWrite(error, flags.out);
    });
    await this.report(`${sizeText(bytes.length)} in ${printable(flags.out)}`, { file: flags.out, size: bytes.length });
  }
}
