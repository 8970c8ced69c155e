import * as Flags from "@oclif/core/flags";
import { type CommandResult, commandsApi, CommandResult as Result } from "../../../api/devices/commands.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, limitFlags } from "../../../cli/flags.ts";
import type { View } from "../../../cli/output/output.ts";
import { commandView } from "../../../cli/topics/mdm/command.ts";

export default class MdmCommandsResults extends ClientCommand {
  static override summary = "Show what hosts have answered to a command.";
  static override description =
    "The table shows the status of each host; the command and the answers are the fields payload and result, in base64. With --text the answer of each host is shown as text.";
  static override endpoints = [commandsApi.results];
  static override args = { command: args.required("uuid of the command") };
  static override flags = {
    host: Flags.string({ summary: "Only this host: hostname, uuid or serial number.", helpValue: "HOST" }),
    text: Flags.boolean({ summary: "The fields payload and result as text instead of base64." }),
    ...limitFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 9f1c2d3e-4f50-4162-8374-95a6b7c8d9e0",
    "<%= config.bin %> <%= command.id %> 9f1c2d3e-4f50-4162-8374-95a6b7c8d9e0 --host mac-1.example.com --text -o json",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmCommandsResults);
    const query = {
      command_uuid: args.command,
      ...(flags.host === undefined ? {} : { host_identifier: flags.host }),
    };
    const pages = this.pages(commandsApi.results, { query }, "results");
    const { columns } = commandView(this.relativeTimes, this.io.now());
    const view = { schema: () => Result, columns };
    const empty = "no host has answered yet";
    if (!flags.text) return this.printList(pages, view, empty);
    if (this.structured || this.common.fields !== undefined) return this.printList(asText(pages), view, empty);
    await this.#printAnswers(asText(pages), [...columns, { key: "result", header: "answer", block: true }], empty);
  }

  /** For people: each host's line, and below it the whole answer. */
  async #printAnswers(pages: AsyncIterable<CommandResult[]>, columns: View["columns"], empty: string) {
    let count = 0;
    for await (const rows of pages)
      for (const row of rows) {
        if (count++ > 0) this.log();
        await this.printOne(row, { columns });
      }
    if (count === 0) this.note(empty);
    this.noteLater();
  }
}

async function* asText(pages: AsyncIterable<readonly CommandResult[]>): AsyncGenerator<CommandResult[]> {
  const textOf = (base64: string) => Buffer.from(base64, "base64").toString();
  for await (const rows of pages)
    yield rows.map((row) => ({ ...row, payload: textOf(row.payload), result: textOf(row.result) }));
}
