import * as Flags from "@oclif/core/flags";
import { type CommandResult, commandsApi, CommandResult as Result } from "../../../api/commands.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, limitFlags } from "../../../cli/flags.ts";
import { commandView } from "../../../cli/views/command.ts";

export default class MdmCommandsResults extends ClientCommand {
  static override summary = "Show what hosts have answered to a command.";
  static override description =
    "The table shows the status of each host; the command and the answers are the fields payload and result, in base64.";
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
    const { args: given, flags } = await this.parse(MdmCommandsResults);
    const query = {
      command_uuid: given.command,
      ...(flags.host === undefined ? {} : { host_identifier: flags.host }),
    };
    const pages = this.pages(commandsApi.results, { query }, "results");
    const { columns } = commandView(this.relativeTimes, this.io.now());
    const view = { schema: Result, columns };
    await this.printList(flags.text ? asText(pages) : pages, view, "no host has answered yet");
  }
}

async function* asText(pages: AsyncIterable<readonly CommandResult[]>): AsyncGenerator<CommandResult[]> {
  const textOf = (base64: string) => Buffer.from(base64, "base64").toString();
  for await (const rows of pages)
    yield rows.map((row) => ({ ...row, payload: textOf(row.payload), result: textOf(row.result) }));
}
