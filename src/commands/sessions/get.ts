import { Session, sessionsApi } from "../../api/accounts/sessions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";

export default class SessionsGet extends ClientCommand {
  static override summary = "Show a session.";
  static override endpoints = [sessionsApi.get];
  static override args = { id: args.required("id of the session") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args } = await this.parse(SessionsGet);
    const session = await this.call(sessionsApi.get, { params: { id: args.id } });
    await this.printOne(session, { schema: () => Session });
  }
}
