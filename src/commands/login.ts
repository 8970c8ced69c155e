import * as Flags from "@oclif/core/flags";
import { sessionsApi } from "../api/accounts/sessions.ts";
import { ssoApi } from "../api/accounts/sso.ts";
import { usersApi } from "../api/accounts/users.ts";
import type { Connection } from "../cli/auth/connection.ts";
import { saveContext } from "../cli/auth/contexts.ts";
import { contextNameFor, linkToken } from "../cli/auth/sign-in.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { denied, usage } from "../cli/errors.ts";
import { readSecret, secretFlags } from "../cli/files/input.ts";
import { ApiCallError } from "../client/errors.ts";

export default class Login extends ClientCommand {
  static override summary = "Sign in to a server and save the sign-in as a context.";
  static override description =
    "Signs in with email and password (prompt, file, stdin, or SVC_PASSWORD), or with an API token from stdin or a file. --context names " +
    "the context to save; without it the current one is replaced, or a new one is named after the server. If the account " +
    "requires a mailed link, the command prompts for it; without a terminal, continue with `svc login --mfa-token-stdin`. " +
    "With --sso you sign in through the browser, with the identity provider or as the user who is signed in there.";
  static override endpoints = [sessionsApi.login, sessionsApi.create, ssoApi.cliToken];
  static override flags = {
    email: Flags.string({ summary: "Email address. Env: SVC_EMAIL." }),
    ...secretFlags("password", "the password"),
    "mfa-token-stdin": Flags.boolean({
      summary: "Read the mailed link, or its token, from stdin, and finish the sign-in that requested it.",
      exclusive: ["email", "password-stdin", "password-file", "token-stdin", "token-file", "mfa-token-file"],
    }),
    "mfa-token-file": Flags.string({
      summary: "Read the mailed link, or its token, from a file, and finish the sign-in that requested it.",
      helpValue: "FILE",
      exclusive: ["email", "password-stdin", "password-file", "token-stdin", "token-file"],
    }),
    "token-stdin": Flags.boolean({
      summary: "Read an API token from stdin, and sign in with it.",
      exclusive: ["email", "password-stdin", "password-file", "token-file"],
    }),
    "token-file": Flags.string({
      summary: "Read an API token from a file, and sign in with it.",
      helpValue: "FILE",
      exclusive: ["email", "password-stdin", "password-file"],
    }),
    sso: Flags.boolean({
      summary: "Sign in through the browser, with single sign-on if it is turned on.",
      exclusive: [
        "email",
        "password-stdin",
        "password-file",
        "token-stdin",
        "token-file",
        "mfa-token-stdin",
        "mfa-token-file",
      ],
    }),
    "no-browser": Flags.boolean({
      summary: "Only print the address to open. The browser must run on this computer.",
      dependsOn: ["sso"],
    }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --email admin@example.com --password-file password.txt",
    "<%= config.bin %> <%= command.id %> --server-url https://svc.example.com --token-stdin < token.txt",
    "<%= config.bin %> <%= command.id %> --mfa-token-stdin < link.txt",
    "<%= config.bin %> <%= command.id %> --sso",
  ];

  async run() {
    const { flags } = await this.parse(Login);
    const connection = await this.#loginConnection(flags.context);
    const { hostname, protocol } = new URL(connection.serverUrl);
    if (protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(hostname)) {
      this.warn(`${connection.serverUrl} is plain HTTP: anyone on the network path can read the credentials`);
    }
    const token = (await readSecret(this.io, flags, "token"))?.trim();
    if (token !== undefined) {
      this.tokenName = flags["token-stdin"] ? "--token-stdin" : "--token-file";
      const { user } = await this.clientFor(connection, token).call(usersApi.me);
      return this.#save(connection, flags.context, user.email, token);
    }
    if (flags.sso) {
      const { token, user } = await this.#signInByBrowser(connection, !flags["no-browser"]);
      return this.#save(connection, flags.context, user.email, token);
    }
    const link = await readSecret(this.io, flags, "mfa-token");
    if (link !== undefined) {
      const { token, user } = await this.#finish(connection, link);
      return this.#save(connection, flags.context, user.email, token);
    }
    const email =
      flags.email ?? this.io.env.SVC_EMAIL ?? (await this.askText("Email", "--email", connection.email ?? undefined));
    const password =
      (await readSecret(this.io, flags, "password", "SVC_PASSWORD")) ??
      (await this.askSecret("Password", "--password-stdin, --password-file or SVC_PASSWORD"));
    const { token: session, user } = await this.#signIn(connection, email, password);
    await this.#save(connection, flags.context, user.email, session);
    if (user.force_password_reset) {
      this.warn("you must choose a new password: `svc users password --required`");
    }
  }

  async #signInByBrowser(connection: Connection, opens: boolean) {
    const { codeFromBrowser, openBrowser } = await import("../cli/auth/sso-sign-in.ts");
    const client = this.clientFor(connection, null);
    const body = await codeFromBrowser({
      serverUrl: connection.serverUrl,
      note: (text) => this.note(text),
      browse: opens ? (this.io.browse ?? openBrowser) : null,
      signal: this.stop.signal,
      timeout: 5 * 60_000,
    });
    return client.call(ssoApi.cliToken, { body });
  }

  async #signIn(connection: Connection, email: string, password: string) {
    try {
      const body = { email, password, supports_email_verification: true };
      const reply = await this.clientFor(connection, null).call(sessionsApi.login, { body });
      if ("token" in reply) return reply;
    } catch (error) {
      if (!(error instanceof ApiCallError) || error.status !== 401) throw error;
      throw denied(
        `${connection.serverUrl} does not accept this email and password`,
        "Check both; an admin can reset the password.",
      );
    }
    const mailed = `a link to finish signing in was mailed to ${email}`;
    if (!this.interactive)
      throw denied(mailed, "It works for 15 minutes: give it to `svc login --mfa-token-stdin`, on one line.");
    this.note(`${mailed}; do not open it, but paste it here`);
    return this.#finish(connection, await this.askSecret("Link", "--mfa-token-stdin"));
  }

  /** The second step of a sign-in: the mailed link. */
  async #finish(connection: Connection, pasted: string) {
    const token = linkToken(pasted);
    if (token === "") throw usage("no link was given");
    try {
      return await this.clientFor(connection, null).call(sessionsApi.create, { body: { token } });
    } catch (error) {
      if (!(error instanceof ApiCallError) || error.status !== 401) throw error;
      throw denied(
        "this link is invalid or has expired",
        "Links work once, for 15 minutes. Sign in again for a new one.",
      );
    }
  }

  /** The inherited method, with a difference: a new context may be named together with its server. */
  async #loginConnection(context: string | undefined): Promise<Connection> {
    if (context !== undefined && typeof this.common["server-url"] === "string") this.common.context = undefined;
    return this.connection();
  }

  async #save(connection: Connection, flag: string | undefined, email: string, token: string): Promise<void> {
    const name = contextNameFor(connection, flag);
    const { serverUrl, ca, insecure } = connection;
    const { remark, tokenIn } = await saveContext(
      { name, serverUrl, token, email, ca, insecure, makeCurrent: true },
      this.io,
    );
    if (remark) this.warn(remark);
    await this.report(`signed in to ${serverUrl} as ${email} (context ${name})`, {
      context: name,
      server_url: serverUrl,
      email,
      token_in: tokenIn,
    });
  }
}
