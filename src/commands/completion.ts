import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../cli/base-command.ts";
import { type Shell, scripts, shells } from "../cli/completion/scripts.ts";
import { usage } from "../cli/errors.ts";
import { generalFlags } from "../cli/flags.ts";

export default class Completion extends BaseCommand {
  static override summary = "Print the script that completes commands, flags and names in your shell.";
  static override description = [
    "bash: add to ~/.bashrc   source <(svc completion bash)",
    "zsh:  add to ~/.zshrc    source <(svc completion zsh)",
    "fish: svc completion fish > ~/.config/fish/completions/svc.fish",
  ].join("\n");
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags };
  static override strict = false;
  static override args = {
    shell: Args.string({ options: [...shells], description: "your shell; default: from $SHELL" }),
  };
  static override flags = {
    complete: Flags.boolean({ hidden: true, summary: "Print what may follow the words after --." }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> bash"];

  async run() {
    // The words to complete can contain anything, so they are not parsed as arguments.
    const at = this.argv.indexOf("--complete");
    if (at !== -1) {
      this.parsed = true;
      const { complete } = await import("../cli/completion/complete.ts");
      const words = this.argv.slice(at + 1);
      return complete(words[0] === "--" ? words.slice(1) : words, this.config.root, this.io);
    }
    const { args } = await this.parse(Completion);
    const shell = args.shell ?? this.io.env.SHELL?.split("/").at(-1);
    const supported = shells.find((candidate): candidate is Shell => candidate === shell);
    if (!supported) throw usage("no shell is given", `One of ${shells.join(", ")}.`);
    this.io.out(scripts[supported]);
  }
}
