import * as Flags from "@oclif/core/flags";
import { tokensApi } from "../../api/accounts/tokens.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { notFound } from "../../cli/errors.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";

export default class TokensDelete extends ClientCommand {
  static override summary = "Delete an API token. It becomes invalid immediately.";
  static override destructive = true;
  static override endpoints = [tokensApi.delete];
  static override args = { token: args.required("id or name of the token (never the token itself)") };
  static override flags = {
    user: Flags.string({ summary: "User of the token, by id, email or name.", helpValue: "USER" }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> nightly --yes"];

  async run() {
    const { args, flags } = await this.parse(TokensDelete);
    const query = flags.user === undefined ? {} : { user_id: (await this.user(flags.user)).id };
    const { tokens } = await this.call(tokensApi.list, { query });
    const token = tokens.find(({ name }) => name === args.token) ?? tokens.find(({ id }) => String(id) === args.token);
    // The given text may be the token itself, so it is not printed.
    if (!token) throw notFound("there is no token with this id or name", "`svc tokens list` shows ids and names.");
    const { id, name } = token;
    if (flags["dry-run"]) this.trying(`delete the API token ${name}`, { id, name });
    await this.confirm(`Delete the API token ${name}?`);
    await this.call(tokensApi.delete, { params: { id } });
    await this.report(`deleted the API token ${name}`, { id, name, deleted: true });
  }
}
