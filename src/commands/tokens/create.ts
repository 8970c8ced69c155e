import * as Flags from "@oclif/core/flags";
import { type CreateToken, tokensApi } from "../../api/accounts/tokens.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag, listOf } from "../../cli/flags.ts";

export default class TokensCreate extends ClientCommand {
  static override summary = "Create an API token with a name and an expiry time.";
  static override description =
    "The token is printed once, on stdout. It has the rights of its user, limited by --endpoints: METHOD PATH as in the API's " +
    "description, where * stands for the rest of a path.";
  static override endpoints = [tokensApi.create];
  static override flags = {
    name: Flags.string({ summary: "Purpose of the token." }),
    "expires-in": Flags.string({
      summary: "How long the token is valid (90d), at most two years.",
      helpValue: "TIME",
      exclusive: ["expires-at"],
    }),
    "expires-at": Flags.string({ summary: "When the token expires.", helpValue: "ISO-TIME" }),
    endpoints: Flags.string({
      summary: "Limit the token to this endpoint; can be given several times.",
      multiple: true,
      helpValue: "'METHOD PATH'",
    }),
    user: Flags.string({
      summary: "Create the token for this API-only user, by id, email or name.",
      helpValue: "USER",
    }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name inventory --expires-in 30d --endpoints 'GET /hosts,GET /hosts/*'",
  ];

  async run() {
    const { flags } = await this.parse(TokensCreate);
    const body: Record<string, unknown> = { ...(await readBody(this.io, flags.input)) };
    if (flags.name !== undefined) body.name = flags.name;
    if (flags["expires-in"] !== undefined) body.expires_in = flags["expires-in"];
    if (flags["expires-at"] !== undefined) body.expires_at = flags["expires-at"];
    if (flags.endpoints !== undefined) body.endpoints = listOf(flags.endpoints);
    if (flags.user !== undefined) body.user_id = (await this.user(flags.user)).id;
    body.name ??= await this.askText("Name", "--name");
    const request = body as unknown as CreateToken;
    if (flags["dry-run"]) {
      this.trying(`create the API token ${request.name}`, null, changesOf({}, body));
    }
    const created = await this.call(tokensApi.create, { body: request });
    await this.report(
      `created the API token ${created.name} (${created.id}), which expires ${created.expires_at}`,
      created,
    );
    if (!this.structured) {
      this.note("the token, shown only now:");
      this.log(created.token);
    }
  }
}
