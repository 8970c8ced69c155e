import * as Flags from "@oclif/core/flags";
import { sessionsApi } from "../../api/accounts/sessions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class SessionsDelete extends ClientCommand {
  static override summary = "End a session, or all sessions of a user.";
  static override destructive = true;
  static override endpoints = [sessionsApi.delete, sessionsApi.deleteOfUser];
  static override args = { id: args.optional("id of the session") };
  static override flags = {
    user: Flags.string({ summary: "All sessions of this user, by id, email or name.", helpValue: "USER" }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 2 --yes",
    "<%= config.bin %> <%= command.id %> --user observer@example.com --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(SessionsDelete);
    if ((args.id === undefined) === (flags.user === undefined)) {
      throw usage("no sessions are given", "Give the id of a session, or --user for all sessions of a user.");
    }
    if (flags.user !== undefined) return this.#ofUser(flags.user);
    const session = await this.call(sessionsApi.get, { params: { id: args.id ?? "" } });
    if (flags["dry-run"]) this.trying(`end session ${session.session_id}`, session);
    await this.confirm(`End session ${session.session_id} of user ${session.user_id}?`);
    await this.call(sessionsApi.delete, { params: { id: session.session_id } });
    await this.report(`ended session ${session.session_id}`, { ...session, deleted: true });
  }

  async #ofUser(text: string): Promise<void> {
    const { id, email } = await this.user(text);
    const { sessions } = await this.call(sessionsApi.listOfUser, { params: { id } });
    const what = `${plural(sessions.length, "session")} of ${email}`;
    if (this.common["dry-run"] === true) this.trying(`end ${what}`, sessions);
    await this.confirm(`End ${what}?`);
    await this.call(sessionsApi.deleteOfUser, { params: { id } });
    await this.report(`ended ${what}`, { user_id: id, deleted: sessions.length });
  }
}
