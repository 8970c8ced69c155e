import { translatable, translatorApi } from "../api/inventory/translator.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { usage } from "../cli/errors.ts";
import { args } from "../cli/flags.ts";

export default class Translate extends ClientCommand {
  static override summary = "Look up the ids of users, labels, teams and hosts by name.";
  static override description =
    `Each argument is TYPE:NAME; TYPE is one of ${translatable.join(", ")}. An unknown label has id 0.`;
  static override endpoints = [translatorApi.translate];
  static override strict = false;
  static override args = { names: args.required("e.g. host:mac-1.example.com or label:Loaners") };
  static override examples = ["<%= config.bin %> <%= command.id %> host:mac-1.example.com 'label:All Linux'"];

  async run() {
    const { argv } = await this.parse(Translate);
    const list = argv.map(String).map((word) => {
      const at = word.indexOf(":");
      if (at === -1) throw usage(`${word}: must be TYPE:NAME`, `Types: ${translatable.join(", ")}.`);
      return { type: word.slice(0, at), payload: { identifier: word.slice(at + 1) } };
    });
    const reply = await this.call(translatorApi.translate, { body: { list } });
    const rows = reply.list.map(({ type, payload }) => ({ type, ...payload }));
    await this.printList(rows, { columns: [{ key: "type" }, { key: "identifier" }, { key: "id" }] });
  }
}
