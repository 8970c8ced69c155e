// Commands that write what the server streams into one file, or to stdout.
import * as Flags from "@oclif/core/flags";
import { ClientCommand } from "./client-command.ts";
import { connectionFlags, generalFlags } from "./flags.ts";
import { plural, printable } from "./text.ts";
import { toWholeFile } from "./whole-file.ts";

export const outFlag = {
  out: Flags.string({
    char: "o",
    summary: "File to write; - is stdout, the default.",
    helpValue: "FILE",
    default: "-",
  }),
};

export abstract class ExportCommand extends ClientCommand {
  // -o is the file to write, and its format is given.
  static override baseFlags = { ...generalFlags, ...connectionFlags };

  readonly #decoder = new TextDecoder();

  protected async save(body: AsyncIterable<Uint8Array>, out: string): Promise<void> {
    if (out === "-") {
      for await (const bytes of body) await this.#write(bytes);
      return;
    }
    const size = await toWholeFile(out, body);
    this.note(`${plural(size, "byte")} in ${printable(out)}`);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (this.io.outBytes) await this.io.outBytes(bytes);
    else this.io.out(this.#decoder.decode(bytes, { stream: true }));
  }
}
