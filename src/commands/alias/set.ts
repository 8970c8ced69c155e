import { BaseCommand } from "../../cli/base-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, generalFlags } from "../../cli/flags.ts";
import { saveAlias } from "../../cli/run/aliases.ts";
import { wholeConfig } from "../../cli/run/config.ts";
import { shellWord } from "../../text/shell.ts";

const NAME = /^[a-z][a-z0-9-]{0,63}$/;

export default class AliasSet extends BaseCommand {
  static override summary = "Give a name to a command line, which then works as a command.";
  static override description =
    "Write -- before the command line if it has flags. Words that follow the alias are added to the end.";
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags };
  static override strict = false;
  static override args = {
    name: args.required("name of the alias"),
    command: args.required("the command line, without `svc`"),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> gone -- hosts list --status offline --sort seen_time:desc",
  ];

  async run() {
    const { argv } = await this.parse(AliasSet);
    const [name = "", ...words] = argv.map(String);
    if (!NAME.test(name))
      throw usage(
        `${name} cannot be the name of an alias`,
        "A name is a lower-case letter, and up to 63 more letters, digits and hyphens.",
      );
    const config = await wholeConfig(this.config);
    const isCommand = (word: string) => config.findCommand(word) !== undefined || config.findTopic(word) !== undefined;
    if (name === "help" || isCommand(name)) throw usage(`${name} is a command of svc`, "Choose another name.");
    if (!isCommand(words[0] ?? ""))
      throw usage(`${words[0]} is not a command of svc`, "`svc help` lists the commands; leave out `svc`.");
    await saveAlias(this.io.env, name, words);
    this.note(`svc ${name} is now svc ${words.map(shellWord).join(" ")}`);
  }
}
