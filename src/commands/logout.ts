import { sessionsApi } from "../api/accounts/sessions.ts";
import { dropContextToken } from "../cli/auth/contexts.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { clearCompletion } from "../cli/completion/cache.ts";
import { CliError } from "../cli/errors.ts";
import { dryRunFlag } from "../cli/flags.ts";
import { ApiCallError, Unreachable } from "../client/errors.ts";

export default class Logout extends ClientCommand {
  static override summary = "End the session on the server and delete its token.";
  static override endpoints = [sessionsApi.logout];
  static override flags = { ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { flags } = await this.parse(Logout);
    const { serverUrl, contextName, tokenSource } = await this.connection();
    if (flags["dry-run"]) this.trying(`sign out of ${serverUrl}`, { server_url: serverUrl });
    try {
      await this.call(sessionsApi.logout);
    } catch (error) {
      if (error instanceof Unreachable && contextName !== null && tokenSource === "context")
        throw new CliError(
          "unreachable",
          error.message,
          `The session has not ended, and its token is kept. \`svc context remove ${contextName}\` deletes the context and its token here.`,
        );
      // A session that the server does not know counts as ended.
      if (!(error instanceof ApiCallError && error.status === 401)) throw error;
    }
    if (contextName !== null && tokenSource === "context") await dropContextToken(this.io, contextName);
    await clearCompletion(this.io.env);
    await this.report(`signed out of ${serverUrl}`, { server_url: serverUrl, context: contextName });
  }
}
