import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../cli/base-command.ts";
import { usage } from "../cli/errors.ts";
import { args, generalFlags } from "../cli/flags.ts";
import { manPages, pageOf } from "../cli/help/man.ts";
import { wholeConfig } from "../cli/run/config.ts";
import { plural } from "../text/plural.ts";

export default class Man extends BaseCommand {
  static override summary = "Print the manual page of a command, or write all of them.";
  static override description = [
    "read one page:       svc man hosts list | man -l -",
    "install all pages:   svc man --out ~/.local/share/man/man1, then man svc-hosts-list",
  ].join("\n");
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags };
  static override strict = false;
  static override args = { command: args.optional("the command or topic; without it the page of svc itself") };
  static override flags = {
    out: Flags.string({ char: "o", summary: "Folder to write all pages to.", helpValue: "DIR" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> hosts"];

  async run() {
    const { argv, flags } = await this.parse(Man);
    const config = await wholeConfig(this.config);
    const pages = manPages(config);
    if (flags.out !== undefined) {
      if (argv.length > 0) throw usage("--out writes all pages", "Omit the command.");
      await mkdir(flags.out, { recursive: true });
      for (const [name, text] of pages) await writeFile(join(flags.out, `${name}.1`), text);
      return this.note(`${plural(pages.size, "page")} in ${flags.out}`);
    }
    const words = argv.map(String);
    const page = pages.get(pageOf(config, words) ?? "");
    if (page === undefined) throw usage(`there is no page for ${words.join(" ")}`, "`svc help` lists the commands.");
    await this.write(page);
  }
}
