import * as Flags from "@oclif/core/flags";
import { tokensApi } from "../../api/accounts/tokens.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { tokenView } from "../../cli/topics/tokens.ts";

const { "user-id": _, ...listFlags } = queryFlags(tokensApi.list);

export default class TokensList extends ClientCommand {
  static override summary = "List API tokens: your own, or another user's.";
  static override endpoints = [tokensApi.list];
  static override flags = {
    ...listFlags,
    user: Flags.string({ summary: "User, by id, email or name.", helpValue: "USER" }),
    ...limitFlags,
  };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { flags } = await this.parse(TokensList);
    const of = flags.user === undefined ? {} : { user_id: (await this.user(flags.user)).id };
    const rows = this.pages(tokensApi.list, { query: { ...queryOf(tokensApi.list, flags), ...of } }, "tokens");
    await this.printList(rows, tokenView(this.relativeTimes, this.io.now()));
  }
}
