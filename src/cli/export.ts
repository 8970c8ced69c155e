// Commands that write a stream from the server to a file or to stdout.

import * as Flags from "@oclif/core/flags";
import { plural } from "../text/plural.ts";
import { printable } from "../text/printable.ts";
import type { ClientCommand } from "./client-command.ts";
import { toWholeFile } from "./files/whole-file.ts";

export const outFlag = {
  out: Flags.string({
    char: "o",
    summary: "File to write; - is stdout, the default.",
    helpValue: "FILE",
    default: "-",
  }),
};

export async function saveExport(command: ClientCommand, body: AsyncIterable<Uint8Array>, out: string): Promise<void> {
  if (out === "-") {
    for await (const bytes of body) await command.io.outTextBytes(bytes);
    return;
  }
  const size = await toWholeFile(out, body);
  command.note(`${plural(size, "byte")} in ${printable(out)}`);
}
