import * as Flags from "@oclif/core/flags";
import { sessionsApi } from "../../api/accounts/sessions.ts";
import { ssoApi } from "../../api/accounts/sso.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { denied } from "../../cli/errors.ts";
import { readText } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { ApiCallError } from "../../client/errors.ts";

export default class SsoCallback extends ClientCommand {
  static override summary =
    "Test whether the server accepts a response of the identity provider, by sending it as a browser would.";
  static override description =
    "The file contains the base64 text that the identity provider's page posts as SAMLResponse. Without a cookie, the server accepts it " +
    "only if the identity provider may start sign-ins (enable_sso_idp_login). The session that is created is ended immediately.";
  static override endpoints = [ssoApi.callback];
  static override flags = {
    "response-file": Flags.string({
      summary: "File with the response; - is stdin.",
      required: true,
      helpValue: "FILE",
    }),
    "cookie-file": Flags.string({
      summary: "File with the cookie of the sign-in that the response belongs to.",
      helpValue: "FILE",
    }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --response-file response.txt"];

  async run() {
    const { flags } = await this.parse(SsoCallback);
    const body = { SAMLResponse: (await readText(this.io, flags["response-file"], "--response-file")).trim() };
    if (flags["dry-run"]) {
      await this.tryOut(ssoApi.callback, { body });
      return this.printPlan("send a response of the identity provider", { characters: body.SAMLResponse.length });
    }
    const cookieFile = flags["cookie-file"];
    const cookie = cookieFile === undefined ? null : (await readText(this.io, cookieFile, "--cookie-file")).trim();
    const token = await this.#deliver(body, cookie);
    if (token !== null) await this.clientFor(await this.connection(), token).call(sessionsApi.logout);
    await this.report("the server accepts the response and would sign in", { accepted: true });
  }

  async #deliver(body: { SAMLResponse: string }, cookie: string | null): Promise<string | null> {
    const client = this.clientFor(await this.connection(), null);
    try {
      const { headers, body: page } = await client.open(
        ssoApi.callback,
        { body },
        cookie === null ? {} : { headers: { cookie } },
      );
      for await (const _ of page);
      return /svc_session=([\w-]+)/.exec(headers.get("set-cookie") ?? "")?.[1] ?? null;
    } catch (error) {
      if (!(error instanceof ApiCallError) || error.status !== 303) throw error;
      throw denied(
        "the server refuses the response",
        "The reason is in the server's log: look for `single sign-on refused`.",
      );
    }
  }
}
