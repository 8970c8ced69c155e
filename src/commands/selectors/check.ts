import * as Flags from "@oclif/core/flags";
import { selectorsApi } from "../../api/inventory/selectors.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { failed } from "../../cli/errors.ts";
import { args, dryRunFlag, teamFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class SelectorsCheck extends ClientCommand {
  static override summary = "Check a selector of hosts: count its hosts, or show what is wrong and where.";
  static override description =
    "With --cursor, what can stand at that place is listed: fields, operators, values, and the names of teams, labels, policies " +
    "and software that you may see. The place is a number of characters from the start.";
  static override endpoints = [selectorsApi.check];
  static override args = { selector: args.required('such as "platform = darwin and seen < 7d"') };
  static override flags = {
    cursor: Flags.integer({ min: 0, summary: "List what can stand after so many characters." }),
    ...teamFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'platform = darwin and seen < 7d'",
    "<%= config.bin %> <%= command.id %> 'label = ' --cursor 8",
  ];

  async run() {
    const { args, flags } = await this.parse(SelectorsCheck);
    const where = args.selector;
    const cursor = flags.cursor === undefined ? {} : { cursor: flags.cursor };
    const body = { where, ...cursor, ...(await this.teamFilter(flags.team)) };
    if (flags["dry-run"]) this.trying("check a selector, which changes nothing", body);
    const reply = await this.call(selectorsApi.check, { body });
    const { error, count, completions } = reply;
    if (this.structured || this.common.fields !== undefined)
      return this.printOne(reply, { schema: () => selectorsApi.check.response });
    if (flags.cursor !== undefined)
      return this.printList(completions, { columns: [{ key: "text", whole: true }, "kind", "description"] });
    if (error !== null) {
      const mark = "^".repeat(Math.max(1, error.length));
      throw failed(`column ${error.position + 1}: ${error.message}`, `${where}\n${" ".repeat(error.position)}${mark}`);
    }
    this.log(count === null ? "valid; counting its hosts takes too long" : plural(count, "host"));
  }
}
